"""Replies of a judge that frameworks take for a pass, and what our hook makes of the same replies."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from native_jobs import switched

from bridge.judge import JudgeError, Reply, Request
from bridge.judge.inquiry import Inquiry
from bridge.judge.wire.reading import read_object

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"

CONTEXT = ["Paris is the capital of France."]


class Scripted:
    """A judge that gives its replies in order, held to their schemas as the client holds them."""

    def __init__(self, replies: Iterable[Any]) -> None:
        self._replies = iter(replies)

    def ask(self, request: Request) -> Reply:
        text = json.dumps(next(self._replies))
        return Reply(text, read_object(text, request.schema or {}))


@pytest.mark.parametrize(
    "verdicts", [{"foo": 1}, {"verdicts": []}, {"verdicts": [{"verdict": "maybe"}]}]
)
def test_verdicts_that_deepeval_does_not_miss(verdicts: Any) -> None:
    from deepeval.metrics import FaithfulnessMetric
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase

    from bridge_deepeval.judge import BridgeModel

    replies = [{"truths": CONTEXT}, {"claims": ["Rome is."]}, verdicts]
    said = iter(replies)

    class Loose(DeepEvalBaseLLM):  # type: ignore[no-untyped-call]
        def load_model(self, *_: Any, **__: Any) -> Any:
            return self

        def get_model_name(self, *_: Any, **__: Any) -> str:
            return "loose"

        def generate(self, *_: Any, **__: Any) -> str:
            return json.dumps(next(said))

        async def a_generate(self, *_: Any, **__: Any) -> str:
            return self.generate()

    case = LLMTestCase(input="q", actual_output="Rome is.", retrieval_context=[*CONTEXT])
    options: dict[str, Any] = {"include_reason": False, "async_mode": False}
    loose = FaithfulnessMetric(model=Loose(), **options)
    assert loose.measure(case, _show_indicator=False) == 1.0
    assert loose.is_successful()
    held = FaithfulnessMetric(model=BridgeModel(Inquiry(Scripted(replies))), **options)
    with pytest.raises(JudgeError, match=r"judge_error\[schema\]"):
        held.measure(case, _show_indicator=False)


def test_verdicts_out_of_bounds_that_ragas_adds_up(tmp_path: Path) -> None:
    with switched("ragas", tmp_path):
        from ragas.llms.base import InstructorBaseRagasLLM
        from ragas.metrics.collections import ContextRecall

        from bridge_ragas.judge import BridgeLLM

        reply = {"classifications": [{"statement": "s", "reason": "r", "attributed": 7}]}

        class Loose(InstructorBaseRagasLLM):
            def generate(self, prompt: str, response_model: Any) -> Any:
                return response_model.model_validate(reply)

            async def agenerate(self, prompt: str, response_model: Any) -> Any:
                return self.generate(prompt, response_model)

        columns: dict[str, Any] = {
            "user_input": "q",
            "reference": "s",
            "retrieved_contexts": CONTEXT,
        }
        loose = asyncio.run(ContextRecall(llm=Loose()).ascore(**columns))
        assert loose.value == 7.0
        llm: Any = BridgeLLM(Inquiry(Scripted([reply])))
        with pytest.raises(JudgeError, match=r"judge_error\[schema\]"):
            asyncio.run(ContextRecall(llm=llm).ascore(**columns))
