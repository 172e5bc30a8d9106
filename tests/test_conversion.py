"""``bridge convert``: every way over the bundle, nothing half written, nothing lost unsaid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge, write_jsonl, write_suite

from bridge import convert
from bridge.conversion import target_format
from bridge.files.golden import read_golden_set
from bridge.files.outputs import read_outputs
from bridge.files.suite import read_suite
from bridge.model import Bundle, Case, Conversion, InfrastructureError, InputError, Output, Score
from bridge.plugin.format import Format, FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats import GOLDEN_SET
from bridge.plugin.registry import get_format

CASES: list[dict[str, Any]] = [
    {"id": "a", "input": "q", "expected": "x", "checks": ["equals"]},
    {"id": "b", "input": "q", "expected": "", "metadata": {"k": [1, 2]}},
]


def test_a_suite_becomes_a_golden_set_and_what_that_cannot_hold_is_said(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    done = convert(suite, tmp_path / "out.jsonl", writer=GOLDEN_SET)
    assert len(read_golden_set(tmp_path / "out.jsonl").cases) == 4
    assert (done.cases, done.outputs, done.scores) == (4, 4, 0)
    assert set(done.read.counts) == {"native"}
    lost = {line.field for line in done.written.lines if line.fate == "dropped"}
    assert {"suite.checks", "suite.name", "outputs[].text"} <= lost
    assert done.dropped == done.written.counts["dropped"] > 0
    assert done.written.source == str(tmp_path / "out.jsonl")


def test_a_folder_takes_every_file_of_the_format(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    done = convert(suite, tmp_path / "new" / "place", writer=get_format("suite"))
    assert sorted(each.name for each in (tmp_path / "new" / "place").iterdir()) == [
        "bridge.cases.jsonl",
        "bridge.outputs.jsonl",
        "bridge.yaml",
    ]
    again = read_suite(tmp_path / "new" / "place" / "bridge.yaml")
    assert again.system.recorded == ("bridge.outputs.jsonl",)
    assert len(read_outputs(tmp_path / "new" / "place" / "bridge.outputs.jsonl")) == 4
    assert done.dropped == 0


BUNDLE = Bundle(
    cases=(Case(id="a", input="q", expected=""),),
    outputs=(Output(case_id="a"),),
    scores=(Score(framework="core", metric="m", case_id="a", status="scored", value=1),),
)


@pytest.mark.parametrize(
    ("name", "parts", "expected"),
    [
        ("cases.jsonl", BUNDLE, "golden_set"),
        ("v1.outputs.jsonl", BUNDLE, "outputs"),
        ("scores/core.jsonl", BUNDLE, "scores"),
        ("core.scores.jsonl", BUNDLE, "scores"),
    ],
)
def test_the_target_is_told_by_its_name(name: str, parts: Bundle, expected: str) -> None:
    assert target_format(Path(name), parts).info.name == expected


def test_a_format_that_holds_nothing_of_it_is_no_target() -> None:
    only = Bundle(scores=BUNDLE.scores)
    with pytest.raises(InputError, match="no format is known by this name; name one with --to"):
        target_format(Path("cases.jsonl"), only)
    with pytest.raises(InputError, match="name one with --to"):
        target_format(Path("x.unheard"), BUNDLE)


class Copy:
    """A format that writes two files and may fail between them."""

    info = FormatInfo("copy", "a copy", ("copy.txt",), frozenset(), frozenset({"cases"}))

    def __init__(self, error: Exception | None = None, name: str = "beside.txt") -> None:
        self.error = error
        self.name = name

    def sniff(self, head: bytes, path: Path) -> float:
        return 0.0

    def read(self, source: Path, options: ReadOptions) -> Any:
        raise NotImplementedError

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> Any:
        dest.write_text("first")
        if self.error:
            raise self.error
        dest.with_name(self.name).write_text("second")
        return GOLDEN_SET.write(bundle, dest, WriteOptions())


def test_all_files_are_there_or_none(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    source = write_jsonl(tmp_path / "in" / "cases.jsonl", CASES)
    out = tmp_path / "out"
    writer: Format = Copy(InputError("broken"))
    with pytest.raises(InputError, match="broken"):
        convert(source, out, writer=writer)
    assert list(out.iterdir()) == []
    convert(source, out, writer=Copy())
    assert sorted(each.name for each in out.iterdir()) == ["beside.txt", "copy.txt"]
    with pytest.raises(InfrastructureError, match="cannot be written"):
        convert(source, out, writer=Copy(OSError(28, "No space left on device")))


def test_an_error_names_the_file_that_was_to_be(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "cases.jsonl", CASES)
    dest = tmp_path / "results.json"
    with pytest.raises(InputError) as caught:
        convert(source, dest, writer=get_format("promptfoo"))
    assert str(caught.value).startswith(f"{dest}: ")


@pytest.mark.parametrize("target", ["cases.jsonl", "./cases.jsonl", "link.jsonl"])
def test_the_source_is_never_overwritten(tmp_path: Path, target: str) -> None:
    source = write_jsonl(tmp_path / "cases.jsonl", CASES)
    (tmp_path / "link.jsonl").symlink_to(source)
    before = source.read_bytes()
    with pytest.raises(InputError, match="is what is read; write into another folder"):
        convert(source, tmp_path / target, writer=GOLDEN_SET)
    assert source.read_bytes() == before
    with pytest.raises(InputError, match="is what is read"):
        convert(source, tmp_path / "other.txt", writer=Copy(name="cases.jsonl"))
    assert source.read_bytes() == before
    assert not (tmp_path / "other.txt").exists()


def test_nothing_that_the_target_holds(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "cases.jsonl", CASES)
    with pytest.raises(InputError, match="scores holds scores; in the source there is cases"):
        convert(source, tmp_path / "x.jsonl", writer=get_format("scores"))
    with pytest.raises(InputError, match=r"nothing \(it is only read\)"):
        convert(source, tmp_path / "x", writer=get_format("run"))


def test_on_the_command_line(tmp_path: Path, bridge: Bridge) -> None:
    source = write_jsonl(tmp_path / "in.jsonl", CASES)
    done = bridge("convert", source, "out/cases.jsonl", "--report", "report.json", "--strict")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{source} (golden_set) -> out/cases.jsonl (golden_set)",
        "2 cases, 0 outputs, 0 scores",
        "",
        "read: 9 values: 9 native",
        "",
        "written: 9 values: 9 native",
    ]
    report = Conversion.model_validate_json((tmp_path / "report.json").read_bytes())
    assert report.read.total == 9
    done = bridge("convert", source, "again.jsonl", "--json")
    assert json.loads(done.stdout)["cases"] == 2


def test_strict_exits_1_on_what_was_dropped_and_shows_it(tmp_path: Path, bridge: Bridge) -> None:
    suite = write_suite(tmp_path, {})
    arguments = ("convert", suite, "o.outputs.jsonl")
    done = bridge(*arguments)
    assert done.returncode == 0
    assert "dropped  1      suite.name" in done.stdout
    assert "an outputs file holds no suite" in done.stdout
    assert bridge(*arguments, "--strict").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope.jsonl", "x.jsonl"], "nope.jsonl: cannot be read"),
        (["in.jsonl", "x.jsonl", "--from", "no"], "no format 'no'"),
        (["in.jsonl", "x.jsonl", "--to", "no"], "no format 'no'"),
        (["in.jsonl", "x.jsonl", "--read-option", "k=1"], "takes no option k"),
        (["in.jsonl", "x.jsonl", "--write-option", "k"], "write KEY=VALUE"),
        (["in.jsonl", "x.jsonl", "--read-option", "k={"], "not YAML"),
        (["in.jsonl", "in.jsonl"], "is what is read"),
        (["in.jsonl", "x.what"], "no format is known by this name"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, bridge: Bridge, arguments: list[str], said: str
) -> None:
    write_jsonl(tmp_path / "in.jsonl", CASES)
    done = bridge("convert", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
