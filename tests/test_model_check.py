"""Checks: their short forms both ways, groups, and whose check decides."""

from __future__ import annotations

import json
from typing import Any

import pytest
import strategies
from hypothesis import given
from pydantic import ValidationError

from bridge.model import Check, resolve_checks


@pytest.mark.parametrize(
    ("written", "scorer", "params", "fields"),
    [
        ("equals", "equals", {}, {}),
        ({"equals": None}, "equals", {}, {}),
        ({"equals": {}}, "equals", {}, {}),
        ({"contains": "refund"}, "contains", {"value": "refund"}, {}),
        ({"contains": ["a", "b"]}, "contains", {"value": ["a", "b"]}, {}),
        ({"latency": 2}, "latency", {"value": 2}, {}),
        ({"equals": True}, "equals", {"value": True}, {}),
        (
            {"contains": {"value": "x", "threshold": 0.5}},
            "contains",
            {"value": "x"},
            {"threshold": 0.5},
        ),
        (
            {
                "equals": {
                    "metric": "same",
                    "weight": 2,
                    "negate": True,
                    "judge": "j",
                    "gate": False,
                }
            },
            "equals",
            {},
            {"metric": "same", "weight": 2.0, "negate": True, "judge": "j", "gate": False},
        ),
        ({"scorer": "equals", "params": {"value": 1}}, "equals", {"value": 1}, {}),
        ({"m:scorer": {"a": 1}}, "m:scorer", {"a": 1}, {}),
    ],
)
def test_short_forms(written: Any, scorer: str, params: Any, fields: dict[str, Any]) -> None:
    check = Check.model_validate(written)
    assert (check.scorer, check.params) == (scorer, params)
    for name, value in fields.items():
        assert getattr(check, name) == value
    assert Check.model_validate(check.short_form()) == check


@pytest.mark.parametrize(
    ("check", "written"),
    [
        (Check(scorer="equals"), "equals"),
        (Check(scorer="equals", params={"value": 1}), {"equals": {"value": 1}}),
        (Check(scorer="equals", metric="same"), {"equals": {"metric": "same"}}),
        (Check(scorer="equals", negate=True), {"equals": {"negate": True}}),
        (
            Check(scorer="all", checks=(Check(scorer="equals"),), threshold=0.5),
            {"all": ["equals"], "threshold": 0.5},
        ),
        (
            Check(scorer="odd", params={"threshold": "x"}),
            {"scorer": "odd", "params": {"threshold": "x"}},
        ),
    ],
)
def test_checks_are_written_short(check: Check, written: Any) -> None:
    assert json.loads(check.model_dump_json()) == written
    assert Check.model_validate(written) == check


@given(strategies.CHECKS)
def test_every_check_is_read_as_it_was_written(check: Check) -> None:
    assert Check.model_validate(check.short_form()) == check


def test_the_metric_is_named_after_the_scorer() -> None:
    assert Check.model_validate("equals").metric == "equals"
    assert Check.model_validate({"equals": {"negate": True}}).metric == "not_equals"
    assert Check.model_validate({"equals": {"metric": "mine", "negate": True}}).metric == "mine"
    assert Check.model_validate({"all": ["equals"]}).metric == "all"


def test_groups_nest() -> None:
    check = Check.model_validate(
        {"all": ["equals", {"all": [{"contains": "a"}], "threshold": 0.5}], "metric": "both"}
    )
    assert [member.scorer for member in check.checks] == ["equals", "all"]
    assert check.depth == 2
    assert Check(scorer="equals").depth == 0


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (5, "a check is a name"),
        (None, "a check is a name"),
        (["equals"], "a check is a name"),
        ("", "must not be empty"),
        ({}, "names one scorer, here: none"),
        ({"equals": {}, "contains": "a"}, "names one scorer, here: equals, contains"),
        ({"contains": "a", "threshold": 1}, "indent a check's parameters"),
        ({"all": "equals"}, "all takes a list"),
        ({"all": []}, "at least one member"),
        ({"all": ["equals"], "value": 1}, "Extra inputs"),
        ({"scorer": "all"}, "at least one member"),
        ({"scorer": "all", "checks": ["equals"], "params": {"a": 1}}, "a group takes no a"),
        ({"scorer": "equals", "checks": ["equals"]}, "a group is written"),
        ({"scorer": "equals", "value": 1}, "Extra inputs"),
        ({"all": [{"equals": {"weight": 0}}]}, "a weight above 0"),
        ({"equals": {"threshold": 1.5}}, "less than or equal to 1"),
        ({"equals": {"threshold": -0.5}}, "greater than or equal to 0"),
        ({"equals": {"weight": -1}}, "greater than or equal to 0"),
        ({"equals": {"judge": " "}}, "must not be empty"),
    ],
)
def test_faulty_checks(written: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Check.model_validate(written)


def test_a_case_adds_to_the_suite_or_overrides_it() -> None:
    suite = [Check(scorer="equals"), Check(scorer="contains", params={"value": "a"})]
    case = [
        Check(scorer="regex", metric="contains", params={"pattern": "a"}),
        Check(scorer="tool_use"),
    ]
    resolved = resolve_checks(suite, case)
    assert [(check.metric, check.scorer) for check in resolved] == [
        ("equals", "equals"),
        ("contains", "regex"),
        ("tool_use", "tool_use"),
    ]
    assert resolve_checks(suite, []) == tuple(suite)
