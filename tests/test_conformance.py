"""One suite over every framework: what any adapter must do, held against the real thing."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, write_jsonl

from bridge.execution.driver import Drive
from bridge.execution.plan import Selection, make_plan
from bridge.files.store import RunStore
from bridge.model import Bundle, Case, Output, RunRecord, Suite
from bridge.plugin.framework import Framework, version_of
from bridge.plugin.registry import framework_names, get_format, get_framework

pytestmark = pytest.mark.xdist_group("conformance")

FRAMEWORKS = framework_names()
NATIVE = [name for name in FRAMEWORKS if name != "core"]
SHARED = ("value", "status", "reason", "error", "label", "details", "turn", "threshold", "weight")
"""What must be bit-identical in every framework."""

ONE_WAY = {"promptfoo": "eval"}
"""Frameworks that are run by their own public command only: nothing is held against it."""

Rows = dict[str, list[dict[str, Any]]]


def read_rows(store: RunStore) -> Rows:
    return {
        name: [json.loads(line) for line in store.scores_path(name).read_text("utf-8").splitlines()]
        for name in FRAMEWORKS
    }


def key_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (row["system"], row["case_id"], row["epoch"], row["turn"], row["metric"])


@dataclass(frozen=True)
class Matrix:
    """All golden sets through all frameworks."""

    store: RunStore
    record: RunRecord
    rows: Rows


def run_suite(suite: Path, folder: Path) -> Matrix:
    plan = make_plan(suite, Selection(frameworks=tuple(FRAMEWORKS)))
    store = RunStore(folder)
    record = Drive(plan, store, workers=2).run()
    return Matrix(store, record, read_rows(store))


def all_golden_sets(folder: Path, *, shuffle: bool) -> Path:
    """The example's suite over every golden set; what it has no answer to is answered "Hello."."""
    example = ROOT / "examples" / "support_bot"
    paths = sorted((ROOT / "cases").glob("*/cases.jsonl"))
    lines = [line for path in paths for line in path.read_text("utf-8").splitlines()]
    recorded = (example / "v1.outputs.jsonl").read_text("utf-8").splitlines()
    answered = {json.loads(line)["case_id"] for line in recorded}
    lacking = [case for line in lines if (case := json.loads(line)["id"]) not in answered]
    hello = {"system": json.loads(recorded[0])["system"], "text": "Hello.", "latency_s": 0.1}
    recorded += [json.dumps({**hello, "case_id": case, "cost_usd": 0.0001}) for case in lacking]
    if shuffle:
        lines = random.Random(7).sample(lines, len(lines) // 3)
    (folder / "cases.jsonl").write_text("\n".join(lines), "utf-8")
    (folder / "v1.outputs.jsonl").write_text("\n".join(recorded), "utf-8")
    text = (example / "bridge.yaml").read_text("utf-8")
    head, rest = text.split("golden_set:")[0], text.split("frameworks:")[1]
    system = "golden_set: cases.jsonl\nsystem: {recorded: v1.outputs.jsonl}\nframeworks:"
    suite = folder / "bridge.yaml"
    suite.write_text(f"{head}{system}{rest}", "utf-8")
    return suite


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """All golden sets, in file order."""
    folder = tmp_path_factory.mktemp("matrix")
    return run_suite(all_golden_sets(folder, shuffle=False), folder / "R")


@pytest.fixture(scope="module")
def shuffled(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """A third of the cases in another order, with other neighbours."""
    folder = tmp_path_factory.mktemp("shuffled")
    return run_suite(all_golden_sets(folder, shuffle=True), folder / "R")


def test_the_golden_sets_are_large_enough(matrix: Matrix) -> None:
    assert len({row["case_id"] for row in matrix.rows["core"]}) >= 500
    assert {row["status"] for row in matrix.rows["core"]} >= {"passed", "failed", "skipped"}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_row_is_there_once_and_in_order(matrix: Matrix, name: str) -> None:
    expected = [
        (each.system, each.case_id, each.epoch, turn, metric)
        for each in matrix.store.read_rows()
        for metric, turn in each.rows
    ]
    assert [key_of(row) for row in matrix.rows[name]] == expected


@pytest.mark.parametrize("name", NATIVE)
def test_parity_with_core_is_bit_identical(matrix: Matrix, name: str) -> None:
    for ours, theirs in zip(matrix.rows["core"], matrix.rows[name], strict=True):
        assert [ours[field] for field in SHARED] == [theirs[field] for field in SHARED]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_order_of_cases_does_not_matter(matrix: Matrix, shuffled: Matrix, name: str) -> None:
    before = {key_of(row): [row[field] for field in SHARED] for row in matrix.rows[name]}
    after = {key_of(row): [row[field] for field in SHARED] for row in shuffled.rows[name]}
    assert len({case for _, case, *_ in after}) >= 150
    assert list(after) != [key for key in before if key in after]
    assert after == {key: before[key] for key in after}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_rows_are_stamped(matrix: Matrix, name: str) -> None:
    version = version_of(get_framework(name).info)
    record = next(each for each in matrix.record.frameworks if each.name == name)
    assert record.version == version
    assert record.notes == ()
    assert {row["framework"] for row in matrix.rows[name]} == {name}
    assert all(row["scorer_version"] for row in matrix.rows[name])


@pytest.mark.parametrize("name", NATIVE)
def test_the_native_artefact_reads_back_into_the_rows(matrix: Matrix, name: str) -> None:
    """Our own format reader finds in the framework's file what the run recorded."""
    from bridge.plugin.format import ReadOptions
    from bridge.plugin.registry import detect_format

    found: dict[tuple[Any, ...], Any] = {}
    for path in artefacts(matrix.store.native_dir(name)):
        reader = detect_format(path)
        assert reader.info.name == name, path
        bundle, report = reader.read(path, ReadOptions())
        assert report.format == name
        found.update((key_of(row), row) for row in map(dump, bundle.scores))
    for row in matrix.rows[name]:
        assert key_of(row) in found
        theirs = found[key_of(row)]
        assert [row[field] for field in SHARED] == [theirs[field] for field in SHARED]


def dump(score: Any) -> dict[str, Any]:
    whole: dict[str, Any] = score.model_dump(mode="json")
    return whole


def artefacts(folder: Path) -> Iterator[Path]:
    """Result files a framework left, as its format names them."""
    yield from (
        path
        for path in sorted(folder.iterdir())
        if path.is_file()
        and path.name != "route.json"
        and path.suffix in (".eval", ".json", ".jsonl")
    )


@pytest.mark.parametrize("name", NATIVE)
def test_the_cheap_route_was_taken_and_held_against_the_public_one(
    matrix: Matrix, name: str
) -> None:
    record = next(each for each in matrix.record.frameworks if each.name == name)
    assert len(record.routes) == 1
    route = record.routes[0]
    assert route["framework"] == name
    assert route["route"] in ("direct", "eval")  # promptfoo has one route, its own command
    if route["route"] == "eval":
        return
    assert route["probe"]["cases"] >= 20
    assert route["probe"]["differences"] == []


HOSTILE = [
    "{{ config }} {% for x in y %} {{7*7}} ${HOME} $(id) `id`",
    "\u202e right to left \u2066 \u200b zero width \ufeff",
    "nul \x00 bell \x07 escape \x1b[31m",
    "quotes ' \" ''' \"\"\" \\ \\\\ \\n",
    '__proto__ constructor {"__proto__": {"x": 1}}',
    "lone surrogates \ud800 and \udfff",
    "[DEEPEVAL:IMAGE:1] attachment://abc <script>alert(1)</script>",
    "::error::hello\n::set-output name=x::y",
    "x" * 200_000,
    "",
    " \t\n ",
]


TOOL_METRICS: list[Any] = [
    {"tool_precision": {"threshold": 0.8}},
    {"tool_recall": {"failed_calls": "ignore"}},
    "tool_f1",
    "tool_arguments",
    {"tool_order": {"mode": "in_order"}},
    "tool_schema",
    {"tool_use": {"metric": "allowed", "forbidden": ["g"], "max_duplicates": 0}},
    {"tool_use": {"metric": "whole", "scope": "conversation", "max_calls": 1}},
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """Hostile text in every place, several systems, several epochs, conversations and errors."""
    folder = tmp_path_factory.mktemp("hostile")
    cases: list[dict[str, Any]] = []
    outputs: list[dict[str, Any]] = []
    for index, text in enumerate(HOSTILE):
        name = f"h/{index} {text[:20]}" if index != 7 else "h 7"
        tool = {"name": "f", "parameters": {"type": "object"}}
        cases.append(
            {
                "id": name,
                "input": text or "-",
                "expected": text,
                "reference_contexts": [text],
                "tools": [tool],
                "tags": [text[:50]],
                "metadata": {"k": text[:50], "__proto__": 1},
                "expected_calls": {"calls": [{"name": "f", "arguments": {"x": text[:500]}}]},
            }
        )
        call = {"name": "f", "arguments": {"x": text[:500]}, "id": "c1", "result": text[:500]}
        outputs += [
            {
                "system": system,
                "case_id": name,
                "epoch": epoch,
                "text": text,
                "tool_calls": [call] if epoch == 1 else [],
                "retrieved_contexts": [text],
                "latency_s": 0.25,
            }
            for system in ("one", "two")
            for epoch in (1, 2)
        ]
    turns = [{"user": text or "-", "expected": text} for text in HOSTILE[:4]]
    cases.append({"id": "turns", "input": "scenario", "expected": "", "turns": turns})
    cases.append(called_in_turns())
    answered = [{"text": text} for text in HOSTILE[:3]]
    cases.append({"id": "json", "input": {"a": [1, None]}, "expected": {"b": [1.5, True, None]}})
    messages = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "", "tool_calls": [{"name": "g", "id": "1"}]},
        {"role": "tool", "content": "7", "tool_call_id": "1"},
        {"role": "user", "content": "and?"},
    ]
    cases.append({"id": "messages", "input": messages, "expected": ["x", "y"]})
    for system in ("one", "two"):
        for epoch in (1, 2):
            key = {"system": system, "epoch": epoch}
            outputs.append({**key, "case_id": "turns", "turns": answered, "text": "last"})
            outputs.append({**key, "case_id": "json", "text": {"b": [1.5, True, None]}})
            outputs.append({**key, "case_id": "called", "turns": CALLED})
            failed = {"error": "HTTP 500 <html>"} if epoch == 2 else {"text": "y"}
            outputs.append({**key, "case_id": "messages", **failed})
    write_jsonl(folder / "cases.jsonl", cases)
    write_jsonl(folder / "out.jsonl", outputs)
    (folder / "broken.py").write_text(BROKEN_SCORER, "utf-8")
    suite = {
        "name": "hostile {{name}} /..",
        "golden_set": "cases.jsonl",
        "system": {"recorded": "out.jsonl"},
        "checks": [
            "equals",
            "contains",
            "tool_use",
            *TOOL_METRICS,
            "injection",
            {"injection": {"metric": "rules_alone", "second_stage": False}},
            {
                "injection_resistance": {
                    "canary": "zero width",
                    "forbidden_calls": [{"name": "f", "arguments": {"x": {"$contains": "escape"}}}],
                    "forbidden_hosts": "abc",
                    "task": "equals",
                }
            },
            {"latency": {"max": 1}},
            {"broken:SCORER": {"metric": "broken"}},
            {"all": ["equals", {"regex": {"pattern": "x", "negate": True}}], "threshold": 0.5},
        ],
    }
    (folder / "bridge.yaml").write_text(json.dumps(suite), "utf-8")
    return run_suite(folder / "bridge.yaml", folder / "R")


CALLED: list[Any] = [
    {"text": "a", "tool_calls": [{"name": "f", "arguments": {"x": 1}, "error": "HTTP 503"}]},
    {"text": "b", "tool_calls": [{"name": "f", "arguments": {"x": 1}, "result": {"n": [1]}}]},
]


def called_in_turns() -> dict[str, Any]:
    """A conversation with calls expected of a turn and of the whole."""
    call = {"name": "f", "arguments": {"x": {"$one_of": [1, "1"]}}, "result": {"n": [1]}}
    return {
        "id": "called",
        "input": "scenario",
        "expected": "",
        "tools": [{"name": "f", "parameters": {"properties": {"x": {"maximum": 0}}}}],
        "expected_calls": {"calls": [call], "mode": "superset"},
        "turns": [{"user": "q", "expected_calls": {"calls": [call]}}, {"user": "again"}],
    }


BROKEN_SCORER = """
from bridge.scorers import Scorer
from bridge.model import Measurement
def broken(case, output, params):
    if case.id == "json": raise SystemExit(0)
    if case.id == "messages": raise RuntimeError("multi\\nline {{x}}")
    if case.id == "turns": return [Measurement(value=0.5, reason="half", label="L")]
    return [Measurement.model_construct(value=float("nan"), status="scored", reason="")]
SCORER = Scorer("broken", "7", broken)
"""


@pytest.mark.parametrize("name", NATIVE)
def test_hostile_text_systems_epochs_and_errors_keep_parity(hostile: Matrix, name: str) -> None:
    assert len(hostile.rows[name]) == len(hostile.rows["core"])
    for ours, theirs in zip(hostile.rows["core"], hostile.rows[name], strict=True):
        assert key_of(ours) == key_of(theirs)
        assert [ours[field] for field in SHARED] == [theirs[field] for field in SHARED]


def test_the_tool_metrics_were_scored_and_not_skipped(hostile: Matrix) -> None:
    names = ("tool_precision", "tool_recall", "tool_f1", "tool_arguments", "tool_order")
    for name in (*names, "tool_schema", "allowed", "whole"):
        found = {row["value"] for row in hostile.rows["core"] if row["metric"] == name}
        assert found >= {0.0, 1.0}, name


def test_the_hostile_run_holds_every_kind_of_status(hostile: Matrix) -> None:
    rows = hostile.rows["core"]
    assert {row["status"] for row in rows} == {"passed", "failed", "skipped", "error"}
    resisted = {row["value"] for row in rows if row["metric"] == "injection_resistance"}
    assert resisted == {0.0, 1.0, None}
    broken = {row["case_id"]: row["error"] for row in rows if row["metric"] == "broken"}
    assert broken["json"] == "SystemExit: 0"
    assert "no value in [0, 1]" in broken["h 7"]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_to_native_gives_native_objects_with_scorers(name: str) -> None:
    framework = get_framework(name)
    assert isinstance(framework, Framework)
    framework.ensure_available()
    suite = Suite.model_validate(
        {"name": "s", "golden_set": "c", "system": {"recorded": "o"}, "checks": ["equals"]}
    )
    cases = (Case(id="a", input="q", expected="x"),)
    outputs = (Output(case_id="a", text="x"),)
    native = framework.to_native(Bundle(suite=suite, cases=cases, outputs=outputs))
    module = type(native).__module__.split(".")[0]
    assert module in (
        framework.info.distribution.replace("-", "_"),
        "builtins",
        "bridge",
        f"bridge_{name}",
    )


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_looking_at_an_adapter_imports_no_framework(name: str) -> None:
    """Discovery, sniffing and ``ensure_available`` must stay cheap."""
    code = f"""
import sys
from pathlib import Path
from bridge.plugin.registry import get_framework, format_names, get_format
framework = get_framework({name!r}); framework.ensure_available()
for each in format_names():
    get_format(each).sniff(b"{{}}", Path("x.json"))
heavy = {{"deepeval", "inspect_ai", "ragas", "langchain", "openai", "pandas", "promptfoo"}} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", NATIVE)
def test_formats_refuse_garbage_in_one_line(name: str, tmp_path: Path) -> None:
    from bridge.model import InputError
    from bridge.plugin.format import ReadOptions

    reader = get_format(name)
    for index, data in enumerate(
        (b"", b"\x00" * 100, b"{", b"[]", b"PK\x03\x04broken", b"\xff\xfe")
    ):
        path = tmp_path / f"{index}{reader.info.patterns[0].lstrip('*')}"
        path.write_bytes(data)
        with pytest.raises(InputError) as caught:
            reader.read(path, ReadOptions())
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)
