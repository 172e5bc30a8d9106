"""Checks on what an answer took."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.model import Case, Check, InputError, Measurement, Output, OutputTurn, Turn
from bridge.scorers import evaluate, expected_rows, validate_check

CASE = Case(id="a", input="q", expected="")


def measure(check: Any, **output: Any) -> Measurement:
    read = Check.model_validate(check)
    validate_check(read)
    return evaluate(read, CASE, Output(case_id="a", **output))


@pytest.mark.parametrize(
    ("actual", "limit", "value"),
    [(0.5, 2, 1.0), (2.0, 2, 1.0), (2.0000001, 2, 0.0), (0.0, 0, 1.0), (0.001, 0, 0.0)],
)
def test_within_a_limit(actual: float, limit: float, value: float) -> None:
    for scorer, field in (("latency", "latency_s"), ("cost", "cost_usd")):
        for params in (limit, {"max": limit}):
            found = measure({scorer: params}, **{field: actual})
            assert found.value == value
            assert found.status == ("passed" if value else "failed")
            assert found.details == {scorer: actual, "max": limit}


def test_reasons() -> None:
    assert measure({"latency": 2}, latency_s=3.5).reason == "latency 3.5 s, over 2 s"
    assert measure({"cost": 0.5}, cost_usd=0.25).reason == "cost 0.25 USD, within 0.5 USD"


@pytest.mark.parametrize("scorer", ["latency", "cost"])
def test_what_was_not_recorded_is_an_error(scorer: str) -> None:
    found = measure({scorer: {"max": 1, "negate": True}})
    assert (found.status, found.value) == ("error", None)
    assert f"records no {scorer}" in (found.error or "")


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("latency", "check latency: max: is missing"),
        ({"latency": -1}, "max: should be greater than or equal to 0, not -1"),
        ({"cost": "1"}, 'check cost: max: should be a number, not "1"'),
        ({"cost": True}, "max: should be a number, not true"),
        ({"cost": {"max": 1, "value": 2}}, "value: unknown key"),
    ],
)
def test_faulty_parameters(check: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        validate_check(Check.model_validate(check))
    assert message in str(caught.value)


def test_a_conversation_is_measured_as_a_whole() -> None:
    case = CASE.model_copy(update={"turns": (Turn(user="u"), Turn(user="v"))})
    check = Check.model_validate({"latency": 3})
    assert expected_rows([check], case) == [("latency", None)]
    turns = (OutputTurn(latency_s=2.0), OutputTurn(latency_s=2.0))
    found = evaluate(check, case, Output(case_id="a", turns=turns, latency_s=4.0))
    assert (found.value, found.turn) == (0.0, None)


@pytest.mark.parametrize(
    ("params", "usage", "value"),
    [
        (100, (60, 40), 1.0),
        (99, (60, 40), 0.0),
        ({"max": 60, "of": "input"}, (60, 400), 1.0),
        ({"max": 60, "of": "output"}, (60, 61), 0.0),
        ({"max": 60, "of": "output"}, (None, 60), 1.0),
    ],
)
def test_tokens(params: Any, usage: tuple[int | None, int], value: float) -> None:
    recorded = {"input_tokens": usage[0], "output_tokens": usage[1]}
    assert measure({"tokens": params}, usage=recorded).value == value


@pytest.mark.parametrize("usage", [None, {"output_tokens": 5}])
def test_tokens_that_are_not_recorded_are_an_error(usage: Any) -> None:
    assert measure({"tokens": 10}, usage=usage).error == "ValueError: the output records no tokens"


def test_finish_reason() -> None:
    assert measure({"finish_reason": "stop"}, stop_reason="STOP").value == 1.0
    assert measure({"finish_reason": "stop"}, stop_reason="length").value == 0.0
    for negate in (False, True):  # unknown is never a pass
        found = measure({"finish_reason": {"value": "stop", "negate": negate}})
        assert found.error == "ValueError: the output records no stop reason"
