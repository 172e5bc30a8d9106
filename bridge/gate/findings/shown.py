"""Cases and answers as texts for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bridge.model.case import Case
from bridge.model.message import ToolCall, as_text
from bridge.model.output import Output


def asked(case: Case) -> str:
    """What a case asks: a line a turn or message."""
    if case.turns:
        return "\n".join(turn.user for turn in case.turns)
    if isinstance(case.input, tuple):
        return "\n".join(f"{message.role}: {message.text}" for message in case.input)
    return as_text(case.input)


def expected(case: Case) -> str:
    """What a case expects; of a conversation what each turn does."""
    wanted: Iterable[Any] = [turn.expected for turn in case.turns] or [case.expected]
    return "\n".join(as_text(each) for each in wanted if each not in (None, "", []))


def answers(outputs: Iterable[Output]) -> dict[str, str]:
    """The answer to each case; those of several epochs are one after the other."""
    found: dict[str, list[Output]] = {}
    for output in outputs:
        found.setdefault(output.case_id, []).append(output)
    return {
        case: _answer(of_case[0])
        if len(of_case) == 1
        else "\n\n".join(f"[epoch {each.epoch}] {_answer(each)}" for each in of_case)
        for case, of_case in found.items()
    }


def _answer(output: Output) -> str:
    lines = [f"[error] {output.error}"] if output.error else []
    for turn in output.turns or (output,):
        lines += [as_text(turn.text), *_calls(turn.tool_calls)]
    return "\n".join(line for line in lines if line)


def _calls(calls: Iterable[ToolCall]) -> Iterator[str]:
    for call in calls:
        yield f"→ {call.name} {as_text(call.arguments)}"
