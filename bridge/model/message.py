"""Messages, tool calls and context passages: what systems say and read."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from bridge.model.spelling import AlsoWritten
from bridge.model.values import EMPTY, Json, JsonObject, Model, Name, Number, Text, Whole

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(Model):
    """A tool call that a system made.

    ``arguments`` is an object, or the raw string where a model wrote something that is no JSON
    object: that is a fault of the model to be scored, not an error of the file.
    """

    name: Text
    arguments: JsonObject | Text = EMPTY
    id: Text | None = None
    result: Json = None
    error: Text | None = None
    extras: JsonObject = EMPTY


class Message(Model):
    """One message of a chat. ``content`` is text, or a list of provider-style parts."""

    role: Role
    content: Annotated[Text | tuple[JsonObject, ...], AlsoWritten(({"type": "null"},))] = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: Text | None = None
    name: Text | None = None
    extras: JsonObject = EMPTY

    @model_validator(mode="before")
    @classmethod
    def _null_content(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("content", "") is None:
            return {**data, "content": ""}
        return data

    @property
    def text(self) -> str:
        """The text of ``content``, its text parts joined by line ends."""
        if isinstance(self.content, str):
            return self.content
        parts = (part.get("text") for part in self.content)
        return "\n".join(part for part in parts if isinstance(part, str))


class Tool(Model):
    """A tool on offer; ``parameters`` is a JSON Schema (2020-12) of its arguments."""

    name: Name
    description: Text = ""
    parameters: JsonObject = EMPTY
    extras: JsonObject = EMPTY


class Passage(Model):
    """A retrieved or reference passage with more than its text."""

    text: Text
    id: Text | None = None
    source: Text | None = None
    score: Number | None = None


def as_text(value: Any) -> str:
    """Text as it is, other JSON as compact JSON: for what holds only text."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def passage_text(passage: Text | Passage) -> str:
    """The text of a passage in either spelling."""
    return passage if isinstance(passage, str) else passage.text


class Usage(Model):
    """Tokens of one answer; ``None`` where the system does not say.

    At most 2**53, the integers that every reader of JSON holds exactly.
    """

    input_tokens: Whole | None = Field(default=None, ge=0, le=2**53)
    output_tokens: Whole | None = Field(default=None, ge=0, le=2**53)
    extras: JsonObject = EMPTY
