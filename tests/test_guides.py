"""The migration guides: up to date, true of every field, and every command in them runs."""

from __future__ import annotations

import re
import shlex
import shutil
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from bridge.cli.main import main
from bridge.conversion.guide import guides
from bridge.conversion.guide.tables import checks_table, fields_table
from bridge.conversion.guide.trace import Trace, document_of, leaves, trace
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import detect_format, get_format
from bridge.plugin.results.counterparts import Counterpart
from bridge_deepeval.dataset.fields import CONVERSATION, SINGLE
from bridge_inspect.dataset.rows import FIELDS as SAMPLE
from bridge_ragas.dataset.fields import FIELDS as ROW

FOLDER = ROOT / "docs" / "migrate"
SAMPLES = FOLDER / "samples"
SIDES = ("bridge", "deepeval", "inspect", "promptfoo", "ragas")
PAGES = [f"{source}-to-{target}.md" for source, target in permutations(SIDES, 2)]


def test_there_is_one_for_each_direction_and_it_is_up_to_date() -> None:
    made = {path.name: text for path, text in guides(FOLDER)}
    assert sorted(made) == sorted(PAGES)
    for name, text in made.items():
        assert (FOLDER / name).read_text("utf-8") == text, name
    assert sorted(path.name for path in FOLDER.glob("*.md")) == sorted([*PAGES, "README.md"])


def test_their_links_lead_somewhere() -> None:
    for page in FOLDER.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (FOLDER / target).exists(), f"{page.name}: {target}"
    for name in PAGES:
        assert f"({name})" in (FOLDER / "README.md").read_text("utf-8")


def commands(name: str) -> list[list[str]]:
    text = (FOLDER / name).read_text("utf-8")
    blocks = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("name", PAGES)
def test_every_command_runs_and_leaves_a_file_of_its_format(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "work"
    shutil.copytree(SAMPLES / name.partition("-to-")[0], work)
    monkeypatch.chdir(work)
    found = commands(name)
    assert len(found) > 1
    for program, *arguments in found:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert (program, ended.value.code) == ("bridge", 0), capsys.readouterr().err
        written, format_ = work / arguments[2], get_format(arguments[-1])
        bundle, _ = format_.read(written, ReadOptions())
        assert bundle.cases or bundle.outputs or bundle.scores


@pytest.mark.parametrize(
    ("files", "fields"),
    [
        (("deepeval/goldens.json",), set(SINGLE) - {"id"}),
        (("deepeval/visits.goldens.json",), set(CONVERSATION) - {"id"}),
        (("inspect/library.samples.jsonl",), set(SAMPLE)),
        (("ragas/library.ragas.jsonl", "ragas/visits.ragas.jsonl"), set(ROW) - {"id"}),
    ],
)
def test_the_samples_have_every_field(files: tuple[str, ...], fields: set[str]) -> None:
    rows = [row for file in files for row in document_of(SAMPLES / file)]
    assert fields <= {key for row in rows for key in row}


def follow(sample: str, target: str | None) -> dict[str, Trace]:
    path = SAMPLES / sample
    writer = get_format(target) if target else None
    return {each.source: each for each in trace(path, detect_format(path), writer)}


def test_a_field_is_followed_by_its_value() -> None:
    found = follow("deepeval/goldens.json", "ragas_dataset")
    assert found["[].expected_output"] == Trace(
        "[].expected_output", ("cases[].expected",), ("[].reference",), "native"
    )
    tags = found["[].tags"]
    assert (tags.neutral, tags.target, tags.fate) == (("cases[].tags",), (), "carried")
    assert "RAGAS has no column for it" in tags.reason
    assert found["[].comments"].neutral == ("extras",)


def test_milliseconds_are_followed_to_seconds() -> None:
    latency = follow("promptfoo/library.json", "deepeval")["results.results[].latencyMs"]
    assert latency.neutral == ("outputs[].latency_s",)
    assert latency.target == ("testCases[].completionTime",)


def test_what_is_lost_says_why() -> None:
    lost = follow("inspect/library.json", None)["samples[].store"]
    assert (lost.fate, lost.reason) == ("dropped", "the state of a solver")


def test_code_is_named_as_such() -> None:
    path = SAMPLES / "promptfoo" / "promptfooconfig.yaml"
    found = trace(path, detect_format(path), None)
    assert {each.source for each in found if each.fate == "executable"} == {
        "tests[].assert[]",
        "defaultTest.options.transform",
    }


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*/*")), ids=lambda path: path.name)
def test_every_value_of_a_sample_is_of_a_field_in_the_tables(sample: Path) -> None:
    reader = detect_format(sample)
    if not reader.info.framework:
        return
    fields = [each.source for each in trace(sample, reader, None)]
    for leaf in leaves(document_of(sample)):
        assert any(leaf.field.startswith(field) for field in fields), leaf


def test_leaves_are_texts_and_numbers() -> None:
    document: Any = {"a": [{"b": 1}, {"b": ""}, {"b": True}, {"b": None}], "c": "x"}
    assert [(leaf.field, leaf.value) for leaf in leaves(document)] == [("a[].b", 1), ("c", "x")]


def test_like_fields_share_a_row() -> None:
    traces = [
        Trace("[].a", (), (), "dropped", "old"),
        Trace("[].b", ("cases[].id",), ("name",), "native"),
        Trace("[].c", (), (), "dropped", "old"),
    ]
    assert fields_table(traces, "Theirs", "Others").splitlines()[2:] == [
        "| `a`, `c` | — | — | dropped: old |",
        "| `b` | `cases[].id` | `name` |  |",
    ]
    assert fields_table(traces[1:2], "Theirs", "").splitlines()[0] == "| Theirs | here | note |"


def test_a_check_is_joined_by_scorer_or_by_what_is_judged() -> None:
    ours = [
        Counterpart("Same", check="equals"),
        Counterpart("Asked", judged="faithfulness", note="a|b"),
    ]
    theirs = [
        Counterpart("Exact", check={"equals": {"strip": False}}),
        Counterpart("F", judged="faithfulness"),
    ]
    lines = checks_table(ours, theirs, ("One", "Two")).splitlines()
    assert lines[2] == "| `Same` | `equals` | `Exact` |  |"
    assert lines[3] == "| `Asked` | kept; judged: `faithfulness` | `F` | a\\|b |"
    back = checks_table([], ours, ("bridge", "One")).splitlines()
    assert back[2:] == ["| `equals` | `Same` |", "| `faithfulness` | `Asked` |"]
