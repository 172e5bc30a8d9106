"""An output: what a system answered, recorded."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from bridge.model.message import Message, Passage, ToolCall, Usage
from bridge.model.values import (
    EMPTY,
    Flag,
    Json,
    JsonObject,
    Model,
    Name,
    Number,
    Text,
    Whole,
)


def _no_answer_is_empty(value: Any) -> Any:
    return "" if value is None else value


Answer = Annotated[Json, BeforeValidator(_no_answer_is_empty)]
"""An answer: a text, or JSON; ``null`` reads as the empty text, so that no scorer takes it for
JSON."""


class Prefilter(Model):
    """What the injection scanner did to one user turn, before the system saw it.

    Attributes:
        action: What the scanner advised.
        blocked: Whether the turn was kept from the system: its answer is then the empty text, and
            no later turn's history holds it.
        score: The scanner's suspicion, in [0, 1].
        rules: Ids of the rules that matched.
        scanner_version: Version of the scanner.
    """

    action: Literal["allow", "flag", "block"]
    blocked: Flag = False
    score: Number = Field(default=0.0, ge=0, le=1)
    rules: tuple[Text, ...] = ()
    scanner_version: Text = ""


class OutputTurn(Model):
    """The answer to one user turn; ``latency_s`` in seconds, ``cost_usd`` in US dollars."""

    text: Answer = ""
    tool_calls: tuple[ToolCall, ...] = ()
    retrieved_contexts: tuple[Text | Passage, ...] = ()
    latency_s: Number | None = Field(default=None, ge=0)
    usage: Usage | None = None
    cost_usd: Number | None = Field(default=None, ge=0)
    error: Text | None = None
    prefilter: Prefilter | None = None
    extras: JsonObject = EMPTY


class Output(Model):
    """What a system answered to one case in one epoch.

    Attributes:
        system: Name of the system.
        case_id: The case answered.
        epoch: 1-based.
        text: The answer: a text, or JSON.
        messages: The conversation as it went, where the system gives it.
        turns: For a case with turns, one answer per turn.
        tool_calls: Calls made, in order.
        retrieved_contexts: Passages the system retrieved, best first.
        latency_s: Seconds from question to answer.
        usage: Tokens.
        cost_usd: Cost in US dollars.
        model: Model that answered.
        stop_reason: Why the model stopped.
        error: Set where the system failed; such an output is never scored.
        prefilter: What the suite's prefilter did; of a conversation, to its most suspicious turn.
    """

    system: Name = "default"
    case_id: Name
    epoch: Whole = Field(default=1, ge=1)
    text: Answer = ""
    messages: tuple[Message, ...] = ()
    turns: tuple[OutputTurn, ...] | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    retrieved_contexts: tuple[Text | Passage, ...] = ()
    latency_s: Number | None = Field(default=None, ge=0)
    usage: Usage | None = None
    cost_usd: Number | None = Field(default=None, ge=0)
    model: Text | None = None
    stop_reason: Text | None = None
    error: Text | None = None
    prefilter: Prefilter | None = None
    extras: JsonObject = EMPTY

    @property
    def key(self) -> tuple[str, str, int]:
        """(system, case_id, epoch): what an output is joined by."""
        return (self.system, self.case_id, self.epoch)

    def at_turn(self, index: int) -> Output:
        """Turn ``index`` (0-based) as an output of its own; an error where it is missing."""
        turns = self.turns or ()
        if index >= len(turns):
            recorded = f"{len(turns)} turn{'' if len(turns) == 1 else 's'} recorded"
            missing = f"turn {index} was not answered ({recorded})"
            return self.model_copy(update={"turns": None, "error": self.error or missing})
        turn = turns[index]
        fields = {name: getattr(turn, name) for name in OutputTurn.model_fields}
        return self.model_copy(update={**fields, "turns": None, "error": turn.error or self.error})

    def until(self, index: int) -> Output:
        """The output up to and with turn ``index`` (0-based), with that turn's error as its own."""
        turns = (self.turns or ())[: index + 1]
        return self.model_copy(update={"turns": turns, "error": self.at_turn(index).error})
