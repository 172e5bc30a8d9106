"""Calls held to their tools' contracts, and whatever a model may write instead of a call."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from bridge.model import Case, Measurement, Output, ToolCall
from bridge.scorers.calls import read_calls
from bridge.scorers.tool_use import ToolUseParams, tool_use

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
