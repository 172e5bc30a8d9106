"""The tool use scorer: the faults of simple checkers, and what it reports."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from bridge.model import Case, Check, Measurement, Output
from bridge.scorers.calls import read_calls
from bridge.scorers.evaluate import evaluate
from bridge.scorers.registry import get_scorer
from bridge.scorers.tool_use import TOOL_USE, ToolUseParams, tool_use


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def score(
    expected: Any, actual: Any, *, tools: Any = (), mode: str = "any_order", **params: Any
) -> Measurement:
    wanted = {"mode": mode, "calls": expected}
    fields = {"id": "1", "input": "x", "expected": "", "tools": tools, "expected_calls": wanted}
    case = Case.model_validate(fields)
    output = Output(case_id="1", tool_calls=read_calls(actual))
    (found,) = tool_use(case, output, ToolUseParams(**params))
    return found


def axes(found: Measurement) -> dict[str, int]:
    return {axis: count for axis, count in found.details["counts"].items() if count}


def test_wrong_arguments_do_not_pass() -> None:
    found = score(
        [call("transfer", to="alice", amount=10)], [call("transfer", to="mallory", amount=10000000)]
    )
    assert found.value == 0.0
    assert axes(found) == {"wrong_value": 2}
    assert found.reason == 'transfer: /to is "mallory", expected "alice" (and 1 more)'


@pytest.mark.parametrize(
    ("expected", "actual", "path"),
    [
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, "/a/b/c"),
        ({"a": [1, [2, 3]]}, {"a": [1, [2, 4]]}, "/a/1/1"),
        ({"a": [{"b": 1}]}, {"a": [{"b": "1"}]}, "/a/0/b"),
    ],
)
def test_nested_values_are_compared(expected: Any, actual: Any, path: str) -> None:
    assert score([call("f", **expected)], [call("f", **expected)]).value == 1.0
    found = score([call("f", **expected)], [call("f", **actual)])
    assert found.value == 0.0
    assert found.details["mismatches"][0]["path"] == path


def test_true_is_no_number() -> None:
    for wanted, made in ((1, True), (True, 1), (0, False), (1.0, True)):
        found = score([call("f", x=wanted)], [call("f", x=made)])
        assert found.value == 0.0
        assert axes(found) == {"wrong_type": 1}


def test_a_whole_float_equals_its_integer() -> None:
    assert score([call("f", x=1)], [call("f", x=1.0)]).value == 1.0
    assert score([call("f", x=1.0)], [call("f", x=1)]).value == 1.0


def test_extra_calls_are_not_free() -> None:
    made = [call("read", id=1), call("delete_all"), call("delete_all")]
    found = score([call("read", id=1)], made)
    assert found.value == 0.0
    assert axes(found) == {"extra": 2}
    assert found.details["precision"] == pytest.approx(1 / 3)
    assert found.details["recall"] == 1.0
    assert found.reason == "delete_all() was called but not expected (and 1 more)"


@pytest.mark.parametrize(
    "mode", ["strict", "in_order", "any_order", "subset", "superset", "partial"]
)
def test_where_no_call_is_wanted(mode: str) -> None:
    none = score([], [], mode=mode)
    assert none.value == 1.0
    assert none.reason == "no call was wanted and none was made"
    assert [none.details[key] for key in ("precision", "recall", "f1")] == [1.0, 1.0, 1.0]
    some = score([], [call("f")], mode=mode)
    assert some.value == 0.0
    assert axes(some) == {"extra": 1}
    assert [some.details[key] for key in ("precision", "recall", "f1")] == [0.0, 0.0, 0.0]


def test_calls_of_two_tools_do_not_share_an_index_set() -> None:
    both = [call("a", x=1), call("b", x=2)]
    assert score(both, both).value == 1.0


def test_two_identical_calls_are_two_calls() -> None:
    twice = [call("f", x=1), call("f", x=1)]
    assert score(twice, twice).value == 1.0
    assert axes(score(twice, twice[:1])) == {"missing": 1}
    assert axes(score(twice[:1], twice)) == {"extra": 1}


def test_matching_does_not_depend_on_order() -> None:
    expected = [call("f", x=1, z=3), call("f", x=1, y=2)]
    actual = [call("f", x=1, y=2), call("f", z=3)]
    for wanted in (expected, expected[::-1]):
        for made in (actual, actual[::-1]):
            found = score(wanted, made)
            assert found.details["recall"] == 0.5
            assert axes(found) == {"missing_argument": 1}
            assert found.details["mismatches"][0]["path"] == "/x"


def test_an_exact_match_is_worth_more_than_any_partial_ones() -> None:
    half = dict.fromkeys("abcdefgh", 1)
    expected = [call("f", **half), call("f", **half, i=1)]
    actual = [call("f", **half), call("f")]
    assert score(expected, actual).details["recall"] == 0.5


def test_a_call_without_arguments_takes_no_match_of_another() -> None:
    anything = {"name": "f", "arguments": {}, "extra": "allow"}
    expected = [anything, call("f", x=1)]
    for actual in ([call("f", x=1), call("f")], [call("f", x=1), call("f", y=2)]):
        assert score(expected, actual).value == 1.0
        assert score(expected[::-1], actual).value == 1.0
    assert score([call("f"), call("f", x=1)], [call("f", x=1), call("f")]).value == 1.0


@pytest.mark.parametrize(
    "made",
    [
        {"name": "f", "arguments": None},
        {"name": "f"},
        {"name": "f", "arguments": ""},
        {"type": "function", "function": {"name": "f", "arguments": None}},
    ],
)
def test_no_arguments_at_all_are_none(made: Any) -> None:
    assert score([call("f")], [made]).value == 1.0
    assert axes(score([call("f", x=1)], [made])) == {"missing_argument": 1}


@pytest.mark.parametrize(
    "made", [{"arguments": {"x": 1}}, {"name": None, "args": {}}, {"name": " "}]
)
def test_a_call_without_a_name_fails(made: Any) -> None:
    found = score([call("f", x=1)], [made])
    assert found.value == 0.0
    assert axes(found) == {"missing": 1, "extra": 1, "unknown_tool": 1}
    alone = score([call("f", x=1)], [call("f", x=1), made], mode="superset")
    assert alone.value == 0.0
    assert alone.reason == "a call names no tool"


def test_extra_arguments_fail_unless_allowed() -> None:
    made = [call("f", x=1, y=2)]
    assert axes(score([call("f", x=1)], made)) == {"extra_argument": 1}
    allowed = {**call("f", x=1), "extra": "allow"}
    assert score([allowed], made).value == 1.0
    assert score([{**call("f", x={}), "extra": "allow"}], [call("f", x={"y": 1})]).value == 0.0


# What is reported


def test_details_are_complete_and_structured() -> None:
    expected = [call("a", x=1), call("b", x=2), call("c")]
    actual = [call("b", x=3), call("a", x=1), {**call("d"), "error": "boom"}]
    found = score(expected, actual)
    assert found.details == {
        "mode": "any_order",
        "counts": {"missing": 1, "extra": 1, "wrong_value": 1},
        "precision": 1 / 3,
        "recall": 1 / 3,
        "f1": 1 / 3,
        "matching": [[0, 1], [1, 0]],
        "mismatches": [
            {
                "axis": "wrong_value",
                "tool": "b",
                "call": 0,
                "path": "/x",
                "expected": 2,
                "actual": 3,
            },
            {
                "axis": "missing",
                "tool": "c",
                "call": None,
                "path": "",
                "expected": {},
                "actual": None,
            },
            {"axis": "extra", "tool": "d", "call": 2, "path": "", "expected": None, "actual": {}},
        ],
        "tool_errors": [2],
    }


def test_a_call_whose_tool_failed_counts_as_made() -> None:
    found = score([call("f")], [{**call("f"), "error": "boom"}])
    assert found.value == 1.0
    assert found.details["tool_errors"] == [0]


def test_matchers_are_shown_as_written() -> None:
    wanted = {"to": {"$one_of": ["alice", {"$regex": "^al"}]}, "n": {"$approx": 1, "abs": 0.5}}
    found = score([{"name": "f", "arguments": wanted}], [call("f", to="bob", n=2)])
    assert [each["expected"] for each in found.details["mismatches"]] == list(wanted.values())


@pytest.mark.parametrize(
    ("expected", "actual", "mode", "reason"),
    [
        ([call("f", a="x")], [], "any_order", 'f(a="x") was not called'),
        ([call("f", a=1)], [call("f")], "any_order", "f: /a is missing, expected 1"),
        ([call("f")], [call("f", a=1)], "any_order", "f: /a is not expected, it is 1"),
        ([call("f")], [call("f")], "any_order", "1 of 1 expected calls made in any order"),
        (
            [call("f")],
            [call("f"), call("g")],
            "superset",
            "1 of 1 expected calls made in any order, and 1 other",
        ),
        (
            [call("f"), call("h")],
            [call("f")],
            "subset",
            "1 of 2 expected calls made and no other",
        ),
        ([call("a"), call("b")], [call("b"), call("a")], "strict", "a() came out of order"),
    ],
)
def test_reasons(expected: Any, actual: Any, mode: str, reason: str) -> None:
    assert score(expected, actual, mode=mode).reason == reason


def test_without_expected_calls_there_is_nothing_to_score() -> None:
    case = Case(id="1", input="x", expected="")
    (found,) = tool_use(case, Output(case_id="1"), ToolUseParams())
    assert (found.status, found.value) == ("skipped", None)


def test_the_scorer_through_a_check() -> None:
    wanted = {"calls": [call("a"), call("b")]}
    case = Case.model_validate({"id": "1", "input": "x", "expected": "", "expected_calls": wanted})
    output = Output(case_id="1", tool_calls=read_calls([call("b"), call("a")]))
    assert get_scorer("tool_use") is TOOL_USE
    assert evaluate(Check(scorer="tool_use"), case, output).status == "passed"
    strict = Check.model_validate({"tool_use": "strict"})
    assert evaluate(strict, case, output).status == "failed"
    assert evaluate(
        Check.model_validate({"tool_use": {"mode": "strict"}}), case, output
    ) == evaluate(strict, case, output)
    with pytest.raises(ValidationError):
        ToolUseParams.model_validate({"mode": "sorted"})


def test_turns_are_scored_one_by_one() -> None:
    turns = [
        {"user": "a", "expected_calls": {"calls": [call("f")]}},
        {"user": "b", "expected_calls": {"calls": []}},
        {"user": "c"},
    ]
    answers = [{"tool_calls": [call("f")]}, {"tool_calls": [call("f")]}, {}]
    case = Case.model_validate({"id": "1", "input": "", "expected": "", "turns": turns})
    output = Output.model_validate({"case_id": "1", "turns": answers})
    rows = [evaluate(Check(scorer="tool_use"), case, output, turn) for turn in range(3)]
    assert [row.status for row in rows] == ["passed", "failed", "skipped"]
