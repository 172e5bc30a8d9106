"""The six order modes of the tool use scorer, by example."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.model import ExpectedCalls, ToolCall
from bridge.scorers.tool_use import ToolUseParams, compare_calls

MODES = ("strict", "in_order", "any_order", "subset", "superset", "partial")


def calls(text: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in text]


def passes(mode: str, expected: str | list[Any], actual: str) -> bool:
    wanted = calls(expected) if isinstance(expected, str) else expected
    given_calls = ExpectedCalls.model_validate({"mode": mode, "calls": wanted})
    return compare_calls(given_calls, [ToolCall(name=name) for name in actual]).passed


@pytest.mark.parametrize(
    ("expected", "actual", "passing"),
    [
        ("ab", "ab", {"strict", "in_order", "any_order", "subset", "superset", "partial"}),
        ("ab", "ba", {"any_order", "subset", "superset", "partial"}),
        ("ab", "acb", {"in_order", "superset"}),
        ("ab", "bca", {"superset"}),
        ("ab", "a", {"subset"}),
        ("ab", "", {"subset"}),
        ("ab", "c", set()),
        ("ab", "ac", set()),
        ("aa", "a", {"subset"}),
        ("a", "aa", {"in_order", "superset"}),
        ("aba", "baa", {"any_order", "subset", "superset", "partial"}),
        ("aba", "aabba", {"in_order", "superset"}),
        ("", "", set(MODES)),
        ("", "a", set()),
    ],
)
def test_modes(expected: str, actual: str, passing: set[str]) -> None:
    assert {mode for mode in MODES if passes(mode, expected, actual)} == passing


def step(name: str, *after: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "id": fields.pop("id", name), "after": list(after), **fields}


@pytest.mark.parametrize(
    ("actual", "passing"),
    [
        ("abcd", True),
        ("acbd", True),
        ("bacd", False),
        ("abdc", False),
        ("abc", False),
        ("abcdd", False),
    ],
)
def test_partial_order(actual: str, passing: bool) -> None:
    diamond = [step("a"), step("b", "a"), step("c", "a"), step("d", "b", "c")]
    assert passes("partial", diamond, actual) is passing
    assert passes("partial", diamond[::-1], actual) is passing


def test_partial_order_looks_for_the_assignment_that_keeps_it() -> None:
    any_x = {"x": {"$any": True}}
    wanted = [
        step("f", id="late", after=["g"], arguments=any_x),
        step("g"),
        step("f", id="early", arguments={"x": 1}),
    ]
    expected = ExpectedCalls.model_validate({"mode": "partial", "calls": wanted})
    made = [ToolCall(name=name, arguments={"x": 1} if name == "f" else {}) for name in "fgf"]
    found = compare_calls(expected, made)
    assert found.passed
    assert [(pair.expected, pair.actual) for pair in found.pairs] == [(0, 2), (1, 1), (2, 0)]
    late = compare_calls(expected, [made[0], made[2], made[1]])
    assert not late.passed
    assert late.counts["order"] == 1


def test_a_circle_of_after_is_an_error_of_the_case() -> None:
    expected = ExpectedCalls.model_validate(
        {"mode": "partial", "calls": [step("a", "b"), step("b", "a")]}
    )
    found = compare_calls(expected, [ToolCall(name="a"), ToolCall(name="b")])
    assert not found.passed
    assert found.undecided is not None
    assert found.undecided.startswith("after runs in a circle")


def test_a_partial_order_with_too_many_ways_is_undecided_not_green_and_not_slow() -> None:
    loose = [
        step("f", id=f"w{index}", arguments={"x": {"$one_of": [1, 2, index + 10]}})
        for index in range(24)
    ]
    wanted = [*loose, step("f", "last", id="first", arguments={"x": 1}), step("g", id="last")]
    expected = ExpectedCalls.model_validate({"mode": "partial", "calls": wanted})
    made = [ToolCall(name="f", arguments={"x": 1 + index % 2}) for index in range(25)]
    found = compare_calls(expected, [*made, ToolCall(name="g")])
    assert not found.passed
    assert found.undecided is not None
    assert "too many ways" in found.undecided


def test_many_alike_calls_in_partial_order_are_quick() -> None:
    wanted = [
        *(step("f", id=f"f{index}") for index in range(60)),
        step("g", *(f"f{i}" for i in range(60))),
    ]
    assert passes("partial", wanted, "f" * 60 + "g")
    assert not passes("partial", wanted, "f" * 59 + "gf")


def test_mode_of_the_check_overrides_that_of_the_case() -> None:
    expected = ExpectedCalls.model_validate({"mode": "any_order", "calls": calls("ab")})
    made = [ToolCall(name="b"), ToolCall(name="a")]
    assert compare_calls(expected, made).passed
    found = compare_calls(expected, made, params=ToolUseParams(mode="strict"))
    assert not found.passed
    assert found.mode == "strict"
    assert found.counts["order"] == 1


def test_order_is_blamed_on_the_fewest_calls() -> None:
    expected = ExpectedCalls.model_validate({"mode": "strict", "calls": calls("abcdef")})
    found = compare_calls(expected, [ToolCall(name=name) for name in "fabcde"])
    assert [(each.axis, each.tool, each.call) for each in found.faults] == [("order", "f", 0)]
