"""The judge as an Inspect model: ``get_model("bridge/<judge>")`` names one of the suite's judges.

The grading scorers read a letter at the end of free text. The judge is held to a schema with that
letter, and its reply is spelled as they read it: no grade is lost to a model's wording.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)

from bridge.judge.exchange import Reply
from bridge.judge.inquiry import Inquiry
from bridge.judge.session import judge_in_force

_OFFERED = re.compile(r"LETTER is one of ([CPI]+)\b")
"""How the grading scorers say which grades there are."""


class BridgeAPI(ModelAPI):
    """A judge behind Inspect's model-graded scorers.

    Args:
        model_name: The judge's name in the suite.
        base_url: Not used: the suite says where the judge is.
        api_key: Not used.
        config: Not used but for what Inspect records.
        inquiry: How the judge is asked; the judge in force of that name without one.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        inquiry: Inquiry | None = None,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        self.inquiry = inquiry or Inquiry(judge_in_force(model_name))

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  # the base class's name
        tools: Any,
        tool_choice: Any,
        config: GenerateConfig,
    ) -> ModelOutput:
        """The judge's reply.

        Raises:
            JudgeError: If there is none.
        """
        del tools, tool_choice
        messages = [{"role": each.role, "content": each.text} for each in input]
        letters = _letters(input)
        schema = _given_schema(config) if letters is None else grade_schema(letters)
        reply = await asyncio.to_thread(self.inquiry.ask, messages, schema)
        return self._output(reply, _spelled(reply) if letters else reply.text)

    def _output(self, reply: Reply, text: str) -> ModelOutput:
        read, written = reply.input_tokens or 0, reply.output_tokens or 0
        return ModelOutput(
            model=self.model_name,
            choices=[ChatCompletionChoice(message=ChatMessageAssistant(content=text))],
            usage=ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written),
        )

    def should_retry(self, ex: BaseException) -> bool:
        """Never: the judge's client has asked again where that helps."""
        del ex
        return False


def grade_schema(letters: str) -> dict[str, Any]:
    """JSON Schema of a reply that ends in one of some letters."""
    grade = {"type": "string", "enum": list(letters)}
    return {
        "type": "object",
        "properties": {"reasoning": {"type": "string"}, "grade": grade},
        "required": ["reasoning", "grade"],
        "additionalProperties": False,
    }


def _letters(messages: Sequence[ChatMessage]) -> str | None:
    """The grades that a grading scorer offers; the last to say so is the scorer, not the data."""
    found = _OFFERED.findall(messages[-1].text) if messages else []
    return found[-1] if found else None


def _given_schema(config: GenerateConfig) -> dict[str, Any] | None:
    if config.response_schema is None:
        return None
    found: dict[str, Any] = config.response_schema.json_schema.model_dump(exclude_none=True)
    return found


def _spelled(reply: Reply) -> str:
    data = reply.data or {}
    return f"{data['reasoning']}\n\nGRADE: {data['grade']}"


PROVIDER = "bridge"
"""The name before the judge's, in Inspect's names of models."""


@modelapi(name=PROVIDER)
def bridge() -> type[ModelAPI]:
    """The provider ``bridge`` in Inspect's registry."""
    return BridgeAPI
