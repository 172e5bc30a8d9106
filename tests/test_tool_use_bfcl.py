"""The ``bfcl`` profile, rule by rule; ``benchmarks/bfcl.py`` holds it against BFCL's own checker."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.model import Case, Measurement, Output
from bridge.scorers.tool_use import MatchParams, ToolUseParams, tool_use
from bridge.scorers.tool_use.metrics import tool_arguments

ITEM = {"type": "dict", "properties": {"n": {"type": "integer"}}}
BOOK = {
    "name": "hotel.book",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string"},
            "nights": {"type": "integer"},
            "price": {"type": "float"},
            "smoking": {"type": "boolean"},
            "extras": {"type": "array", "items": {"type": "string"}},
            "grid": {"type": "array", "items": {"type": "array"}},
            "point": {"type": "tuple", "items": {"type": "float"}},
            "guest": {"type": "dict"},
            "items": {"type": "array", "items": ITEM},
            "any": {"type": "any"},
        },
        "required": ["city"],
    },
}
CITY = {"city": ["New York, NY", "NYC"]}


def score(accepted: Any, made: Any, mode: str = "any_order", **params: Any) -> Measurement:
    wanted = accepted if isinstance(accepted, list) else [accepted]
    calls = made if isinstance(made, list) else [made]
    fields = {
        "id": "1",
        "input": "x",
        "expected": "",
        "tools": [BOOK, {**BOOK, "name": "hotel.find"}],
        "expected_calls": {"mode": mode, "calls": [named(each) for each in wanted]},
    }
    output = Output.model_validate({"case_id": "1", "tool_calls": [named(each) for each in calls]})
    (found,) = tool_use(
        Case.model_validate(fields), output, ToolUseParams(profile="bfcl", **params)
    )
    return found


def named(call: dict[str, Any]) -> dict[str, Any]:
    return call if "name" in call else {"name": "hotel.book", "arguments": call}


@pytest.mark.parametrize(
    ("accepted", "value", "fits"),
    [
        # texts: case, blanks and ,./-_*^ make no difference; other marks do
        (["New York, NY"], "new york ny", True),
        (["New York, NY"], "New_York-N.Y.", True),
        (["it's"], 'It"s', True),
        (["New York!"], "New York", False),
        (["New York", "NYC"], "n.y.c", True),
        (["New York"], 7, False),
        (["New York"], None, False),
        (["New York"], ["New York"], False),
    ],
)
def test_texts(accepted: Any, value: Any, fits: bool) -> None:
    assert score({"city": accepted}, {"city": value}).value == float(fits)


@pytest.mark.parametrize(
    ("name", "accepted", "value", "fits"),
    [
        ("nights", [2], 2, True),
        ("nights", [2], 2.0, False),
        ("nights", [1], True, False),
        ("nights", [2], "2", False),
        ("nights", ["n"], "n", True),  # a variable in place of a value, letter by letter
        ("nights", ["n"], "N", False),
        ("nights", [2, "n"], "n", False),  # the first accepted value says which type
        ("price", [2.0], 2, True),
        ("price", [2.5], 2.5, True),
        ("price", [1.0], True, False),
        ("price", [2], 2.0, True),
        ("price", [1.0], 10**400, False),
        ("smoking", [True], True, True),
        ("smoking", [True], 1, False),
        ("smoking", [True], "true", False),
        ("any", ["x"], "X", True),
        ("any", [3], 3, True),
        ("any", ["3"], 3, False),
    ],
)
def test_types(name: str, accepted: Any, value: Any, fits: bool) -> None:
    given = {"city": "NYC", name: value}
    assert score({**CITY, name: accepted}, given).value == float(fits)


@pytest.mark.parametrize(
    ("name", "accepted", "value", "fits"),
    [
        ("extras", [["Sea view", "Bath"]], ["sea-view", "BATH"], True),
        ("extras", [["Sea view", "Bath"]], ["Bath", "Sea view"], False),
        ("extras", [["Sea view"], ["Bath"]], ["bath"], True),
        ("extras", [["Sea view"]], "Sea view", False),
        ("extras", [["Sea view"]], [1], False),
        ("extras", [["Sea view"]], [], False),
        ("extras", ["all"], "all", True),
        ("grid", [[[1, 2], [3]]], [[1, 2], [3]], True),
        ("grid", [[[1, 2], ["a"]]], [[1, 2], ["A"]], False),  # texts count one level deep
        ("grid", [[[1]]], [[True]], True),  # and types no deeper: Python's equality
        ("point", [[1.0, 2.5]], [1.0, 2.5], True),
        ("point", [[1.0, 2.5]], [1, 2.5], False),  # an integer is a float only by itself
    ],
)
def test_arrays(name: str, accepted: Any, value: Any, fits: bool) -> None:
    assert score({**CITY, name: accepted}, {"city": "NYC", name: value}).value == float(fits)


GUEST = {"name": ["Ann Lee"], "age": [30, 31], "vip": [True, ""]}


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({"name": "ann lee", "age": 31}, True),
        ({"name": "Ann Lee", "age": 30, "vip": True}, True),
        ({"name": "Ann Lee", "age": 30, "vip": False}, False),
        ({"name": "Ann Lee"}, False),
        ({"name": "Ann Lee", "age": 30, "pet": 1}, False),
        ({}, False),
        ([], False),
    ],
)
def test_objects(value: Any, fits: bool) -> None:
    assert score({**CITY, "guest": [GUEST]}, {"city": "NYC", "guest": value}).value == float(fits)


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ([{"n": 1}, {"n": 3}], True),
        ([{"n": 3}, {"n": 1}], False),
        ([{"n": 1}], False),
        ([{"n": 1}, {"n": 3}, {"n": 3}], False),
    ],
)
def test_arrays_of_objects(value: Any, fits: bool) -> None:
    accepted = [[{"n": [1]}, {"n": [2, 3]}]]
    found = score({**CITY, "items": accepted}, {"city": "NYC", "items": value})
    assert found.value == float(fits)


@pytest.mark.parametrize(
    ("accepted", "made", "axis"),
    [
        (CITY, {}, "missing_argument"),
        ({"city": ["NYC", ""]}, {}, "missing_argument"),  # required by the description
        ({**CITY, "nights": [2, ""]}, {"city": "NYC"}, None),
        ({**CITY, "nights": [2]}, {"city": "NYC"}, "missing_argument"),
        (CITY, {"city": "NYC", "nights": 2}, "extra_argument"),  # described, not accepted
        (CITY, {"city": "NYC", "odd": 2}, "extra_argument"),
        ({**CITY, "odd": [2]}, {"city": "NYC", "odd": 2}, "extra_argument"),  # not described
        (CITY, {"city": "Rome"}, "wrong_value"),
        (CITY, {"city": 1}, "wrong_type"),
    ],
)
def test_parameters(accepted: Any, made: Any, axis: str | None) -> None:
    found = score(accepted, made)
    assert found.details["counts"] == ({axis: 1} if axis else {})
    assert found.value == float(axis is None)


def test_every_call_counts_in_any_order_but_its_number() -> None:
    rome, nyc = {"city": ["Rome"]}, {"city": ["NYC"]}
    assert score([rome, nyc], [{"city": "nyc"}, {"city": "rome"}]).value == 1.0
    assert score([rome, nyc], [{"city": "rome"}]).value == 0.0
    assert score([rome], [{"city": "rome"}, {"city": "rome"}]).value == 0.0
    assert score([rome, nyc], [{"city": "nyc"}, {"city": "rome"}], mode="strict").value == 0.0
    other = {"name": "hotel.find", "arguments": {"city": "Rome"}}
    assert score([rome], [other]).value == 0.0


def test_each_expected_call_takes_the_first_that_fits_as_bfcl_does() -> None:
    either, nyc = {"city": ["NYC", "Rome"]}, {"city": ["NYC"]}
    made = [{"city": "NYC"}, {"city": "Rome"}]
    found = score([either, nyc], made)
    assert (found.value, found.details["matching"]) == (0.0, [[0, 0], [1, 1]])
    assert score([nyc, either], made).value == 1.0


@pytest.mark.parametrize(
    ("name", "accepted", "reason"),
    [
        ("hotel.sell", CITY, "needs a description of tool hotel.sell"),
        ("hotel.book", {"city": "NYC"}, "takes a list of values for city"),
        ("hotel.book", {**CITY, "guest": [GUEST, 3]}, "compares objects with objects only"),
    ],
)
def test_a_case_that_bfcl_cannot_read_is_an_error(name: str, accepted: Any, reason: str) -> None:
    made = {"name": name, "arguments": {"city": "NYC", "guest": {"pet": 1}}}
    found = score({"name": name, "arguments": {"guest": [GUEST], **accepted}}, made)
    assert found.status == "error"
    assert reason in found.reason


def test_what_cannot_be_read_does_not_matter_after_a_difference() -> None:
    made = {"city": "Rome", "guest": {"pet": 1}}
    found = score({**CITY, "guest": [GUEST, 3]}, made)
    assert (found.value, found.details["counts"]) == (0.0, {"wrong_value": 1})


def test_descriptions_in_json_schema_are_read_too() -> None:
    tool = {
        "name": "f",
        "parameters": {"type": "object", "properties": {"x": {"type": "number"}}},
    }
    for made, value in ((2, 1.0), ("2", 0.0)):
        case = Case.model_validate(
            {
                "id": "1",
                "input": "x",
                "expected": "",
                "tools": [tool],
                "expected_calls": {"calls": [{"name": "f", "arguments": {"x": [2.0]}}]},
            }
        )
        call = {"name": "f", "arguments": {"x": made}}
        output = Output.model_validate({"case_id": "1", "tool_calls": [call]})
        (found,) = tool_use(case, output, ToolUseParams(profile="bfcl"))
        assert found.value == value


def test_agreement_counts_parameters() -> None:
    fields = {
        "id": "1",
        "input": "x",
        "expected": "",
        "tools": [BOOK],
        "expected_calls": {"calls": [named({**CITY, "nights": [2]})]},
    }
    output = Output.model_validate(
        {"case_id": "1", "tool_calls": [named({"city": "n.y.c.", "nights": 3})]}
    )
    (found,) = tool_arguments(Case.model_validate(fields), output, MatchParams(profile="bfcl"))
    assert found.value == 0.5


def test_malformed_arguments_are_no_match() -> None:
    found = score(CITY, {"name": "hotel.book", "arguments": '{"city": "NYC"'})
    assert (found.value, found.details["counts"]) == (0.0, {"malformed": 1})
    assert score(CITY, {"name": "hotel.book", "arguments": '{"city": "NYC"}'}).value == 1.0
