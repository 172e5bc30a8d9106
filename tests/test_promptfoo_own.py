"""promptfoo's own assertions behind checks: nothing that is code gets to promptfoo."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.model import Case, Check
from bridge_promptfoo.config.original import original_assertion, safe_variables

VARS = {"x": "here", "evil": "{{ range.constructor('return process')().exit(7) }}"}


def check(original: dict[str, Any], scorer: str = "contains", **params: Any) -> Check:
    fields = {"scorer": scorer, "params": params or {"value": "here"}, "metric": "m"}
    return Check.model_validate({**fields, "extras": {"promptfoo": original}})


@pytest.mark.parametrize(
    ("original", "made"),
    [
        ({"type": "contains", "value": "{{x}}", "weight": 2}, None),
        ({"type": "contains", "value": "{{x}}"}, {"type": "contains", "value": "{{x}}"}),
        ({"type": "contains", "value": "{{evil}}"}, {"type": "contains", "value": "here"}),
        ({"type": "contains", "value": VARS["evil"]}, {"type": "contains", "value": "here"}),
        ({"type": "contains", "value": "{% x %}"}, {"type": "contains", "value": "here"}),
        ({"type": "contains", "value": "file://x.js"}, {"type": "contains", "value": "here"}),
        ({"type": "contains", "value": "there"}, None),
        ({"type": "javascript", "value": "process.exit()"}, None),
        ({"type": "not-contains", "value": "here"}, None),
        (
            {"type": "contains", "value": "here", "transform": "process.exit()", "provider": "exec:x"},
            {"type": "contains", "value": "here"},
        ),
    ],
)  # fmt: skip
def test_an_assertion_counts_where_reading_it_gives_the_check(
    original: dict[str, Any], made: dict[str, Any] | None
) -> None:
    assert original_assertion(check(original), VARS) == made


def test_a_check_of_our_own_is_the_assertion_that_says_the_same() -> None:
    ours = Check.model_validate({"contains": {"value": "a", "negate": True}})
    assert original_assertion(ours, {}) == {"type": "not-contains", "value": "a"}
    touched = Check.model_validate({"contains": {"value": "{{a}}"}})
    assert original_assertion(touched, {}) is None
    assert original_assertion(Check.model_validate({"tool_use": {}}), {}) is None


def test_a_group_with_code_in_it_is_none() -> None:
    members = [check({"type": "javascript", "value": "1"}), Check.model_validate({"contains": "b"})]
    group = Check.model_validate(
        {"all": [each.model_dump() for each in members[1:]], "metric": "g"}
    )
    assert original_assertion(group, {}) == {
        "type": "assert-set", "assert": [{"type": "contains", "value": "b"}], "weight": 1.0,
    }  # fmt: skip
    group = group.model_copy(update={"checks": tuple(members)})
    assert original_assertion(group, {}) is None


def test_variables_are_inert_but_for_bare_names() -> None:
    given = {
        **VARS,
        "name": "{{x}}",
        "file": "file://secrets.js",
        "through": "{{file}}",
        "none": None,
        "object": {"a": "{{ 7 * 7 }}"},
        "$ref": "x",
        "n": [1, 2],
    }
    made = safe_variables(Case(id="a", input="q", expected="", vars=given))
    assert made["x"] == "here"
    assert made["name"] == "{{x}}"
    assert made["n"] == [1, 2]
    assert set(made) == {"x", "evil", "name", "file", "through", "n"}
    for name in ("evil", "file", "through"):
        assert made[name] != given[name]
        assert not made[name].startswith("file://")
