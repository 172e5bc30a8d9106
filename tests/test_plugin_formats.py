"""Our own formats: written and read back, told apart, and accounted for to the last field."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import given, settings
from strategies_suite import BUNDLES

from bridge.files.baseline import write_baseline
from bridge.files.digest import case_digest
from bridge.files.golden import read_golden_set, write_cases
from bridge.files.outputs import write_outputs
from bridge.files.scores import write_scores
from bridge.files.shape import leading_keys
from bridge.files.store import RunStore
from bridge.files.suite import write_suite
from bridge.model import (
    Bundle,
    Case,
    GoldenSetRef,
    InputError,
    Output,
    RunRecord,
    Score,
    Suite,
    SystemConfig,
    Verdict,
)
from bridge.model.baseline import Baseline
from bridge.model.run import ExpectedRows
from bridge.plugin.format import Format, ReadOptions, WriteOptions
from bridge.plugin.formats import BASELINE, GOLDEN_SET, OUTPUTS, RUN, SCORES, SUITE
from bridge.plugin.registry import detect_format, get_format
from bridge.testing.accounted import assert_accounted

FORMATS: dict[str, Format] = {
    "golden_set": GOLDEN_SET,
    "outputs": OUTPUTS,
    "scores": SCORES,
    "suite": SUITE,
    "run": RUN,
    "baseline": BASELINE,
}

CASE = Case(id="a", input="x", expected="y")
OUTPUT = Output(case_id="a", text="y")
SCORE = Score(framework="core", metric="equals", case_id="a", status="passed", value=1.0)
SUITE_VALUE = Suite.model_validate(
    {
        "name": "s",
        "golden_set": "cases.jsonl",
        "system": {"recorded": "o.jsonl"},
        "checks": ["equals"],
    }
)


def read(format_: Format, path: Path) -> Bundle:
    bundle, report = format_.read(path, ReadOptions())
    assert set(report.counts) <= {"native"}
    assert report.format == format_.info.name
    return bundle


def test_they_are_found_by_name() -> None:
    for name, format_ in FORMATS.items():
        assert format_.info.name == name
        assert get_format(name) is format_
        assert isinstance(format_, Format)


@pytest.mark.parametrize("format_", [GOLDEN_SET, OUTPUTS, SCORES], ids=lambda f: f.info.name)
@settings(max_examples=15)
@given(bundle=BUNDLES)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, format_: Format, bundle: Bundle
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.jsonl"
    (part,) = format_.info.writes
    report = format_.write(bundle, path, WriteOptions())
    if getattr(bundle, part):
        assert getattr(read(format_, path), part) == getattr(bundle, part)
    parts = {line.field.split("[")[0].split(".")[0]: line.fate for line in report.lines}
    for name in ("cases", "outputs", "scores", "suite"):
        if getattr(bundle, name):
            assert parts[name] == ("native" if name == part else "dropped")
    assert all(line.reason for line in report.lines if line.fate == "dropped")


@settings(max_examples=15)
@given(bundle=BUNDLES.filter(lambda bundle: bundle.suite is not None))
def test_a_suite_is_written_with_its_cases(
    tmp_path_factory: pytest.TempPathFactory, bundle: Bundle
) -> None:
    path = tmp_path_factory.getbasetemp() / "bridge.yaml"
    SUITE.write(bundle, path, WriteOptions())
    again = read(SUITE, path)
    assert (again.cases, again.outputs) == (bundle.cases, bundle.outputs)
    assert bundle.suite is not None
    beside: dict[str, Any] = {"golden_set": (GoldenSetRef(path="bridge.cases.jsonl"),)}
    if bundle.outputs:
        name = bundle.suite.system.name
        beside["system"] = SystemConfig(recorded=("bridge.outputs.jsonl",), name=name)
    assert again.suite == bundle.suite.model_copy(update=beside)
    assert get_format("suite") is detect_format(path)


def test_a_suite_without_cases_keeps_its_golden_sets(tmp_path: Path) -> None:
    write_cases([CASE], tmp_path / "cases.jsonl")
    SUITE.write(Bundle(suite=SUITE_VALUE), tmp_path / "bridge.yaml", WriteOptions())
    assert (tmp_path / "bridge.yaml").read_text() == (
        "version: 1\nname: s\ngolden_set: cases.jsonl\nsystem:\n  recorded: o.jsonl\n"
        "checks:\n- equals\n"
    )
    bundle = read(SUITE, tmp_path / "bridge.yaml")
    assert bundle == Bundle(suite=SUITE_VALUE, cases=(CASE,))
    with pytest.raises(InputError, match="holds no suite"):
        SUITE.write(Bundle(cases=(CASE,)), tmp_path / "other.yaml", WriteOptions())


def test_every_leaf_of_the_source_is_counted(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "input": "x", "expected": "", "checks": ["equals", {"contains": "y"}]},
        {"id": "b", "input": "x", "expected": "", "metadata": {}, "tags": [], "checks": []},
        {"id": "c", "input": "x", "expected": "", "turns": [{"user": "u", "checks": ["regex"]}]},
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    bundle, report = GOLDEN_SET.read(path, ReadOptions())
    assert {line.field: line.count for line in report.lines} == {
        "cases[].id": 3,
        "cases[].input": 3,
        "cases[].expected": 3,
        "cases[].checks": 3,
        "cases[].metadata": 1,
        "cases[].tags": 1,
        "cases[].turns": 2,
    }
    assert_accounted({"cases": rows}, bundle, report)


def test_replaced_surrogates_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(r'{"id": "a", "input": "\ud800", "expected": ""}')
    _, report = GOLDEN_SET.read(path, ReadOptions())
    assert report.notes == ("1 lone surrogates of the golden set were read as U+FFFD",)


def make_run(folder: Path, **update: Any) -> RunStore:
    write_cases([CASE, CASE.model_copy(update={"id": "b"})], folder / "cases.jsonl")
    write_suite(SUITE_VALUE, folder / "bridge.yaml")
    store = RunStore(folder / "run")
    record = RunRecord(
        suite=SUITE_VALUE,
        suite_path=str(folder / "bridge.yaml"),
        created="2026-01-01T00:00:00+00:00",
        bridge_version="0",
        python_version="3.11",
        status="complete",
    )
    store.write_record(record.model_copy(update=update))
    cases = read_golden_set(folder / "cases.jsonl").cases
    store.write_rows(
        ExpectedRows(case_id=each.id, system="default", digest=case_digest(each), rows=())
        for each in cases
    )
    write_outputs([OUTPUT], store.outputs_path)
    write_scores([SCORE], store.scores_path("core"))
    return store


def test_a_run_is_read_whole(tmp_path: Path) -> None:
    store = make_run(tmp_path, notes=("noted",))
    for path in (store.root, store.record_path):
        assert detect_format(path) is RUN
        bundle, report = RUN.read(path, ReadOptions())
        assert bundle.suite == SUITE_VALUE
        assert [case.id for case in bundle.cases] == ["a", "b"]
        assert (bundle.outputs, bundle.scores) == ((OUTPUT,), (SCORE,))
        assert report.notes == ("noted",)


def test_cases_that_changed_since_the_run_are_left_out(tmp_path: Path) -> None:
    store = make_run(tmp_path, status="interrupted")
    write_cases([CASE], tmp_path / "cases.jsonl")
    bundle, report = RUN.read(store.root, ReadOptions())
    assert bundle.cases == (CASE,)
    assert report.notes == ("the run is interrupted", "1 of 2 cases were changed since the run")
    (tmp_path / "cases.jsonl").unlink()
    bundle, report = RUN.read(store.root, ReadOptions())
    assert bundle.cases == ()
    assert "the cases could not be read again" in report.notes[1]


def test_a_run_that_has_only_begun(tmp_path: Path) -> None:
    store = make_run(tmp_path)
    store.outputs_path.unlink()
    store.scores_path("core").unlink()
    bundle, _ = RUN.read(store.root, ReadOptions())
    assert (bundle.outputs, bundle.scores) == ((), ())


def test_what_cannot_be_written_or_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="made by running"):
        RUN.write(Bundle(), tmp_path / "run", WriteOptions())
    with pytest.raises(InputError, match="bridge baseline RUN"):
        BASELINE.write(Bundle(), tmp_path / "b.json", WriteOptions())
    path = tmp_path / "baseline.json"
    write_baseline(Baseline(scores={"equals": {"a": 1.0}}), path)
    with pytest.raises(InputError, match="--baseline"):
        BASELINE.read(path, ReadOptions())
    path.write_text('{"scores": {"equals": 2}}')
    with pytest.raises(InputError, match="should be less than or equal to 1"):
        BASELINE.read(path, ReadOptions())


@pytest.mark.parametrize("format_", [GOLDEN_SET, OUTPUTS, SCORES, SUITE, RUN])
def test_options_are_refused(format_: Format, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="takes no option"):
        format_.read(tmp_path / "x", ReadOptions(options={"scale": [0, 1]}))


def _write(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


CASE_LINE = CASE.model_dump_json()
QUOTED = "golden_set: cases.jsonl\nsystem: {recorded: o.jsonl}\n"
FILES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "cases.jsonl": ("golden_set", lambda path: write_cases([CASE], path)),
    "one case.json": ("golden_set", _write(CASE_LINE)),
    "no expected.jsonl": ("golden_set", _write('\n {"input": "x", "id": 1}\n')),
    "a broken case.jsonl": ("golden_set", _write('{"id": "a", "input": "x", "expected" ""}')),
    "a long case.jsonl": ("golden_set", _write(json.dumps({"id": "a", "input": "x" * 200_000}))),
    "v1.outputs.jsonl": ("outputs", lambda path: write_outputs([OUTPUT], path)),
    "minimal.jsonl": ("outputs", _write('{"case_id": "a", "text": "y"}')),
    "core.jsonl": ("scores", lambda path: write_scores([SCORE], path)),
    "short.jsonl": (
        "scores",
        _write('{"framework": "f", "metric": "m", "case_id": "a", "status": "error"}'),
    ),
    "bridge.yaml": ("suite", lambda path: write_suite(SUITE_VALUE, path)),
    "with comments.yaml": (
        "suite",
        _write("# c\nname: s\ngolden_set :\n- a\nsystem: {python: 'm:f'}\n"),
    ),
    "begun.yaml": ("suite", _write(f"\ufeff# c\n\n%YAML 1.2\n--- # d\n'name': s\n{QUOTED}")),
    "broken.yaml": ("suite", _write(f"name: [s\n{QUOTED}")),
    "suite.json": ("suite", _write(SUITE_VALUE.model_dump_json(indent=1))),
    "baseline.json": (
        "baseline",
        lambda path: write_baseline(Baseline(scores={"m": {"a": 1.0}}), path),
    ),
    "large baseline.json": (
        "baseline",
        lambda path: write_baseline(
            Baseline(
                cases={f"case {index}": f"sha256:{index:064x}" for index in range(2000)},
                scores={"m": 1.0},
            ),
            path,
        ),
    ),
    "means.json": ("baseline", _write('{"scores": {"equals": 0.8}}')),
}


@pytest.mark.parametrize("name", FILES)
def test_our_files_are_told_apart(tmp_path: Path, name: str) -> None:
    expected, write = FILES[name]
    write(tmp_path / name)
    assert detect_format(tmp_path / name).info.name == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        "text",
        "a,b\n1,2\n",
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"id": "a"}',
        '{"question": "q", "answer": "a"}',
        '{"user_input": "q", "response": "a", "retrieved_contexts": []}',
        '[{"id": "a", "input": "x", "expected": "y"}]',
        '{"name": "x", "version": "1.0.0", "scripts": {}}',
        "prompts: [a]\nproviders: [b]\ntests: []\n",
        f"# A page\nSay: it\n\n```yaml\n{QUOTED}```\n",
        f"---\ntitle: a page\n---\n~~~\n{QUOTED}~~~\n",
        f"Dear all, here it is:\n\n{QUOTED}",
        f"<pre>\n{QUOTED}</pre>",
        "name: ci\non: [push]\njobs: {}\n",
        "\x00" * 100,
        '{"scores" 1}',
        Verdict(passed=True, verdict="passed").model_dump_json(),
        ExpectedRows(case_id="a", system="s", digest="d", rows=()).model_dump_json(),
    ],
)
def test_other_files_are_none_of_ours(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    head = path.read_bytes()[: 64 * 1024]
    assert [f.info.name for f in FORMATS.values() if f.sniff(head, path) > 0] == []


def test_every_committed_file_of_ours_is_known() -> None:
    for path in ROOT.glob("cases/*/cases.jsonl"):
        assert detect_format(path) is GOLDEN_SET
    for path in ROOT.glob("examples/*/*.outputs.jsonl"):
        assert detect_format(path) is OUTPUTS
    for path in ROOT.glob("examples/*/*.yaml"):
        assert detect_format(path) is SUITE


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"", []),
        (b"{}", []),
        (b"{ }", []),
        (b'["a"]', []),
        (b'\xef\xbb\xbf { "a" : 1 ,\n"b":{"c":[2]}}', ["a", "b"]),
        (b'{"a": 1, "b": "cut o', ["a", "b"]),
        (b'{"a": 1, "b', ["a"]),
        (b'{"a": 1 "b": 2}', ["a", "b"]),
        (b'{"a": x}', ["a"]),
        (b"{1: 2}", []),
        (b'{"a": "\xc3', ["a"]),
    ],
)
def test_leading_keys(data: bytes, keys: list[str]) -> None:
    assert leading_keys(data) == keys
