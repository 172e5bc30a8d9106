"""The judge as a DeepEval model: ``GEval(..., model=to_model(inquiry))``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from deepeval.models import LocalModel
from deepeval.models.base_model import DeepEvalBaseLLM
from deepeval.models.utils import EvaluationCost
from pydantic import BaseModel

from bridge.judge.errors import JudgeError
from bridge.judge.exchange import Reply
from bridge.judge.inquiry import Inquiry
from bridge.judge.structured import Bounds, exactly, schema_of

BOUNDS: Bounds = {
    "verdicts": {"minItems": 1},
    "truths": {"minItems": 1},
    "claims": {"minItems": 1},
    "statements": {"minItems": 1},
    "intentions": {"minItems": 1},
    "questions": {"minItems": 1},
    "answers": {"minItems": 1, "items": {"enum": ["yes", "no", "Yes", "No"]}},
    "steps": {"minItems": 1},
    "score": {"minimum": 0, "maximum": 10},
}
"""What DeepEval takes without a word: no verdicts, no claims and no truths are a pass to it."""
MAY_BE_EMPTY = frozenset({"OutOfCharacterResponseVerdicts"})
"""Replies of which an empty list of verdicts says that nothing was found."""
WHOLE = frozenset({"ReasonScore"})
"""Replies whose score is a whole number, as G-Eval's prompts ask: only of these do the grammars of
llama.cpp keep to the bounds.
"""
FRACTIONS = frozenset({"TaskCompletionVerdict"})
"""Replies whose verdict is a number from 0 to 1."""


class BridgeModel(LocalModel):  # type: ignore[no-untyped-call]
    """A judge behind DeepEval's metrics.

    A subclass of ``LocalModel`` because only what DeepEval takes for its own may return a cost in
    both of its modes.

    Args:
        inquiry: How the judge is asked.
        name: The judge's name, which DeepEval records.

    Attributes:
        owed: By the name of a list in a reply, how many items it must have, where that is known:
            small models lose count.
    """

    def __init__(self, inquiry: Inquiry, name: str = "judge") -> None:
        self.inquiry = inquiry
        self.owed: Callable[[str], int | None] = lambda _: None
        self._named = name
        DeepEvalBaseLLM.__init__(self, name)

    def load_model(self, *_: Any, **__: Any) -> Any:
        """What DeepEval keeps as the model; it calls nothing on it."""
        return self.inquiry

    def get_model_name(self) -> str:
        """The name in DeepEval's records."""
        return f"bridge/{self._named}"

    def generate(  # type: ignore[override]  # what DeepEval takes of its own models
        self, prompt: Any, schema: type[BaseModel] | None = None, audio: Any = None
    ) -> tuple[Any, EvaluationCost]:
        """The judge's reply, as an instance of ``schema`` where there is one, and what it took.

        Raises:
            JudgeError: If there is none.
        """
        if audio:
            raise JudgeError("request", "the judge reads text, and no audio")
        if not isinstance(prompt, str):
            raise JudgeError("request", "the judge reads text, and no images")
        reply = self.inquiry.ask(prompt, None if schema is None else self._schema(schema))
        return (reply.text if schema is None else _read(schema, reply)), _cost(reply)

    async def a_generate(  # type: ignore[override]
        self, prompt: Any, schema: type[BaseModel] | None = None, audio: Any = None
    ) -> tuple[Any, EvaluationCost]:
        """Like :meth:`generate`."""
        return await asyncio.to_thread(self.generate, prompt, schema, audio)

    def _schema(self, model: type[BaseModel]) -> dict[str, Any]:
        bounds = dict(BOUNDS)
        for name in model.model_fields.keys() & bounds.keys():
            if count := self.owed(name):
                bounds[name] = {**bounds[name], **exactly(count)}
        if model.__name__ in MAY_BE_EMPTY:
            del bounds["verdicts"]
        if model.__name__ in WHOLE:
            bounds["score"] = {"type": "integer", **bounds["score"]}
        if model.__name__ in FRACTIONS:
            bounds["verdict"] = {"minimum": 0, "maximum": 1}
        return schema_of(model, bounds)


def _read(model: type[BaseModel], reply: Reply) -> BaseModel:
    """A reply as DeepEval's own model; a TypeError would make DeepEval ask without a schema."""
    try:
        return model.model_validate(reply.data)
    except (TypeError, ValueError) as error:
        text = f"the reply is no {model.__name__} ({type(error).__name__})"
        raise JudgeError("schema", text) from None


def _cost(reply: Reply) -> EvaluationCost:
    return EvaluationCost(reply.cost_usd, reply.input_tokens, reply.output_tokens)
