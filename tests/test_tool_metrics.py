"""The graded tool metrics, the policies of ``tool_use``, and the comparison they share."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import ValidationError

from bridge.model import Case, Check, Measurement, Output, ToolCall
from bridge.scorers import expected_rows
from bridge.scorers.evaluate import evaluate
from bridge.scorers.tool_use import look as look_module

METRICS = ("precision", "recall", "f1", "arguments", "order", "schema")
TOOL = {"name": "f", "parameters": {"properties": {"x": {"type": "integer", "maximum": 9}}}}


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def failed(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {**call(name, **arguments), "error": "HTTP 503"}


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


# Policies


def axes(found: Measurement) -> dict[str, int]:
    return dict(found.details["counts"])


def test_a_forbidden_call_fails_even_where_others_are_allowed() -> None:
    both = make([call("read")], [call("read"), call("delete", id=1)], "superset")
    assert measure("tool_use", both).value == 1.0
    found = measure("tool_use", both, forbidden=["delete"])
    assert (found.value, axes(found)) == (0.0, {"forbidden": 1, "extra": 1})
    assert found.reason == "delete(id=1) is forbidden"


def test_a_call_may_be_forbidden_by_its_arguments() -> None:
    rule = {"name": "pay", "arguments": {"to": {"$one_of": ["mallory", "eve"]}}}
    for to, value in (("eve", 0.0), ("alice", 1.0)):
        both = make(None, [call("pay", to=to, amount=1)])
        assert measure("tool_use", both, forbidden=[rule]).value == value
    only = {**rule, "extra": "forbid"}
    assert measure("tool_use", make(None, [call("pay", to="eve", n=1)]), forbidden=[only]).value


def test_a_forbidden_tool_is_forbidden_with_broken_arguments_too() -> None:
    both = make(None, [{"name": "delete", "arguments": "{"}])
    found = measure("tool_use", both, forbidden=["delete"])
    assert axes(found) == {"forbidden": 1, "malformed": 1}


def test_policies_need_no_expected_calls() -> None:
    both = make(None, [call("f"), call("g")])
    assert measure("tool_use", both).status == "skipped"
    found = measure("tool_use", both, forbidden=["h"])
    assert (found.value, found.reason) == (1.0, "2 calls made, each of them allowed")
    assert "recall" not in found.details


def test_the_number_of_calls_is_limited() -> None:
    both = make([call("f")], [call("f"), call("g"), call("h")], "superset")
    assert measure("tool_use", both, max_calls=3).value == 1.0
    found = measure("tool_use", both, max_calls=2)
    assert (found.value, axes(found)) == (0.0, {"calls": 1, "extra": 2})
    assert found.reason == "3 calls were made, 2 are allowed"


def test_repeated_calls_are_limited() -> None:
    made = [call("f", x=1), call("f", x=True), call("f", x=1.0), call("f", x=1)]
    assert measure("tool_use", make(None, made), max_duplicates=2).value == 1.0
    found = measure("tool_use", make(None, made), max_duplicates=1)
    assert axes(found) == {"duplicate": 1}
    assert found.details["mismatches"][0]["call"] == 3
    assert found.reason == "f(x=1) was made again, which is allowed 1 time"


def test_a_retry_is_no_repeated_call() -> None:
    made = [failed("f"), failed("f"), call("f")]
    assert measure("tool_use", make(None, made), max_duplicates=0).value == 1.0
    assert measure("tool_use", make(None, [*made, call("f")]), max_duplicates=0).value == 0.0


def test_calls_whose_tool_failed() -> None:
    retried = make([call("f")], [failed("f"), call("g"), call("f")], "superset")
    never = make([call("f")], [failed("f")])
    for policy, values in (("count", (1.0, 1.0)), ("ignore", (1.0, 0.0)), ("forbid", (0.0, 0.0))):
        found = [measure("tool_use", both, failed_calls=policy) for both in (retried, never)]
        assert tuple(each.value for each in found) == values
        assert [each.details["tool_errors"] for each in found] == [[0], [0]]
    left_out = measure("tool_use", retried, failed_calls="ignore")
    assert left_out.details["matching"] == [[0, 2]]
    assert measure("tool_precision", retried, failed_calls="ignore").value == 0.5
    faulty = measure("tool_use", never, failed_calls="forbid")
    assert faulty.reason == 'f failed: "HTTP 503"'


def test_places_are_those_of_all_calls_where_failed_ones_are_left_out() -> None:
    both = make([call("f", x=1)], [failed("g"), call("f", x=2), call("h")])
    found = measure("tool_use", both, failed_calls="ignore")
    assert [each["call"] for each in found.details["mismatches"]] == [1, 2]


def test_an_expected_result_is_compared() -> None:
    wanted = [{**call("f"), "result": {"$contains": {"status": "sent"}}}]
    for result, value in (({"status": "sent", "id": 7}, 1.0), ({"status": "queued"}, 0.0)):
        both = make(wanted, [{**call("f"), "result": result}])
        found = measure("tool_use", both)
        assert found.value == value
        assert measure("tool_arguments", both).value == 1.0
        assert measure("tool_recall", both).value == value
    assert axes(found) == {"wrong_result": 1}
    assert found.reason == (
        'f: it returned {"status": "queued"}, expected {"$contains": {"status": "sent"}}'
    )


def test_results_tell_calls_apart() -> None:
    wanted = [{**call("f"), "result": each} for each in (1, 2)]
    made = [{**call("f"), "result": each} for each in (2, 1)]
    for mode in ("any_order", "partial"):
        found = measure("tool_use", make(wanted, made, mode))
        assert (found.value, found.details["matching"]) == (1.0, [[0, 1], [1, 0]])
    assert measure("tool_use", make(wanted, made, "strict")).value == 0.0


# Conversations


def talk() -> tuple[Case, Output]:
    turns = [{"user": "a", "expected_calls": {"calls": [call("f")]}}, {"user": "b"}]
    whole = {"calls": [call("f"), call("g")], "mode": "in_order"}
    case = {"id": "1", "input": "", "expected": "", "turns": turns, "expected_calls": whole}
    answers = [{"tool_calls": [call("g")]}, {"tool_calls": [call("f"), call("g")]}]
    output = {"case_id": "1", "turns": answers, "tool_calls": [call("z")]}
    return Case.model_validate(case), Output.model_validate(output)


def test_a_conversation_is_scored_as_a_whole_where_asked() -> None:
    case, output = talk()
    each = Check.model_validate({"tool_recall": {"metric": "each"}})
    whole = Check.model_validate({"tool_recall": {"metric": "whole", "scope": "conversation"}})
    assert expected_rows([each, whole], case) == [("each", 0), ("each", 1), ("whole", None)]
    assert [evaluate(each, case, output, turn).value for turn in range(2)] == [0.0, None]
    found = evaluate(whole, case, output)
    assert found.value == 1.0
    assert found.details["actual"] == 3
    order = Check.model_validate({"tool_use": {"scope": "conversation", "forbidden": ["z"]}})
    assert evaluate(order, case, output).details["matching"] == [[0, 1], [1, 2]]


def test_scope_makes_no_difference_without_turns() -> None:
    both = make([call("f")], [call("f")])
    assert measure("tool_f1", both, scope="conversation") == measure("tool_f1", both)


# One comparison


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts comparisons."""
    count = [0]
    real = look_module.compare_calls

    def counted(*args: Any) -> Any:
        count[0] += 1
        return real(*args)

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
