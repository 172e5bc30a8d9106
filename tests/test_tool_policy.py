"""What ``tool_use`` asks beside the expected calls, results and failed calls, and conversations."""

from __future__ import annotations

from typing import Any

from test_tool_metrics import TOOL, call, make, measure

from bridge.model import Case, Check, Measurement, Output
from bridge.scorers import expected_rows
from bridge.scorers.evaluate import evaluate


def failed(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {**call(name, **arguments), "error": "HTTP 503"}


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
    broken = make(None, [failed("f", x="1"), call("f", x=1)], tools=[TOOL])
    assert measure("tool_schema", broken).value == 0.5
    assert measure("tool_schema", broken, failed_calls="ignore").value == 1.0
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
    wanted = [{**call("f"), "result": each} for each in ({"$type": "number"}, 1)]
    made = [{**call("f"), "result": each} for each in (1, 2)]
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
