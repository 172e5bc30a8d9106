"""Every model value survives its own JSON; what no file can hold never gets in."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import pytest
import strategies
import strategies_suite
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from bridge.model import Case, Check, Message, Output, Score, Suite
from bridge.model.score import Measurement
from bridge.model.values import MAX_DEPTH, FrozenDict, FrozenList, Model, freeze

TYPES = {
    "baseline": strategies_suite.BASELINES,
    "bundle": strategies_suite.BUNDLES,
    "case": strategies.CASES,
    "check": strategies.CHECKS,
    "conversion report": strategies_suite.CONVERSIONS,
    "expected rows": strategies_suite.EXPECTED_ROWS,
    "measurement": strategies.MEASUREMENTS,
    "message": strategies.MESSAGES,
    "output": strategies.OUTPUTS,
    "score": strategies.SCORES,
    "suite": strategies_suite.SUITES,
}


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=25)
@given(data=st.data())
def test_json_is_the_identity(name: str, data: st.DataObject) -> None:
    value: Model = data.draw(TYPES[name])
    kind = type(value)
    for text in (value.model_dump_json(), value.model_dump_json(exclude_defaults=True)):
        assert kind.model_validate_json(text) == value
        assert kind.model_validate(json.loads(text)) == value
        assert text.encode()  # no lone surrogate


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=5)
@given(data=st.data())
def test_values_can_be_hashed_copied_and_sent(name: str, data: st.DataObject) -> None:
    value: Model = data.draw(TYPES[name])
    assert hash(value) == hash(copy.deepcopy(value))
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value


@settings(max_examples=50)
@given(strategies.JSON)
def test_freezing_changes_nothing(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert json.dumps(frozen) == json.dumps(value)
    assert freeze(frozen) == value


CASE: dict[str, Any] = {"id": "a", "input": "x", "expected": ""}
OUTPUT: dict[str, Any] = {"case_id": "a"}
SCORE: dict[str, Any] = {"framework": "f", "metric": "m", "case_id": "a", "status": "passed"}
SUITE: dict[str, Any] = {"name": "s", "golden_set": "g", "system": {"recorded": "o"}}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Case, {**CASE, "expected": "NUMBER"}),
        (Case, {**CASE, "vars": {"a": [{"b": "NUMBER"}]}}),
        (Case, {**CASE, "input": {"a": "NUMBER"}}),
        (Case, {**CASE, "tools": [{"name": "t", "parameters": {"maximum": "NUMBER"}}]}),
        (
            Case,
            {**CASE, "expected_calls": {"calls": [{"name": "t", "arguments": {"a": "NUMBER"}}]}},
        ),
        (Case, {**CASE, "reference_contexts": [{"text": "t", "score": "NUMBER"}]}),
        (Case, {**CASE, "checks": [{"latency": "NUMBER"}]}),
        (Case, {**CASE, "checks": [{"equals": {"weight": "NUMBER"}}]}),
        (Output, {**OUTPUT, "text": ["NUMBER"]}),
        (Output, {**OUTPUT, "latency_s": "NUMBER"}),
        (Output, {**OUTPUT, "cost_usd": "NUMBER"}),
        (Output, {**OUTPUT, "tool_calls": [{"name": "t", "result": "NUMBER"}]}),
        (Output, {**OUTPUT, "usage": {"input_tokens": "NUMBER"}}),
        (Score, {**SCORE, "value": "NUMBER"}),
        (Score, {**SCORE, "value": 1, "details": {"a": "NUMBER"}}),
        (Score, {**SCORE, "value": 1, "raw": {"value": "NUMBER"}}),
        (Score, {**SCORE, "value": 1, "raw": {"value": 1, "scale": [0, "NUMBER"]}}),
        (Measurement, {"value": "NUMBER"}),
        (Suite, {**SUITE, "gate": {"confidence": "NUMBER"}}),
        (Suite, {**SUITE, "gate": {"metrics": {"m": "NUMBER"}}}),
        (Suite, {**SUITE, "frameworks": [{"core": {"option": "NUMBER"}}]}),
    ],
)
def test_no_number_but_a_finite_one(kind: type[Model], fields: Any, number: float) -> None:
    with pytest.raises(ValidationError):
        kind.model_validate(_replace(fields, number))


def _replace(value: Any, number: float) -> Any:
    if isinstance(value, dict):
        return {key: _replace(item, number) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace(item, number) for item in value]
    return number if value == "NUMBER" else value


@pytest.mark.parametrize("value", [True, "0.5", "1", [1]])
@pytest.mark.parametrize(
    ("kind", "fields", "name"),
    [
        (Score, SCORE, "value"),
        (Score, {**SCORE, "value": 1}, "threshold"),
        (Score, {**SCORE, "value": 1}, "epoch"),
        (Score, {**SCORE, "value": 1}, "turn"),
        (Output, OUTPUT, "latency_s"),
        (Output, OUTPUT, "epoch"),
        (Check, {"scorer": "equals"}, "threshold"),
        (Suite, SUITE, "epochs"),
    ],
)
def test_text_and_truth_are_no_numbers(
    kind: type[Model], fields: dict[str, Any], name: str, value: Any
) -> None:
    with pytest.raises(ValidationError):
        kind.model_validate({**fields, name: value})


def test_a_whole_float_is_a_whole_number() -> None:
    score = Score.model_validate({**SCORE, "value": 1, "epoch": 2.0, "turn": 0.0})
    assert (score.epoch, score.turn) == (2, 0)
    with pytest.raises(ValidationError):
        Score.model_validate({**SCORE, "value": 1, "epoch": 1.5})


@pytest.mark.parametrize("value", ["yes", "true", 1, 0, None])
def test_only_true_and_false_are_flags(value: Any) -> None:
    with pytest.raises(ValidationError):
        Check.model_validate({"equals": {"negate": value}})


def test_lone_surrogates_become_the_replacement_character() -> None:
    case = Case.model_validate(
        {
            "id": "a\ud800",
            "input": [{"role": "user", "content": "x\udfff"}],
            "expected": ["\ud83d"],
            "vars": {"k\ud800": {"n": ["\udc00\ud800"]}},
            "tags": ["\udead"],
            "checks": [{"equals": {"value": "\ud801"}}],
        }
    )
    assert case.id == "a�"
    assert case.input == (Message(role="user", content="x�"),)
    assert case.expected == ["�"]
    assert case.vars == {"k�": {"n": ["��"]}}
    assert case.tags == ("�",)
    assert case.checks[0].params == {"value": "�"}
    assert "\\u" not in case.model_dump_json()
    assert freeze("\U0001f600") == "\U0001f600"


@pytest.mark.parametrize("wrong", [{1: "a"}, {"a": {1, 2}}, {"a": b"x"}, {"a": object()}])
def test_what_is_no_json_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"not a JSON value|is not a string"):
        freeze(wrong)


def test_nesting_is_bounded() -> None:
    value: Any = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    Case(id="a", input="x", expected=value)
    with pytest.raises(ValidationError, match="nested deeper"):
        Case(id="a", input="x", expected=[value])


def test_a_value_at_the_deepest_nesting_can_be_read_again() -> None:
    value: Any = 1
    for _ in range(MAX_DEPTH):
        value = {"a": value}
    check = Check(scorer="equals", params=value)
    for _ in range(10):
        check = Check(scorer="all", checks=(check,))
    case = Case.model_validate({**CASE, "turns": [{"user": "u", "checks": [check]}]})
    assert Case.model_validate_json(case.model_dump_json()) == case
    with pytest.raises(ValidationError, match="groups within groups"):
        Check(scorer="all", checks=(check,))


def test_mappings_are_copied_in() -> None:
    mine: dict[str, Any] = {"a": {"b": [1]}}
    case = Case(id="a", input=mine, expected=mine, vars=mine)
    mine["a"]["b"].append(2)
    mine["c"] = 3
    assert case.vars == case.input == case.expected == {"a": {"b": [1]}}


@pytest.mark.parametrize(
    "mapping",
    [
        Case(**CASE, vars={"a": {"b": 1}}).vars["a"],
        Case(**CASE).metadata,
        Suite.model_validate({**SUITE, "judges": {"j": {"model": "m"}}}).judges,
        Suite.model_validate({**SUITE, "gate": {"metrics": {"m": 0.5}}}).gate.metrics,
        Suite.model_validate(SUITE).judges,
    ],
)
def test_mappings_are_read_only(mapping: Any) -> None:
    for change in (
        lambda: mapping.__setitem__("x", 1),
        lambda: mapping.__delitem__("b"),
        lambda: mapping.update(x=1),
        lambda: mapping.pop("b", None),
        lambda: mapping.setdefault("x", 1),
        mapping.clear,
        mapping.popitem,
    ):
        with pytest.raises(TypeError, match="read-only"):
            change()


def test_lists_are_read_only() -> None:
    items = freeze([3, 1])
    for change in (lambda: items.append(1), items.sort, items.clear, lambda: items.extend([1])):
        with pytest.raises(TypeError, match="read-only"):
            change()
    with pytest.raises(TypeError, match="read-only"):
        items[0] = 5
    assert items == [3, 1]
    assert isinstance(copy.copy(items), FrozenList)
    assert isinstance(pickle.loads(pickle.dumps(freeze({"a": 1}))), FrozenDict)


def test_values_are_frozen() -> None:
    case = Case(**CASE)
    with pytest.raises(ValidationError, match="frozen"):
        case.id = "b"  # type: ignore[misc]
