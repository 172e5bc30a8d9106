"""How one server wants to be asked: what it refused once is not sent to it again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from bridge.judge.exchange import Request
from bridge.model.judge import JudgeConfig

Structured = Literal["json_schema", "json_object", "prompt"]

_LESS: Mapping[Structured, Structured] = {"json_schema": "json_object", "json_object": "prompt"}
_ROLE_WORDS = ("system role", "roles must alternate")
_SCHEMA_WORDS = ("response_format", "json_schema", "json_object", "grammar", "structured", "schema")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a server understands.

    Attributes:
        structured: How the schema reaches it.
        fixed: The suite says so: it is not given up.
        tokens: The name of the field with the most tokens of a reply.
        merged: Its chat template knows no system and no two messages of one role in a row
            (Gemma's, Mistral's).
    """

    structured: Structured
    fixed: bool = False
    tokens: str = "max_tokens"
    merged: bool = False

    @classmethod
    def of(cls, config: JudgeConfig) -> Dialect:
        """The dialect to begin with."""
        if config.structured == "auto":
            return cls("json_schema")
        return cls(config.structured, fixed=True)

    def after_refusal(self, said: str, *, with_schema: bool) -> Dialect | None:
        """The dialect to try after a server refused a request; ``None`` if it is not that.

        Args:
            said: The server's words.
            with_schema: Whether the request carried a schema.
        """
        if self.tokens == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, tokens="max_completion_tokens")
        said = said.lower()
        if not self.merged and any(word in said for word in _ROLE_WORDS):
            return replace(self, merged=True)
        less = _LESS.get(self.structured)
        about = any(word in said for word in _SCHEMA_WORDS)
        if self.fixed or not with_schema or less is None or not about:
            return None
        return replace(self, structured=less)

    def body(self, config: JudgeConfig, request: Request) -> dict[str, Any]:
        """The request's body, without the suite's own options."""
        body: dict[str, Any] = {
            "model": config.model,
            "messages": self._messages(request),
            self.tokens: config.max_tokens,
        }
        if config.temperature is not None:
            body["temperature"] = config.temperature
        if config.seed is not None:
            body["seed"] = config.seed
        form = self._response_format(request.schema)
        return body if form is None else {**body, "response_format": form}

    def _messages(self, request: Request) -> Sequence[Mapping[str, str]]:
        messages = [dict(message) for message in request.messages]
        if self.merged:
            messages = _merged(messages)
        if request.schema is None or self.structured == "json_schema":
            return messages
        spelled = json.dumps(request.schema, ensure_ascii=False)
        said = f"Reply with one JSON object and nothing else. It meets this JSON Schema:\n{spelled}"
        messages[-1]["content"] = f"{messages[-1]['content']}\n\n{said}"
        return messages

    def _response_format(self, schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if schema is None or self.structured == "prompt":
            return None
        if self.structured == "json_object":
            return {"type": "json_object"}
        named = {"name": "reply", "schema": dict(schema), "strict": True}
        return {"type": "json_schema", "json_schema": named}


def _merged(messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The same words by users and assistants in turn."""
    found: list[dict[str, str]] = []
    for message in messages:
        role = "user" if message["role"] == "system" else message["role"]
        if found and found[-1]["role"] == role:
            found[-1]["content"] += f"\n\n{message['content']}"
        else:
            found.append({"role": role, "content": message["content"]})
    return found


class Tongue:
    """What one server understands, as far as it has shown.

    Args:
        config: The judge.
    """

    def __init__(self, config: JudgeConfig) -> None:
        self._known = Dialect.of(config)
        self._proved = False
        self._lesser: dict[bytes, Structured] = {}

    def dialect_for(self, request: Request) -> Dialect:
        """The dialect to ask a request in."""
        lesser = self._lesser.get(_spelled(request.schema))
        return self._known if lesser is None else replace(self._known, structured=lesser)

    def understood(self, dialect: Dialect, request: Request) -> None:
        """Keep to a way in which the server has answered.

        A refused schema need not mean that its kind of structured output is not known (llama.cpp's
        converter to grammars refuses some): the kind is given up when it is refused for two
        schemas, and has never worked.
        """
        before = self._known.structured
        if request.schema is None or dialect.structured == before:
            self._known = replace(dialect, structured=before)
            self._proved = self._proved or request.schema is not None
            return
        self._lesser[_spelled(request.schema)] = dialect.structured
        is_given_up = len(self._lesser) > 1 and not self._proved
        self._known = dialect if is_given_up else replace(dialect, structured=before)


def _spelled(schema: Mapping[str, Any] | None) -> bytes:
    return msgspec.json.encode(schema, order="deterministic")
