"""A case and its output as the exchanges of a dialogue, the last of which is scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.model.case import Case, ContextPattern
from bridge.model.message import Message, ToolCall, as_text, passage_text
from bridge.model.output import Output, OutputTurn
from bridge.scorers.reference import answer_text


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a user said and what was answered.

    Attributes:
        user: The user's words; ``""`` where the dialogue begins with an answer.
        answer: The system's words; ``""`` where the turn failed or was not answered.
        calls: Tool calls, with their results.
        contexts: Passages that were retrieved.
    """

    user: str
    answer: str
    calls: tuple[ToolCall, ...] = ()
    contexts: tuple[str, ...] = ()


def exchanges(case: Case, output: Output) -> tuple[Exchange, ...]:
    """The dialogue so far, never empty; the last exchange is the one to score."""
    if case.turns:
        answers = output.turns or ()
        return tuple(
            _exchange(turn.user, answers[index] if index < len(answers) else None)
            for index, turn in enumerate(case.turns)
        )
    before = list(_sent(case.input))
    user = before.pop().user if before and not before[-1].answer else ""
    return (*before, _exchange(user, output))


def _exchange(user: str, answer: Output | OutputTurn | None) -> Exchange:
    if answer is None or answer.error is not None:
        return Exchange(user, "", answer.tool_calls if answer is not None else ())
    contexts = tuple(map(passage_text, answer.retrieved_contexts))
    return Exchange(user, text_of(answer), answer.tool_calls, contexts)


def text_of(answer: Output | OutputTurn) -> str:
    """An answer as text, JSON as its compact JSON text."""
    return answer_text(answer) if isinstance(answer, Output) else as_text(answer.text)


def _sent(value: Any) -> Iterator[Exchange]:
    """The exchanges in a case's input, the last of which waits for its answer."""
    if not isinstance(value, tuple):
        yield Exchange(as_text(value), "")
        return
    user = ""
    messages: Sequence[Message] = value
    for message in messages:
        if message.role == "assistant" and message.text:
            yield Exchange(user, message.text)
            user = ""
        elif message.role == "user":
            user = f"{user}\n{message.text}" if user else message.text
    if user:
        yield Exchange(user, "")


def context_refs(case: Case) -> tuple[str | ContextPattern, ...]:
    """What the last turn of a case should carry over."""
    return case.turns[-1].context_refs if case.turns else ()
