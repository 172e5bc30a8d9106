"""Relations that the tool metrics keep on any input, and that they never raise."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from test_tool_use_properties import EXPECTED, MADE, MODES, trajectories

from bridge.model import Case, Check, ExpectedCall, ExpectedCalls, Output, Tool, ToolCall
from bridge.scorers.calls import read_calls
from bridge.scorers.registry import get_scorer, read_params
from bridge.scorers.tool_use import Comparison, MatchParams, compare_calls

ALL = ("use", "precision", "recall", "f1", "arguments", "order", "schema")
CALLS = st.lists(MADE, max_size=5)
WANTED = st.lists(EXPECTED, max_size=5)
MODE = st.sampled_from(MODES)


def compare(wanted: Sequence[ExpectedCall], made: Sequence[ToolCall], mode: Any) -> Comparison:
    return compare_calls(ExpectedCalls(calls=tuple(wanted), mode=mode), made)


def shares(found: Comparison) -> list[float]:
    graded = [found.precision, found.recall, found.f1, found.arguments]
    return graded if found.order is None else [*graded, found.order]


@given(WANTED, CALLS, MODE)
def test_every_share_is_one_and_f1_is_between(wanted: Any, made: Any, mode: Any) -> None:
    found = compare(wanted, made, mode)
    assert all(0.0 <= each <= 1.0 for each in shares(found))
    low, high = sorted((found.precision, found.recall))
    assert low - 1e-12 <= found.f1 <= high + 1e-12
    assert found.recall <= found.arguments or math.isclose(found.recall, found.arguments)
    assert (found.order is None) is (mode in ("any_order", "subset", "superset"))


@given(trajectories(), MODE)
def test_what_passes_has_full_marks_but_for_what_the_mode_allows(both: Any, mode: Any) -> None:
    wanted, made = both
    found = compare(wanted, made, mode)
    if not found.passed:
        return
    if mode != "subset":
        assert found.recall == found.arguments == 1.0
        assert found.order in (None, 1.0)
    if mode not in ("superset", "in_order"):
        assert found.precision == 1.0 or not made


@given(WANTED, CALLS, MODE, st.randoms(use_true_random=False))
def test_only_order_sees_the_order_of_calls(wanted: Any, made: Any, mode: Any, random: Any) -> None:
    first = compare(wanted, made, mode)
    shuffled = random.sample(made, len(made))
    second = compare(wanted, shuffled, mode)
    assert shares(first)[:3] == shares(second)[:3]
    if mode in ("any_order", "subset", "superset"):
        assert first.arguments == second.arguments


@given(WANTED, CALLS, MODE, st.data())
def test_a_call_left_out_never_raises_recall_or_adds_a_match(
    wanted: Any, made: Any, mode: Any, data: st.DataObject
) -> None:
    assume(made)
    gone = data.draw(st.integers(0, len(made) - 1))
    before = compare(wanted, made, mode)
    after = compare(wanted, made[:gone] + made[gone + 1 :], mode)
    assert after.matched <= before.matched
    if wanted:
        assert after.recall <= before.recall


@given(WANTED, CALLS, MODE)
def test_a_call_that_nothing_expects_never_raises_anything(
    wanted: Any, made: Any, mode: Any
) -> None:
    more = ToolCall(name="unexpected", arguments={"x": 1})
    before, after = compare(wanted, made, mode), compare(wanted, [*made, more], mode)
    for less, same in zip(shares(after), shares(before), strict=True):
        assert less <= same


@given(WANTED, CALLS)
def test_a_call_made_again_never_raises_precision_once_all_is_matched(
    wanted: Any, made: Any
) -> None:
    before = compare(wanted, made, "any_order")
    assume(made and before.matched == len(wanted))
    after = compare(wanted, [*made, made[0]], "any_order")
    assert after.precision < before.precision or before.precision == 0.0
    assert not after.passed


@given(WANTED, CALLS, st.integers(0, 4), st.integers(0, 4))
def test_a_tighter_policy_never_helps(wanted: Any, made: Any, limit: int, repeats: int) -> None:
    case = Case(id="1", input="x", expected="", expected_calls=ExpectedCalls(calls=tuple(wanted)))
    output = Output(case_id="1", tool_calls=tuple(made))
    plain = value("use", case, output)
    loose = value("use", case, output, max_calls=limit + 1, max_duplicates=repeats + 1)
    tight = value("use", case, output, max_calls=limit, max_duplicates=repeats)
    barred = value("use", case, output, forbidden=["f"])
    assert plain is not None
    assert loose is not None
    assert tight is not None
    assert barred is not None
    assert plain >= loose >= tight
    assert barred == (0.0 if any(call.name == "f" for call in made) else plain)


def value(name: str, case: Case, output: Output, **params: Any) -> float | None:
    scorer = get_scorer(f"tool_{name}")
    check = Check(scorer=scorer.name, params=params)
    (found,) = scorer.score(case, output, read_params(check))
    assert len(found.reason) < 1000
    assert found.reason.isprintable()
    json.dumps(found.model_dump(mode="json"), allow_nan=False)
    return found.value


# Never raises

SCALAR = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.text(st.characters(categories=["Cs"]), min_size=1)
    | st.sampled_from([10**400, -(10**4000), "", "$any", "\u202e", "\x1b[31m"])
)
ANYTHING = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
WILD_CALL = (
    st.fixed_dictionaries({"name": st.sampled_from(["f", "g", "", None]) | ANYTHING})
    | st.fixed_dictionaries({"name": st.just("f"), "arguments": ANYTHING})
    | st.fixed_dictionaries({"name": st.just("f"), "arguments": ANYTHING, "error": ANYTHING})
    | ANYTHING
)
TYPES = st.sampled_from(["string", "integer", "float", "dict", "object", "array", "any", "odd"])
SCHEMA = st.fixed_dictionaries(
    {"properties": st.dictionaries(st.sampled_from("xyz"), st.fixed_dictionaries({"type": TYPES}))}
) | st.dictionaries(st.sampled_from(["type", "properties", "required", "$ref"]), ANYTHING)


@given(
    st.lists(EXPECTED, max_size=3),
    st.lists(WILD_CALL, max_size=4),
    SCHEMA.filter(lambda schema: is_json(schema)),
    MODE,
    st.sampled_from(["json", "bfcl"]),
    st.sampled_from(["count", "ignore", "forbid"]),
)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_no_metric_raises(
    wanted: Any, made: Any, schema: Any, mode: Any, profile: Any, failed: Any
) -> None:
    case = Case(
        id="1",
        input="x",
        expected="",
        tools=(Tool(name="f", parameters=schema),),
        expected_calls=ExpectedCalls(calls=tuple(wanted), mode=mode),
    )
    output = Output(case_id="1", tool_calls=read_calls(made))
    for name in ALL[:6]:
        value(name, case, output, profile=profile, failed_calls=failed)
    value("schema", case, output, failed_calls=failed)
    value("use", case, output, forbidden=["f"], max_calls=1, max_duplicates=0)


def is_json(schema: Any) -> bool:
    try:
        Tool(name="f", parameters=schema)
    except ValueError:
        return False
    return True


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize(
    "arguments",
    [
        {"x": "a" * 10_000_000},
        {"x": list(range(200_000))},
        {f"k{index}": index for index in range(50_000)},
        {"x": nested(48)},
        {"x": nested(3000)},
        '{"x": "' + "a" * 10_000_000,
        "[" * 10_000_000,
    ],
    ids=["text", "array", "keys", "nested", "too deep", "broken", "brackets"],
)
@pytest.mark.parametrize("profile", ["json", "bfcl"])
def test_huge_calls_are_scored_in_little_time(arguments: Any, profile: str) -> None:
    schema = {
        "properties": {"x": {"type": "array", "items": {"type": "integer"}}},
        "required": ["x"],
    }
    wanted = {"name": "f", "arguments": {"x": [[1, 2], ["a"]]}}
    fields = {
        "id": "1",
        "input": "x",
        "expected": "",
        "tools": [{"name": "f", "parameters": schema}],
        "expected_calls": {"calls": [wanted, wanted], "mode": "in_order"},
    }
    case = Case.model_validate(fields)
    made = {"name": "f", "arguments": arguments}
    output = Output(case_id="1", tool_calls=read_calls([made, made]))
    start = time.process_time()
    for name in ALL[:6]:
        value(name, case, output, profile=profile)
    value("schema", case, output)
    assert time.process_time() - start < 5.0


def test_the_default_parameters_are_those_of_the_comparison() -> None:
    assert MatchParams() == MatchParams(mode=None, profile="json", scope="turn")
