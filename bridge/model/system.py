"""The system under evaluation: where a suite's outputs come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from bridge.model.spelling import AlsoAlone, AlsoWritten
from bridge.model.values import (
    EMPTY,
    Json,
    JsonObject,
    Keyed,
    Model,
    Name,
    Number,
    Text,
    Whole,
)

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"

URL = "^https?://"
Url = Annotated[Text, Field(pattern=URL)]
"""Where a server is."""

POINTER = "^(/([^/~]|~[01])*)*$"
Pointer = Annotated[Text, Field(pattern=POINTER)]
"""A JSON Pointer (RFC 6901); ``""`` is the whole document."""

Retries = Annotated[Whole, Field(ge=0, le=10)]
"""How often a call is made again after a refused or broken connection, or a reply 408, 409, 429 or
5xx. A call that timed out is not: the system may have acted on it."""


class Secret(Model):
    """A value from the environment, named and never written: ``{env: BOT_KEY, prefix: "Bearer "}``.

    Attributes:
        env: Environment variable that holds it.
        prefix: What stands before it.
    """

    env: Name
    prefix: Text = ""


class AnswerPointers(Model):
    """Where the parts of an answer are in a JSON reply, as JSON Pointers (RFC 6901).

    Only ``text`` must be there; it may also be written alone, in place of the mapping.

    Attributes:
        text: The answer.
        tool_calls: Calls, in any usual shape.
        retrieved_contexts: Passages, as texts or ``{text, id, source, score}``.
        model: Model that answered.
        cost_usd: US dollars.
        input_tokens: Tokens read.
        output_tokens: Tokens written.
    """

    text: Pointer
    tool_calls: Pointer | None = None
    retrieved_contexts: Pointer | None = None
    model: Pointer | None = None
    cost_usd: Pointer | None = None
    input_tokens: Pointer | None = None
    output_tokens: Pointer | None = None


def _text_pointer(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


class HttpConfig(Model):
    """A system behind HTTP, asked with one request a turn; a bare URL is its ``url``.

    ``{{name}}`` in ``body`` and ``query`` stands for ``input`` (what is asked now), ``messages``
    (the whole history), ``id``, ``epoch``, ``turn`` (0-based), ``tools``, ``metadata`` or a name in
    the case's ``vars``. A text that is nothing but ``{{name}}`` becomes the value itself, whatever
    its type; inside a longer text it becomes text.

    Attributes:
        url: Where requests go; not a template.
        method: HTTP method; with ``GET`` there is no body.
        headers: Each a text or, for what must not be written, ``{env: NAME, prefix: TEXT}``.
        query: Parameters added to the URL.
        body: JSON to send; ``{"input": "{{input}}", "messages": "{{messages}}"}`` by default.
        answer: Where the answer is in a JSON reply. Without it, a reply is a text (``text/plain``,
            or a JSON string) or an object with the fields of an output.
        retries: How often a failed request is made again.
    """

    url: Url
    method: Literal["GET", "POST", "PUT", "PATCH"] = "POST"
    headers: Keyed[Name, Text | Secret] = EMPTY
    query: Keyed[Name, Text] = EMPTY
    body: Json = None
    answer: Annotated[
        AnswerPointers | None,
        BeforeValidator(_text_pointer),
        AlsoWritten(({"type": "string", "pattern": POINTER},)),
    ] = None
    retries: Retries = 2


def _url(value: Any) -> Any:
    return {"url": value} if isinstance(value, str) else value


class ChatConfig(Model):
    """An OpenAI-compatible chat endpoint (``POST base_url/chat/completions``).

    Attributes:
        model: Model to ask.
        base_url: Where it is; OpenAI's own by default.
        api_key_env: Environment variable with the key; ``OPENAI_API_KEY`` for OpenAI's own
            endpoint, none elsewhere.
        system_prompt: Sent first, if any.
        temperature: Sampling temperature.
        seed: Sampling seed.
        options: Further fields of the request, such as ``max_tokens`` or ``tool_choice``.
        retries: How often a failed request is made again.
    """

    model: Name
    base_url: Url | None = None
    api_key_env: Name | None = None
    system_prompt: Text | None = None
    temperature: Number | None = Field(default=None, ge=0)
    seed: Whole | None = None
    options: JsonObject = EMPTY
    retries: Retries = 2

    @property
    def url(self) -> str:
        """Where requests go."""
        return f"{(self.base_url or OPENAI).rstrip('/')}/chat/completions"

    @property
    def key(self) -> str | None:
        """Environment variable with the key, if one is sent."""
        return self.api_key_env or (OPENAI_KEY if self.base_url is None else None)


_NOT_GIVEN: dict[str, dict[str, Any]] = {
    "recorded": {"type": "array", "maxItems": 0},
    "python": {"type": "null"},
    "http": {"type": "null"},
    "command": {"type": "array", "maxItems": 0},
    "openai": {"type": "null"},
}
"""The kinds of system, each with the JSON Schema of its being left out."""


def _one_kind(schema: dict[str, Any]) -> None:
    schema["oneOf"] = [
        {"required": [key], "properties": {key: {"not": left_out}}}
        for key, left_out in _NOT_GIVEN.items()
    ]
    schema["if"] = schema["oneOf"][0]
    schema["then"] = {"properties": {"prefilter": {"const": "off"}, "tools": {"type": "null"}}}


class SystemConfig(Model):
    """Where outputs come from: exactly one of the kinds ``recorded`` to ``openai``.

    Attributes:
        recorded: Outputs files (JSONL), relative to the suite.
        python: ``module:attribute``, imported with the suite's folder on the path: a function
            called with a case's input, or an agent with ``respond(messages, tools)``.
        http: A system behind HTTP.
        command: A program and its arguments, started once a turn in the suite's folder: the case
            as JSON on its standard input, the answer on its standard output.
        openai: An OpenAI-compatible chat endpoint.
        name: Name of the system in every row.
        concurrency: Calls at a time.
        timeout_s: Seconds one call may take.
        tools: ``module:function``, called with a tool's name and arguments; runs the calls that
            the system leaves open, whose results it then answers on.
        max_steps: Most answers of the system to one user turn, tool results included.
        on_turn_error: Whether a conversation goes on after a turn that failed.
        prefilter: What the injection scanner does before the system sees a user turn: ``flag``
            records what it found, ``block`` also keeps what it would block from the system.
    """

    model_config = ConfigDict(json_schema_extra=_one_kind)

    recorded: Annotated[tuple[Name, ...], AlsoAlone()] = ()
    python: Name | None = None
    http: Annotated[
        HttpConfig | None,
        BeforeValidator(_url),
        AlsoWritten(({"type": "string", "pattern": URL},)),
    ] = None
    command: tuple[Text, ...] = ()
    openai: ChatConfig | None = None
    name: Name = "default"
    concurrency: Whole = Field(default=1, ge=1)
    timeout_s: Number = Field(default=60.0, gt=0)
    tools: Name | None = None
    max_steps: Whole = Field(default=10, ge=1)
    on_turn_error: Literal["stop", "continue"] = "stop"
    prefilter: Literal["off", "flag", "block"] = "off"

    @model_validator(mode="before")
    @classmethod
    def _one_path_is_a_list(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("recorded"), str | int):
            return {**data, "recorded": [data["recorded"]]}
        return data

    @model_validator(mode="after")
    def _exactly_one_kind(self) -> SystemConfig:
        if sum(bool(getattr(self, kind)) for kind in _NOT_GIVEN) != 1:
            raise ValueError(f"a system is exactly one of {', '.join(_NOT_GIVEN)}")
        if self.recorded and (self.prefilter != "off" or self.tools is not None):
            raise ValueError("recorded outputs ask nobody: leave out prefilter and tools")
        return self
