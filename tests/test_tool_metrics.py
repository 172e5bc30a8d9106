"""The graded tool metrics, and the comparison that all tool metrics share."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import ValidationError

from bridge.model import Case, Check, Measurement, Output, ToolCall
from bridge.scorers.evaluate import evaluate
from bridge.scorers.tool_use import compare_calls
from bridge.scorers.tool_use import look as look_module

METRICS = ("precision", "recall", "f1", "arguments", "order", "schema")
TOOL = {"name": "f", "parameters": {"properties": {"x": {"type": "integer", "maximum": 9}}}}


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def make(expected: Any, made: Any, mode: str = "any_order", **fields: Any) -> tuple[Case, Output]:
    wanted = None if expected is None else {"mode": mode, "calls": expected}
    case = {"id": "1", "input": "x", "expected": "", "expected_calls": wanted, **fields}
    output = Output.model_validate({"case_id": "1", "tool_calls": made})
    return Case.model_validate(case), output


def measure(name: str, both: tuple[Case, Output], /, **params: Any) -> Measurement:
    return evaluate(Check(scorer=name, params=params), *both)


def values(both: tuple[Case, Output], /, **params: Any) -> dict[str, float | None]:
    return {name: measure(f"tool_{name}", both, **params).value for name in METRICS[:5]}


# What each one measures


def test_each_metric_sees_its_own_axis() -> None:
    wanted = [call("a", x=1, y=2), call("b"), call("c")]
    made = [call("b"), call("a", x=1, y=3), call("d")]
    assert values(make(wanted, made, "in_order")) == {
        "precision": 1 / 3,  # b
        "recall": 1 / 3,
        "f1": 1 / 3,
        "arguments": (0.5 + 1 + 0) / 3,
        "order": 1 / 3,  # b came before a
    }


@pytest.mark.parametrize("name", METRICS[:5])
def test_empty_sides(name: str) -> None:
    assert measure(f"tool_{name}", make([], [], "in_order")).value == 1.0
    assert measure(f"tool_{name}", make([], [call("f")], "in_order")).value == 0.0
    assert measure(f"tool_{name}", make([call("f")], [], "in_order")).value == 0.0
    nothing = measure(f"tool_{name}", make(None, [call("f")]))
    assert (nothing.status, nothing.value) == ("skipped", None)


def test_repeated_calls_count_each_time() -> None:
    both = make([call("f", x=1)] * 2, [call("f", x=1)] * 3)
    found = values(both)
    assert (found["precision"], found["recall"], found["f1"]) == (2 / 3, 1.0, 0.8)


def test_precision_is_of_the_calls_whatever_the_mode_allows() -> None:
    both = make([call("a")], [call("a"), call("b")], "superset")
    assert measure("tool_use", both).value == 1.0
    assert measure("tool_precision", both).value == 0.5


def test_extra_arguments_lower_agreement_unless_allowed() -> None:
    made = [call("f", x=1, y=2)]
    assert measure("tool_arguments", make([call("f", x=1)], made)).value == 0.5
    allowed = {**call("f", x=1), "extra": "allow"}
    assert measure("tool_arguments", make([allowed], made)).value == 1.0


def test_order_is_of_the_tools_and_needs_a_mode_with_one() -> None:
    both = make([call("a", x=1), call("b"), call("c")], [call("c"), call("a", x=9), call("b")])
    skipped = measure("tool_order", both)
    assert (skipped.status, skipped.reason) == ("skipped", "mode any_order asks for no order")
    assert measure("tool_order", both, value="in_order").value == 2 / 3
    steps = [
        {**call(name), "id": name, "after": [*after]} for name, after in (("a", ""), ("b", "a"))
    ]
    partial = make(steps, [call("b"), call("a")], "partial")
    assert measure("tool_order", partial).value == 0.5


def test_schema_is_of_every_call_made_and_needs_no_expectation() -> None:
    made = [call("f", x=1), call("f", x=10, y=1), call("g"), {"name": "f", "arguments": "{"}]
    found = measure("tool_schema", make(None, made, tools=[TOOL]))
    assert found.value == 0.25
    assert [each["axis"] for each in found.details["mismatches"]] == [
        "schema",
        "unknown_tool",
        "malformed",
    ]
    assert measure("tool_schema", make(None, made)).status == "skipped"
    assert measure("tool_schema", make(None, [], tools=[TOOL])).status == "skipped"
    broken = measure("tool_schema", make(None, made, tools=[{**TOOL, "parameters": {"type": 1}}]))
    assert broken.status == "error"


def test_a_broken_case_is_an_error_of_every_metric_that_reads_it() -> None:
    circle = [{**call(name), "id": name, "after": [after]} for name, after in ("ab", "ba")]
    both = make(circle, [call("a")], "partial")
    for name in METRICS[:5]:
        found = measure(f"tool_{name}", both)
        assert (found.status, found.value) == ("error", None)
        assert "after runs in a circle" in (found.error or "")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("precision", "1 of 2 calls made were expected: g() was called but not expected"),
        ("recall", "1 of 2 expected calls were made: f(x=2) was not called"),
        ("f1", "1 matched of 2 expected and 2 made: f(x=2) was not called"),
        (
            "arguments",
            "arguments agree to 0.5, tools of 1 of 2 expected calls called: f(x=2) was not called",
        ),
        ("order", "1 of 2 expected calls were made in order: f(x=2) was not called"),
        ("schema", "1 of 2 calls made keep to their tools' contracts: g is no tool on offer"),
    ],
)
def test_reasons(name: str, reason: str) -> None:
    wanted, made = [call("f", x=1), call("f", x=2)], [call("f", x=1), call("g")]
    found = measure(f"tool_{name}", make(wanted, made, "in_order", tools=[TOOL]))
    assert found.reason == reason
    assert found.details["matched"] == 1
    right = measure(f"tool_{name}", make(wanted[:1], made[:1], "in_order", tools=[TOOL]))
    assert (right.value, right.status) == (1.0, "passed")
    assert "mismatches" not in right.details


def test_the_threshold_of_graded_metrics() -> None:
    both = make([call("f", x=1), call("g")], [call("f", x=1)])
    assert evaluate(Check.model_validate("tool_recall"), *both).status == "passed"
    strict = Check.model_validate({"tool_recall": {"threshold": 0.8}})
    assert evaluate(strict, *both).status == "failed"


def test_parameters_that_do_not_apply_are_refused() -> None:
    for name, params in (("tool_f1", {"forbidden": ["f"]}), ("tool_schema", {"mode": "strict"})):
        found = evaluate(Check(scorer=name, params=params), *make([], []))
        assert found.status == "error"
    with pytest.raises(ValidationError):
        Check.model_validate({"tool_use": {"max_calls": -1}, "x": 1})


# One comparison


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts comparisons."""
    count = [0]

    def counted(*args: Any) -> Any:
        count[0] += 1
        return compare_calls(*args)

    monkeypatch.setattr(look_module, "compare_calls", counted)
    return count


def test_the_metrics_of_an_output_share_one_comparison(compared: list[int]) -> None:
    both = make([call("f", x=1)], [call("f", x=2)], "in_order", tools=[TOOL])
    for name in ("use", *METRICS):
        measure(f"tool_{name}", both)
    measure("tool_use", both, forbidden=["f"], max_calls=0, schemas=False)
    assert compared == [1]
    measure("tool_f1", both, mode="strict")
    measure("tool_recall", both, mode="strict")
    assert compared == [2]


def test_equal_outputs_are_not_taken_for_the_same() -> None:
    for made, value in ((1, 1.0), (True, 0.0), (1.0, 1.0)):
        assert measure("tool_f1", make([call("f", x=1)], [call("f", x=made)])).value == value


def test_few_outputs_are_kept() -> None:
    case, _ = make([call("f")], [])
    kept: list[weakref.ref[ToolCall]] = []
    for index in range(3 * look_module.KEPT):
        made = ToolCall(name="f", arguments={"x": index})
        kept.append(weakref.ref(made))
        measure("tool_f1", (case, Output(case_id="1", tool_calls=(made,))))
        del made
    gc.collect()
    assert sum(each() is not None for each in kept) <= look_module.KEPT


def test_threads_get_their_own_results() -> None:
    pairs = [make([call("f", x=index)], [call("f", x=index % 3)]) for index in range(30)]

    def value(index: int) -> float | None:
        return measure("tool_f1", pairs[index % 30]).value

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(value, range(600)))
    assert found == [float(index % 30 < 3) for index in range(600)]
