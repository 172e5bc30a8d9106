"""The judge as a RAGAS model and as RAGAS embeddings, for both of its APIs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from ragas.embeddings.base import BaseRagasEmbedding
from ragas.llms.base import InstructorBaseRagasLLM

from bridge.judge.errors import JudgeError
from bridge.judge.inquiry import Inquiry
from bridge.judge.structured import Bounds, exactly, schema_of

ZERO_OR_ONE = {"enum": [0, 1]}
BOUNDS: Mapping[str, Bounds] = {
    "StatementGeneratorOutput": {"statements": {"minItems": 1}},
    "NLIStatementOutput": {"statements": {"minItems": 1}, "verdict": ZERO_OR_ONE},
    "AnswerRelevanceOutput": {"noncommittal": ZERO_OR_ONE, "question": {"minLength": 1}},
    "ContextPrecisionOutput": {"verdict": ZERO_OR_ONE},
    "ContextRecallOutput": {"classifications": {"minItems": 1}, "attributed": ZERO_OR_ONE},
    "ContextRelevanceOutput": {"rating": {"enum": [0, 1, 2]}},
    "SimpleCriteriaOutput": {"score": {"minimum": 0, "maximum": 10}},
    "RubricScoreOutput": {"score": {"minimum": 1, "maximum": 5}},
    "ExtractedKeyphrases": {"keyphrases": {"minItems": 1}},
    "QuestionsGenerated": {"questions": {"minItems": 1}},
    "AnswersGenerated": {"answers": {"minItems": 1, "items": {"enum": ["0", "1"]}}},
    "TopicExtractionOutput": {"topics": {"minItems": 1}},
    "TopicClassificationOutput": {"classifications": {"minItems": 1}},
}
"""What RAGAS takes without a word, by its reply model: a verdict of 7 is a score of 7 to it."""
_JUDGED = {
    "StatementGeneratorOutput": "statements",
    "QuestionsGenerated": "questions",
    "TopicExtractionOutput": "topics",
}
"""Replies that list what is judged next; of two lists of statements, the answer's comes first."""
_VERDICTS = {
    "NLIStatementOutput": ("statements",),
    "AnswersGenerated": ("answers",),
    "TopicClassificationOutput": ("classifications",),
    "ClassificationWithReason": ("TP", "FP"),
}
"""Replies that hold a verdict on each."""


class BridgeLLM(InstructorBaseRagasLLM):
    """A judge behind RAGAS's metrics: of ``ragas.metrics.collections`` and of ``ragas.evaluate``.

    Args:
        inquiry: How the judge is asked.

    Attributes:
        replies: What the judge replied, in order.
    """

    is_async = True
    """RAGAS's older API reads it."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.inquiry = inquiry
        self.replies: list[BaseModel] = []

    def generate(self, prompt: str, response_model: type[Any]) -> Any:
        """The judge's reply as RAGAS's own model.

        Raises:
            JudgeError: If there is none.
        """
        name = response_model.__name__
        reply = self.inquiry.ask(prompt, schema_of(response_model, self._bounds(name)))
        try:
            found = response_model.model_validate(reply.data)
        except (TypeError, ValueError) as error:
            text = f"the reply is no {name} ({type(error).__name__})"
            raise JudgeError("schema", text) from None
        self.replies.append(found)
        return found

    async def agenerate(self, prompt: str, response_model: type[Any]) -> Any:
        """Like :meth:`generate`."""
        return await asyncio.to_thread(self.generate, prompt, response_model)

    def _bounds(self, name: str) -> Bounds:
        """What RAGAS leaves open, and the number of verdicts: small models lose count."""
        known = BOUNDS.get(name, {})
        lists = _VERDICTS.get(name, ())
        owed, _ = _owed(self.replies)
        if not owed or len(lists) != 1:
            return known
        (single,) = lists
        return {**known, single: {**known.get(single, {}), **exactly(owed)}}


def _owed(replies: Sequence[BaseModel]) -> tuple[int | None, str]:
    """How many verdicts there must be, and on what; ``None`` while that is not known."""
    for reply in replies:
        things = _JUDGED.get(type(reply).__name__)
        if things is not None:
            return len(getattr(reply, things)), things
    return None, ""


def check_counts(replies: Sequence[BaseModel]) -> None:
    """Make sure that a judge gave a verdict on each thing it was to judge, which RAGAS does not.

    Raises:
        JudgeError: Of kind ``schema``, if it did not.
    """
    for place, reply in enumerate(replies):
        lists = _VERDICTS.get(type(reply).__name__)
        if lists is None:
            continue
        owed, things = _owed(replies[:place])
        given = sum(len(getattr(reply, field)) for field in lists)
        if given != owed:
            raise JudgeError("schema", f"the judge gave {given} verdicts on {owed} {things}")


class BridgeEmbeddings(BaseRagasEmbedding):
    """The judge's embeddings behind RAGAS's metrics.

    Args:
        inquiry: How the judge is asked.
    """

    def __init__(self, inquiry: Inquiry) -> None:
        super().__init__()
        self.inquiry = inquiry

    def embed_text(self, text: str, **_: Any) -> list[float]:
        """The vector of one text.

        Raises:
            JudgeError: If there is none.
        """
        return self.inquiry.embed([text])[0]

    def embed_texts(self, texts: list[str], **_: Any) -> list[list[float]]:
        """The vectors of texts, by one request.

        Raises:
            JudgeError: If there are none.
        """
        return self.inquiry.embed(texts)

    async def aembed_text(self, text: str, **_: Any) -> list[float]:
        """Like :meth:`embed_text`."""
        return await asyncio.to_thread(self.embed_text, text)

    async def aembed_texts(self, texts: list[str], **_: Any) -> list[list[float]]:
        """Like :meth:`embed_texts`."""
        return await asyncio.to_thread(self.embed_texts, texts)
