"""DeepEval's metrics without a model and ours, on one table of tricky answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from pydantic import BaseModel

from bridge.execution.worker import set_environment
from bridge.model import Case, Check, Output
from bridge.scorers import evaluate, validate_check
from bridge_deepeval.info import INFO


@pytest.fixture(scope="module", autouse=True)
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """DeepEval's switches as in a worker, and a HOME and a folder of its own."""
    folder = tmp_path_factory.mktemp("deepeval")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.chdir(folder)
        for name, _ in INFO.environment:
            patch.delenv(name, raising=False)
        set_environment(INFO, folder)
        yield


TEXTS = [
    "Paris",
    "paris",
    " Paris ",
    "Paris.",
    "The cat sat on the mat.",
    "x",
    "👍🏽 ok",
    "Straße",
    "5",
    "5.0",
    "null",
    "line one\nline two",
]


def ours(written: Any, text: Any, reference: Any) -> float | None:
    check = Check.model_validate(written)
    validate_check(check)
    case, output = Case(id="a", input="q", expected=reference), Output(case_id="a", text=text)
    found = evaluate(check, case, output)
    assert found.error is None
    return found.value


def theirs(metric: Any, text: str, expected: str) -> float:
    from deepeval.test_case import LLMTestCase

    case = LLMTestCase(input="q", actual_output=text, expected_output=expected)
    return float(metric.measure(case, _show_indicator=False))


def test_exact_match_agrees() -> None:
    from deepeval.metrics import ExactMatchMetric

    for text in TEXTS:
        for expected in TEXTS:
            assert ours("equals", text, expected) == theirs(ExactMatchMetric(), text, expected)


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("pattern", ["paris", r"[A-Za-z ]+\.?", r"\d(\.\d)?", ".*", r"(?s).*"])
def test_pattern_match_agrees(pattern: str, ignore_case: bool) -> None:
    from deepeval.metrics import PatternMatchMetric

    params = {"pattern": pattern, "ignore_case": ignore_case, "full": True, "strip": True}
    metric = PatternMatchMetric(pattern=pattern, ignore_case=ignore_case)
    for text in TEXTS:
        assert ours({"regex": params}, text, "") == theirs(metric, text, "-"), text


ABSTRACT = ("load_model", "generate", "a_generate", "get_model_name")


class Answer(BaseModel):
    name: str
    n: int = 0


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ('{"name": "x"}', True),
        ('{"name": "x", "n": 2}', True),
        ('{"name": "x", "n": "two"}', True),
        ('{"n": 2}', True),
        ("[]", True),
        ("no json", True),
        ('{"name": 5}', True),
        ('{"name": "x", "n": "2"}', False),  # pydantic coerces
    ],
)
def test_json_correctness_agrees(text: str, same: bool) -> None:
    from deepeval.metrics import JsonCorrectnessMetric
    from deepeval.models import DeepEvalBaseLLM

    # a model that the metric wants to be given and never asks
    silent = type("Silent", (DeepEvalBaseLLM,), dict.fromkeys(ABSTRACT, lambda *_: "silent"))
    metric = JsonCorrectnessMetric(
        expected_schema=cast("Any", Answer), model=silent(), include_reason=False, async_mode=False
    )
    value = ours({"is_json": {"schema": Answer.model_json_schema()}}, text, "")
    assert (value == theirs(metric, text, "-")) is same
