"""The records of an Inspect log, as far as they are read; everything else in a log is skipped.

They have the attributes of Inspect's own objects, so that one reader serves both.
"""

from __future__ import annotations

from typing import Any

import msgspec

ATTACHMENT = "attachment://"
"""What stands, with a hash after it, in place of a long text kept in ``attachments``."""

SCORES = ("scores", "score")


class Part(msgspec.Struct):
    """One part of a message's content."""

    type: str = ""
    text: str = ""


class ToolError(msgspec.Struct):
    """Why a tool call failed."""

    message: str = ""


class Call(msgspec.Struct):
    """A tool call of an assistant message."""

    id: str = ""
    function: Any = ""
    arguments: Any = msgspec.field(default_factory=dict)
    parse_error: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.function, dict):  # OpenAI's shape, in early logs
            self.arguments = self.function.get("arguments", {})
            self.function = self.function.get("name", "")


class ChatMessage(msgspec.Struct):
    """A message of any role."""

    role: str
    content: str | list[Part] = ""
    tool_calls: list[Call] | None = None
    tool_call_id: Any = None
    function: str | None = None
    error: ToolError | None = None


class Choice(msgspec.Struct):
    """One completion."""

    message: ChatMessage
    stop_reason: str | None = None


class Usage(msgspec.Struct):
    """Tokens, and their cost where Inspect knew the prices."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_cost: float | None = None


class Completion(msgspec.Struct):
    """What the model gave."""

    model: str = ""
    choices: list[Choice] = msgspec.field(default_factory=list)
    completion: str | None = None
    usage: Usage | None = None
    time: float | None = None
    error: str | None = None


class Score(msgspec.Struct):
    """What one scorer said of one sample."""

    value: Any = None
    answer: Any = None
    explanation: str | None = None
    reason: str | None = None
    metadata: dict[str, Any] | None = None


class Failure(msgspec.Struct):
    """What ended a sample or a whole run."""

    message: str = ""


class Sample(msgspec.Struct):
    """One sample in one epoch."""

    id: int | str
    epoch: int = 1
    input: str | list[ChatMessage] = ""
    target: Any = ""
    choices: list[str] | None = None
    messages: list[ChatMessage] = msgspec.field(default_factory=list)
    output: Completion = msgspec.field(default_factory=Completion)
    scores: dict[str, Score] | None = None
    score: Score | None = None
    metadata: dict[str, Any] | None = None
    error: Failure | None = None
    limit: Any = None
    error_retries: list[Any] | None = None
    attachments: dict[str, Any] | None = None


class Dataset(msgspec.Struct):
    """What the run was to go through."""

    samples: int | None = None
    sample_ids: list[int | str] | None = None


class Config(msgspec.Struct):
    """How often each sample was to be run."""

    epochs: int | None = None


class Scorer(msgspec.Struct):
    """A scorer of the run, with its arguments."""

    name: str = ""
    options: dict[str, Any] | None = None


class Spec(msgspec.Struct):
    """What was run."""

    task: str = ""
    task_id: str = ""
    created: str = ""
    model: str = ""
    dataset: Dataset = msgspec.field(default_factory=Dataset)
    config: Config = msgspec.field(default_factory=Config)
    packages: dict[str, Any] = msgspec.field(default_factory=dict)
    metadata: dict[str, Any] | None = None
    scorers: list[Scorer] | None = None


class Metric(msgspec.Struct):
    """An aggregate in the head of a log."""

    value: Any = None


class Result(msgspec.Struct):
    """The aggregates of one score."""

    name: str = ""
    reducer: str | None = None
    metrics: dict[str, Metric] = msgspec.field(default_factory=dict)


class Results(msgspec.Struct):
    """The aggregates of a run; ``scorer`` and ``metrics`` are those of log version 1."""

    total_samples: int | None = None
    scores: list[Result] | None = None
    scorer: Any = None
    metrics: dict[str, Metric] | None = None


class Log(msgspec.Struct):
    """A log: its head, and in ``.json`` logs its samples."""

    version: int = 1
    status: str = "started"
    eval: Spec = msgspec.field(default_factory=Spec)
    results: Results | None = None
    error: Failure | None = None
    samples: Any = None


CONTENT = ("input", "target", "choices", "messages", "output", "metadata")
"""The fields of a sample that are read as case and output."""


def resolved(sample: Sample) -> Sample:
    """A sample with its attachments in their places, wherever case and output are read from."""
    if sample.attachments:
        for name in CONTENT:
            setattr(sample, name, _resolve(getattr(sample, name), sample.attachments))
    return sample


def _resolve(value: Any, attachments: dict[str, Any]) -> Any:
    """Put attachments back in their places, in place."""
    if isinstance(value, str):
        found = value.startswith(ATTACHMENT)
        return attachments.get(value.removeprefix(ATTACHMENT), value) if found else value
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            setattr(value, name, _resolve(getattr(value, name), attachments))
    elif isinstance(value, dict):
        for name, item in value.items():
            value[name] = _resolve(item, attachments)
    elif isinstance(value, list):
        value[:] = [_resolve(item, attachments) for item in value]
    return value
