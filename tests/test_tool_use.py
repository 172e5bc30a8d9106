"""The tool use scorer: the faults of simple checkers, contracts, hostile input, what it reports."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from pydantic import ValidationError

from bridge.model import Case, Check, Measurement, Output, ToolCall
from bridge.scorers.calls import read_calls
from bridge.scorers.evaluate import evaluate
from bridge.scorers.registry import get_scorer
from bridge.scorers.tool_use import AXES, TOOL_USE, ToolUseParams, tool_use

TRANSFER = {
    "name": "transfer",
    "parameters": {
        "type": "object",
        "properties": {
            "to": {"type": "string", "minLength": 3, "pattern": "^[a-z]+$"},
            "amount": {"type": "number", "minimum": 0, "maximum": 1000},
            "meta": {
                "type": "object",
                "properties": {"tags": {"type": "array", "items": {"type": "string"}}},
                "required": ["tags"],
            },
        },
        "required": ["to"],
        "additionalProperties": False,
    },
}


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


# The faults listed of simple checkers


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
    ("arguments", "path", "rule"),
    [
        ({"amount": 1}, "", '"to" is a required property'),
        ({"to": 5}, "/to", 'is not of type "string"'),
        ({"to": "al"}, "/to", "is shorter than 3 characters"),
        ({"to": "Alice"}, "/to", "does not match"),
        ({"to": "alice", "amount": -1}, "/amount", "is less than the minimum of 0"),
        ({"to": "alice", "amount": True}, "/amount", 'is not of type "number"'),
        ({"to": "alice", "odd": 1}, "", "Additional properties are not allowed"),
        ({"to": "alice", "meta": {}}, "/meta", '"tags" is a required property'),
        ({"to": "alice", "meta": {"tags": ["a", 1]}}, "/meta/tags/1", 'is not of type "string"'),
    ],
)
def test_every_rule_of_the_schema_is_checked(arguments: Any, path: str, rule: str) -> None:
    found = score(
        [call("transfer", **arguments)], [call("transfer", **arguments)], tools=[TRANSFER]
    )
    assert found.value == 0.0
    assert axes(found) == {"schema": 1}
    assert found.details["mismatches"][0]["path"] == path
    assert rule in found.details["mismatches"][0]["expected"]
    assert found.details["recall"] == 1.0
    off = score(
        [call("transfer", **arguments)],
        [call("transfer", **arguments)],
        tools=[TRANSFER],
        schemas=False,
    )
    assert off.value == 1.0


def test_a_call_within_its_schema_passes() -> None:
    good = call("transfer", to="alice", amount=1000, meta={"tags": []})
    assert score([good], [good], tools=[TRANSFER]).value == 1.0


def test_nan_passes_no_bound() -> None:
    wanted = {"name": "transfer", "arguments": {"to": "alice", "amount": {"$any": True}}}
    for made in (
        {"name": "transfer", "arguments": '{"to": "alice", "amount": NaN}'},
        {"name": "transfer", "arguments": {"to": "alice", "amount": math.nan}},
    ):
        found = score([wanted], [made], tools=[TRANSFER])
        assert found.value == 0.0
        assert axes(found) == {"malformed": 1}


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


# Contracts


@pytest.mark.parametrize("text", ['{"to": "alice"', "[]", '"alice"', "5", "null", "to=alice"])
def test_malformed_arguments_are_a_verdict(text: str) -> None:
    wanted = [{"name": "transfer", "arguments": {}, "extra": "allow"}]
    found = score(wanted, [{"name": "transfer", "arguments": text}], tools=[TRANSFER])
    assert (found.status, found.value) == ("scored", 0.0)
    assert axes(found) == {"malformed": 1}
    assert found.reason.startswith("the arguments of transfer are no JSON object")


def test_an_object_written_as_text_is_read() -> None:
    raw = ToolCall(name="f", arguments='{"x": 1}')
    assert score([call("f", x=1)], [raw]).value == 1.0


def test_an_unknown_tool_fails_even_where_extra_calls_are_allowed() -> None:
    made = [call("transfer", to="alice"), call("tranfser", to="alice")]
    found = score(made[:1], made, tools=[TRANSFER], mode="superset")
    assert found.value == 0.0
    assert axes(found) == {"extra": 1, "unknown_tool": 1}
    assert found.reason == "tranfser is no tool on offer"
    assert score(made[:1], made, mode="superset").value == 1.0


def test_an_expected_tool_is_known() -> None:
    assert score([call("other")], [call("other")], tools=[TRANSFER]).value == 1.0


def test_allowed_extra_calls_still_keep_their_contract() -> None:
    expected = [call("transfer", to="alice")]
    broken = [*expected, call("transfer", to=5)]
    for mode in ("superset", "in_order"):
        found = score(expected, broken, tools=[TRANSFER], mode=mode)
        assert found.value == 0.0
        assert axes(found) == {"extra": 1, "schema": 1}


def test_extra_arguments_fail_unless_allowed() -> None:
    made = [call("f", x=1, y=2)]
    assert axes(score([call("f", x=1)], made)) == {"extra_argument": 1}
    allowed = {**call("f", x=1), "extra": "allow"}
    assert score([allowed], made).value == 1.0
    assert score([{**call("f", x={}), "extra": "allow"}], [call("f", x={"y": 1})]).value == 0.0


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "dict"},
        {"properties": {"x": {"pattern": "["}}},
        {"$ref": "#/$defs/none"},
        {"$ref": "file:///etc/hostname"},
        {"properties": {"x": {"$ref": "http://127.0.0.1:9/schema.json"}}},
    ],
)
def test_a_broken_schema_is_an_error_of_the_case(schema: Any) -> None:
    found = score([call("f")], [call("f")], tools=[{"name": "f", "parameters": schema}])
    assert found.status == "error"
    assert found.value is None
    assert found.reason.startswith("the schema of tool f is none")


def test_schemas_that_python_takes_for_equal_are_told_apart() -> None:
    for const, made, value in ((1, True, 0.0), (True, True, 1.0), (1, 1, 1.0), (True, 1, 0.0)):
        tools = [{"name": "f", "parameters": {"properties": {"x": {"const": const}}}}]
        assert score([call("f", x=made)], [call("f", x=made)], tools=tools).value == value


def test_a_costly_pattern_is_bounded() -> None:
    tools = [{"name": "f", "parameters": {"properties": {"x": {"pattern": r"^(a|a)*\1$"}}}}]
    made = [call("f", x="a" * 50_000 + "b")]
    assert axes(score(made, made, tools=tools)) == {"schema": 1}


# What is reported


def test_details_are_complete_and_structured() -> None:
    expected = [call("a", x=1), call("b", x=2), call("c")]
    actual = [call("b", x=3), call("a", x=1), {**call("d"), "error": "boom"}]
    found = score(expected, actual)
    assert found.details == {
        "mode": "any_order",
        "counts": dict.fromkeys(AXES, 0) | {"missing": 1, "extra": 1, "wrong_value": 1},
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


# Hostile input


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize(
    "made",
    [
        call("f", x=nested(90)),
        call("f", x=nested(5000)),
        call("f", x=10**5000),
        call("f", x=-(10**400)),
        call("f", x="\ud800" * 10),
        call("f", x="a" * 10_000_000),
        call("f", **{"k" * 100_000: 1, "/~": 2}),
        call("f" * 1_000_000, x=1),
        call("::error::\x1b[31m\u202e\n", x=1),
        {"name": "f", "arguments": "{" * 1_000_000},
        {"name": "f", "arguments": {1: 2, None: 3, (1, 2): 4}},
        {"name": "f", "arguments": {"x": object()}},
        {"name": "f", "arguments": {"x": list(range(200_000))}},
    ],
    ids=range(13),
)
def test_anything_a_model_writes_is_a_short_verdict(made: Any) -> None:
    for expected in (
        [call("f", x=1)],
        [{"name": "f", "arguments": {"x": {"$approx": 1, "rel": 0.1}}}],
    ):
        found = score(expected, [made], tools=[TRANSFER | {"name": "f"}])
        assert found.value == 0.0
        assert len(found.reason) < 600
        assert found.reason.isprintable()
        assert len(json.dumps(found.model_dump(mode="json"))) < 12_000


def test_a_runaway_agent_is_counted_in_full_and_listed_in_part() -> None:
    found = score([call("f")], [call("f", n=index) for index in range(2_000)])
    assert axes(found) == {"extra": 1_999, "extra_argument": 1}
    assert len(found.details["mismatches"]) == 50
