"""The shared scorers inside DeepEval: as metrics on anyone's test cases."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge.execution.worker import set_environment
from bridge.model import Check, InputError, Measurement, Score
from bridge.model.score import STATUSES, VALUED
from bridge.plugin.scoring.shared import SharedMetric
from bridge.scorers.registry import BUILT_IN
from bridge_deepeval.info import INFO
from bridge_deepeval.rows import read_score

pytest.importorskip("deepeval")

KEY = {"framework": "deepeval", "system": "s", "case_id": "c", "epoch": 1}


@pytest.fixture(scope="module", autouse=True)
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """DeepEval's switches as in a worker, and a HOME and a folder of its own."""
    folder = tmp_path_factory.mktemp("deepeval")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.chdir(folder)
        for name, _ in INFO.environment:
            patch.delenv(name, raising=False)
        set_environment(INFO, folder)
        yield folder


def ordinary_case(text: str, expected: str = "42", **more: Any) -> Any:
    """Someone else's test case, which carries nothing of ours."""
    from deepeval.test_case import LLMTestCase

    return LLMTestCase(input="q", actual_output=text, expected_output=expected, **more)


def test_every_scorer_is_there() -> None:
    from bridge_deepeval.scorers import SCORERS

    assert list(SCORERS) == list(BUILT_IN)


@pytest.mark.parametrize(
    ("name", "params", "text", "value"),
    [
        ("equals", {}, "42", 1.0),
        ("equals", {}, "41", 0.0),
        ("contains", {"value": "4", "negate": True, "metric": "free"}, "42", 0.0),
        ("regex", {"pattern": "^4", "metric": "starts"}, "42", 1.0),
        ("is_json", {}, "{", 0.0),
        ("tool_use", {}, "42", None),
        ("injection", {"expect": "benign"}, "42", 1.0),
    ],
)
def test_metrics_work_on_an_ordinary_test_case(
    name: str, params: dict[str, Any], text: str, value: float | None
) -> None:
    from bridge_deepeval.scorers import SCORERS

    metric = SCORERS[name](**params)
    assert metric.measure(ordinary_case(text)) == value
    assert metric.__name__ == params.get("metric", name)
    assert metric.is_successful() is (None if value is None else value == 1.0)
    assert metric.reason
    assert asyncio.run(metric.a_measure(ordinary_case(text))) == value


def test_native_tool_calls_are_scored() -> None:
    from deepeval.test_case import ToolCall

    from bridge_deepeval.scorers import SCORERS

    expected = [ToolCall(name="f", input_parameters={"x": 1})]
    metric = SCORERS["tool_use"]()
    right = ordinary_case("", tools_called=expected, expected_tools=expected)
    assert metric.measure(right) == 1.0
    wrong = [ToolCall(name="f", input_parameters={"x": 2})]
    assert metric.measure(ordinary_case("", tools_called=wrong, expected_tools=expected)) == 0.0
    assert metric.success is False


def test_assert_test_takes_a_metric_of_ours() -> None:
    from deepeval.evaluate import assert_test

    from bridge_deepeval.scorers import SCORERS

    metrics: list[Any] = [SCORERS["equals"]()]
    assert_test(ordinary_case("42"), metrics, run_async=False)
    with pytest.raises(AssertionError, match="equals"):
        assert_test(ordinary_case("41"), metrics, run_async=False)


def test_a_conversation_is_scored_turn_by_turn() -> None:
    from deepeval.test_case import ConversationalTestCase, Turn

    from bridge_deepeval.scorers import SCORERS

    talk = ConversationalTestCase(
        turns=[
            Turn(role="user", content="one?"),
            Turn(role="assistant", content="1"),
            Turn(role="user", content="two?"),
            Turn(role="assistant", content="no"),
        ]
    )
    metric = SCORERS["regex"](pattern="[0-9]", conversational=True)
    assert metric.measure(talk) == 0.5
    assert metric.success is False
    assert metric.reason == "turn 0: matches at 0; turn 1: does not match [0-9]"


def test_wrong_parameters_are_refused_when_the_metric_is_made() -> None:
    from bridge_deepeval.scorers import SCORERS

    with pytest.raises(InputError, match="vale: unknown key"):
        SCORERS["equals"](vale="x")


def test_a_test_case_that_cannot_be_read_is_an_error_not_a_crash() -> None:
    from bridge_deepeval.scorers import SCORERS

    metric = SCORERS["equals"]()
    assert metric.measure(ordinary_case("42", metadata={"bridge": {"case": {"turns": 7}}})) is None
    assert metric.success is False
    assert "the native case cannot be read" in str(metric.error)


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_survives_the_native_result(status: Any) -> None:
    from deepeval.evaluate.utils import create_metric_data

    from bridge_deepeval.scorers import SCORERS

    value = 0.25 if status in VALUED else None
    error = "why" if status == "error" else None
    found = Measurement(
        metric="m", value=value, status=status, reason="so", error=error, details={"a": [None]}
    )
    check = Check.model_validate({"equals": {"metric": "m", "weight": 3, "threshold": 0.5}})
    metric: Any = SCORERS["equals"](metric="m")
    metric._take(((check, found),))
    native = create_metric_data(metric)
    assert native.threshold == 0.5
    (row,) = read_score(native, KEY)
    expected = {**KEY, "scorer": "equals", "scorer_version": "1", "threshold": 0.5, "weight": 3}
    assert row == Score.model_validate({**expected, **found.model_dump()})


def test_a_metric_that_a_case_has_not_says_so_to_deepeval() -> None:
    from deepeval.errors import MissingTestCaseParamsError

    from bridge_deepeval.scorers import to_metric

    metric = to_metric(SharedMetric("own", "regex"), conversational=False)
    with pytest.raises(MissingTestCaseParamsError):
        metric.measure(ordinary_case("42"))
