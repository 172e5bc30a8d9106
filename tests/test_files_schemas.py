"""The committed JSON Schemas are those of the code, and say what the code accepts."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import strategies
import strategies_suite
from conftest import ROOT, Bridge, write_suite
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from bridge.files.schemas import SCHEMAS, json_schema, schema_text
from bridge.files.yaml import load_yaml
from bridge.model import Verdict
from bridge.model.values import Model

FOLDER = ROOT / "docs" / "schemas"


@cache
def validator(name: str) -> Any:
    return jsonschema_rs.validator_for(json_schema(name))


def faults(name: str, value: Any) -> list[str]:
    return [f"{fault.instance_path}: {fault}" for fault in validator(name).iter_errors(value)]


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_committed_schema_is_that_of_the_code(name: str) -> None:
    committed = (FOLDER / f"{name}.schema.json").read_text("utf-8")
    assert committed == schema_text(name), "run: python -m bridge.files.schemas docs/schemas"


def test_there_is_no_other() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.schema.json" for name in SCHEMAS}


@pytest.mark.parametrize("name", SCHEMAS)
def test_it_is_a_schema(name: str) -> None:
    jsonschema_rs.meta.validate(json_schema(name))


def test_our_own_files_fit() -> None:
    for path in ROOT.glob("cases/*/cases.jsonl"):
        assert not [fault for row in lines(path) for fault in faults("case", row)]
    for path in ROOT.glob("examples/*/*.outputs.jsonl"):
        assert not [fault for row in lines(path) for fault in faults("output", row)]
    for path in ROOT.glob("examples/*/*.yaml"):
        assert not faults("suite", load_yaml(path)[0])


def test_the_files_of_a_run_fit(tmp_path: Path, bridge: Bridge) -> None:
    suite = write_suite(tmp_path, {"checks": ["equals", {"contains": {"any": ["a"]}}]})
    run = tmp_path / "run"
    done = bridge("run", suite, "--run-dir", run, "--gate")
    assert done.returncode in (0, 1), done.stderr
    done = bridge("baseline", run, "-o", tmp_path / "baseline.json")
    assert done.returncode == 0, done.stderr
    for name, path in (
        ("run", run / "run.json"),
        ("eval-report", run / "eval-report.json"),
        ("baseline", tmp_path / "baseline.json"),
    ):
        assert not faults(name, json.loads(path.read_bytes()))
    for name, path in (
        ("rows", run / "rows.jsonl"),
        ("output", run / "outputs.jsonl"),
        ("score", run / "scores" / "core.jsonl"),
    ):
        rows = lines(path)
        assert rows
        assert not [fault for row in rows for fault in faults(name, row)]


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "case": strategies.CASES,
    "output": strategies.OUTPUTS,
    "score": strategies.SCORES,
    "suite": strategies_suite.SUITES,
    "rows": strategies_suite.EXPECTED_ROWS,
    "baseline": strategies_suite.BASELINES,
    "conversion-report": strategies_suite.CONVERSIONS,
    "eval-report": st.builds(
        Verdict, passed=st.booleans(), verdict=st.sampled_from(["passed", "failed"])
    ),
}


@pytest.mark.parametrize("name", VALUES)
@settings(max_examples=20)
@given(data=st.data())
def test_what_is_written_fits(name: str, data: st.DataObject) -> None:
    value: Model = data.draw(VALUES[name])
    for text in (value.model_dump_json(), value.model_dump_json(exclude_defaults=True)):
        assert faults(name, json.loads(text)) == []


@pytest.mark.parametrize("name", ["case", "output", "score", "suite"])
@settings(max_examples=60)
@given(data=st.data())
def test_nothing_is_accepted_that_the_schema_forbids(name: str, data: st.DataObject) -> None:
    """Of files with one value changed at random."""
    value: Model = data.draw(VALUES[name])
    document = json.loads(value.model_dump_json())
    places = list(_places(document))
    *path, last = data.draw(st.sampled_from(places))
    changed = copy.deepcopy(document)
    inner = changed
    for part in path:
        inner = inner[part]
    inner[last] = data.draw(strategies.JSON)
    try:
        SCHEMAS[name][0].model_validate(changed)
    except ValidationError:
        return
    assert faults(name, changed) == []


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield (*path, key)
        yield from _places(item, (*path, key))


CASE: dict[str, Any] = {"id": "a", "input": "x", "expected": ""}
SUITE: dict[str, Any] = {"name": "s", "golden_set": "g", "system": {"recorded": "o"}}


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("case", {**CASE, "id": 7}),
        ("case", {**CASE, "meta": {"a": 1}}),
        ("case", {**CASE, "expected": None, "metadata": None}),
        ("case", {**CASE, "checks": ["equals", {"contains": "x"}, {"latency": 2}]}),
        ("case", {**CASE, "checks": [{"contains": {"value": "x", "threshold": 0.5}}]}),
        ("case", {**CASE, "checks": [{"all": ["equals", {"regex": "a"}], "threshold": 0.5}]}),
        ("case", {**CASE, "checks": [{"scorer": "equals", "params": {"value": 1}}]}),
        ("case", {**CASE, "checks": [{"equals": None}]}),
        ("suite", SUITE),
        ("suite", {**SUITE, "golden_set": ["a", {"path": "b", "version": "1"}]}),
        ("suite", {**SUITE, "golden_set": {"path": "b"}}),
        ("suite", {**SUITE, "system": {"python": "m:f"}}),
        ("suite", {**SUITE, "system": {"http": "http://x/"}}),
        ("suite", {**SUITE, "system": {"http": {"url": "http://x/", "answer": "/text"}}}),
        ("suite", {**SUITE, "system": {"command": ["node", "bot.js"], "prefilter": "block"}}),
        ("suite", {**SUITE, "system": {"openai": {"model": "m"}, "tools": "m:f"}}),
        ("suite", {**SUITE, "frameworks": ["core", {"ragas": {"python": "p"}}, {"x": None}]}),
        ("suite", {**SUITE, "gate": {"metrics": {"a": 0.5, "b": {"min": 1}, "c": None}}}),
        ("baseline", {"scores": {"a": 0.5, "b": {"c": 1}}}),
    ],
)
def test_short_forms_fit(name: str, document: Any) -> None:
    SCHEMAS[name][0].model_validate(document)
    assert faults(name, document) == []


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("case", {"id": "a", "input": "x"}),
        ("case", {**CASE, "input": None}),
        ("case", {**CASE, "input": []}),
        ("case", {**CASE, "id": " "}),
        ("case", {**CASE, "asserts": []}),
        ("case", {**CASE, "meta": {}, "metadata": {}}),
        ("case", {**CASE, "checks": [{"contains": "x", "threshold": 1}]}),
        ("case", {**CASE, "checks": [{"contains": {"value": "x", "threshold": 2}}]}),
        ("case", {**CASE, "checks": [{"all": []}]}),
        ("case", {**CASE, "checks": [{"scorer": "equals", "value": 1}]}),
        ("case", {**CASE, "checks": [{}]}),
        ("case", {**CASE, "expected_calls": [{"name": "t"}]}),
        ("output", {"case_id": "a", "epoch": 0}),
        ("output", {"case_id": "a", "latency_s": "1"}),
        ("score", {"framework": "f", "metric": "m", "case_id": "c", "status": "pass"}),
        (
            "score",
            {"framework": "f", "metric": "m", "case_id": "c", "status": "passed", "value": 2},
        ),
        ("suite", {**SUITE, "system": {"recorded": "o", "python": "m:f"}}),
        ("suite", {**SUITE, "system": {}}),
        ("suite", {**SUITE, "system": {"http": "http://x/", "command": ["a"]}}),
        ("suite", {**SUITE, "system": {"http": "ftp://x/"}}),
        ("suite", {**SUITE, "system": {"http": {"url": "http://x/", "answer": "text"}}}),
        ("suite", {**SUITE, "system": {"recorded": "o", "prefilter": "block"}}),
        ("suite", {**SUITE, "system": {"recorded": "o", "tools": "m:f"}}),
        ("suite", {**SUITE, "golden_set": []}),
        ("suite", {**SUITE, "frameworks": []}),
        ("suite", {**SUITE, "frameworks": [{"ragas": "x"}]}),
        ("suite", {**SUITE, "gate": {"metrics": {"a": {"mn": 1}}}}),
        ("baseline", {"scores": {"a": 2}}),
    ],
)
def test_mistakes_do_not_fit(name: str, document: Any) -> None:
    with pytest.raises(ValidationError):
        SCHEMAS[name][0].model_validate(document)
    assert faults(name, document)
