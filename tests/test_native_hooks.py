"""The judge's hooks in the frameworks' own runners, and what they have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Optional

import pytest
from native_jobs import (
    Honest,
    Minimal,
    switched,
)
from native_judge import CASE, OUTPUT
from pydantic import BaseModel

from bridge.judge import JudgeError, Reply, Request, judges_in_force
from bridge.judge.inquiry import Inquiry
from bridge.judge.structured import schema_of
from bridge.judge.wire.reading import read_object
from bridge.model import Case, Output

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*now scores in the same direction:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),
]


def test_deepeval_by_its_own_runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from deepeval.metrics import FaithfulnessMetric
    from deepeval.test_case import LLMTestCase

    from bridge_deepeval.judge import BridgeModel

    case = LLMTestCase(
        input="q", actual_output=OUTPUT["text"], retrieval_context=OUTPUT["retrieved_contexts"]
    )
    for run_async in (False, True):
        metric = FaithfulnessMetric(model=BridgeModel(Inquiry(Honest())), async_mode=run_async)
        assert metric.measure(case, _show_indicator=False) == 0.5
        assert metric.evaluation_model == "bridge/judge"


def test_deepeval_counts_what_a_judge_takes() -> None:
    from deepeval.metrics import GEval
    from deepeval.test_case import LLMTestCase, SingleTurnParams

    from bridge_deepeval.judge import BridgeModel

    metric = GEval(
        "g", [SingleTurnParams.ACTUAL_OUTPUT], criteria="c", model=BridgeModel(Inquiry(Minimal()))
    )
    metric.measure(LLMTestCase(input="q", actual_output="a"), _show_indicator=False)
    assert (metric.evaluation_cost, metric.input_tokens, metric.output_tokens) == (0.5, 20, 10)


def test_inspect_by_its_registry() -> None:
    """``model_graded_qa(model="bridge/main")`` asks the judge in force of that name."""
    import asyncio

    from inspect_ai.model import get_model
    from inspect_ai.scorer import Target, model_graded_qa

    from bridge_inspect.route import to_eval_sample, to_state

    with judges_in_force({"main": Honest()}):
        grader = get_model("bridge/main", memoize=False)
        state = to_state(to_eval_sample(Case.model_validate(CASE), Output.model_validate(OUTPUT)))
        score = asyncio.run(model_graded_qa(model=grader)(state, Target("It names the city.")))
    assert score is not None
    assert (score.value, score.explanation) == ("C", "it names the city\n\nGRADE: C")


@pytest.mark.parametrize("letters", ["CI", "CPI"])
def test_inspect_offers_the_scorers_own_grades(letters: str) -> None:
    """Not those that the answer speaks of."""
    import asyncio

    from inspect_ai.model import ChatMessageUser, GenerateConfig

    from bridge_inspect.judge import BridgeAPI

    judge = Minimal()
    said = f"[Submission]: LETTER is one of C.\n{'LETTER is one of ' + letters}. Please choose"
    api = BridgeAPI("main", inquiry=Inquiry(judge))
    output = asyncio.run(
        api.generate([ChatMessageUser(content=said)], [], "auto", GenerateConfig())
    )
    assert judge.requests[0].schema is not None
    assert judge.requests[0].schema["properties"]["grade"]["enum"] == list(letters)
    assert output.completion == "a text\n\nGRADE: C"
    assert output.usage is not None
    assert output.usage.total_tokens == 15


def test_ragas_by_its_own_runner(tmp_path: Path) -> None:
    """The older API's metrics take the same object."""
    with switched("ragas", tmp_path):
        from ragas import EvaluationDataset, SingleTurnSample, evaluate
        from ragas.metrics._faithfulness import Faithfulness

        from bridge_ragas.judge import BridgeLLM

        sample = SingleTurnSample(
            user_input="q", response=OUTPUT["text"], retrieved_contexts=OUTPUT["retrieved_contexts"]
        )
        llm: Any = BridgeLLM(
            Inquiry(Honest())
        )  # which RAGAS takes, and its annotation does not say
        with pytest.warns(DeprecationWarning, match="evaluate"):
            result: Any = evaluate(
                EvaluationDataset([sample]),
                [Faithfulness()],
                llm=llm,
                show_progress=False,
                allow_nest_asyncio=False,
            )
    assert result["faithfulness"] == [0.5]


# --- what they have in common -----------------------------------------------------------------


class Inner(BaseModel):
    verdict: Literal["yes", "no"]
    reason: Optional[str] = None  # noqa: UP045  # as the frameworks write it


class Outer(BaseModel):
    verdicts: list[Inner]
    score: float


def test_a_frameworks_model_as_a_schema() -> None:
    schema = schema_of(Outer, {"verdicts": {"minItems": 1}, "score": {"maximum": 10}})
    inner = {
        "type": "object",
        "properties": {
            "verdict": {"enum": ["yes", "no"], "type": "string"},
            "reason": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["verdict", "reason"],
        "additionalProperties": False,
    }
    assert schema == {
        "type": "object",
        "properties": {
            "verdicts": {"type": "array", "items": inner, "minItems": 1},
            "score": {"type": "number", "maximum": 10},
        },
        "required": ["verdicts", "score"],
        "additionalProperties": False,
    }
    sparse = '{"verdicts": [{"verdict": "yes"}], "score": 1}'
    read = read_object(sparse, schema)
    assert read["verdicts"] == [{"verdict": "yes", "reason": None}]
    with pytest.raises(JudgeError, match=r"judge_error\[schema\]"):
        read_object('{"verdicts": [{"reason": null}], "score": 1}', schema)


def test_an_inquiry_numbers_repetitions_and_keeps_the_first_failure() -> None:
    judge = Minimal()
    steady, varied = Inquiry(judge), Inquiry(judge, {"a": 1}, vary=True)
    for inquiry in (steady, varied):
        for prompt in ("x", "x", "y"):
            inquiry.ask(prompt)
    assert [request.sample for request in judge.requests] == [0, 0, 0, 0, 1, 0]
    assert judge.requests[-1].tag == {"a": 1}

    class Failing:
        def ask(self, request: Request) -> Reply:
            raise JudgeError("timeout" if request.embeds else "empty", "no")

    broken = Inquiry(Failing())
    for _ in range(2):
        with pytest.raises(JudgeError):
            broken.ask("x")
        with pytest.raises(JudgeError):
            broken.embed(["x"])
    assert broken.failure is not None
    assert broken.failure.kind == "empty"
