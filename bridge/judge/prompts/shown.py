"""What a judge is shown of a case and its output."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from bridge.model.case import Case
from bridge.model.message import Message, Passage, ToolCall, passage_text
from bridge.model.output import Output
from bridge.scorers.reference import answer_text

Part = Literal["input", "conversation", "tools", "contexts", "reference"]

ANSWER = "ANSWER"


def parts_of(case: Case, output: Output, wanted: Sequence[Part]) -> list[tuple[str, str]]:
    """The texts of a case, by the name under which the judge is told of them; empty ones left out.

    The answer comes last and is always there.
    """
    makers: Mapping[Part, tuple[str, Callable[[], str]]] = {
        "input": ("QUESTION", lambda: _input(case)),
        "conversation": ("CONVERSATION", lambda: conversation_of(case, output)),
        "tools": ("TOOL CALLS", lambda: call_lines(all_calls(output))),
        "contexts": ("CONTEXT", lambda: passage_lines(_passages(output, case))),
        "reference": ("REFERENCE", lambda: _reference(case)),
    }
    parts = [(name, make()) for key, (name, make) in makers.items() if key in wanted]
    shown = [(name, text) for name, text in parts if text.strip()]
    return [*shown, (ANSWER, answer_of(output))]


def spelled(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _input(case: Case) -> str:
    if not isinstance(case.input, tuple):
        return spelled(case.input)
    return "\n".join(f"{message.role}: {message.text}" for message in case.input)


def conversation_of(case: Case, output: Output) -> str:
    """A conversation line by line: of the turns, else the messages as they went."""
    if output.turns:
        asked = [turn.user for turn in case.turns]
        lines = zip(asked, output.turns, strict=False)
        return "\n".join(f"user: {user}\nassistant: {spelled(turn.text)}" for user, turn in lines)
    return "\n".join(message_line(each) for each in output.messages)


def message_line(message: Message) -> str:
    """A message with its role and its calls."""
    calls = call_lines(message.tool_calls)
    return f"{message.role}: {message.text}" + (f"\n{calls}" if calls else "")


def all_calls(output: Output) -> Iterator[ToolCall]:
    """The calls of an output and of its turns, in order."""
    yield from output.tool_calls
    for turn in output.turns or ():
        yield from turn.tool_calls


def call_lines(calls: Iterable[ToolCall]) -> str:
    """Calls as JSON, one a line, with what they returned."""
    return "\n".join(json.dumps(_call(call), ensure_ascii=False) for call in calls)


def _call(call: ToolCall) -> Mapping[str, Any]:
    given = {"name": call.name, "arguments": call.arguments}
    held = {"result": call.result, "error": call.error}
    return given | {name: value for name, value in held.items() if value is not None}


def _passages(output: Output, case: Case) -> Sequence[str | Passage]:
    return output.retrieved_contexts or case.reference_contexts


def passage_lines(passages: Iterable[str | Passage]) -> str:
    """Passages as the judge is shown them, numbered from 1."""
    numbered = enumerate(passages, 1)
    return "\n".join(f"[{number}] {passage_text(each)}" for number, each in numbered)


def _reference(case: Case) -> str:
    texts = [spelled(each) for each in case.references]
    return texts[0] if len(texts) == 1 else "\n".join(f"- {text}" for text in texts)


def answer_of(output: Output) -> str:
    """The answer that is judged: of a conversation as a whole, all its answers."""
    if output.turns:
        return "\n".join(spelled(turn.text) for turn in output.turns)
    return answer_text(output)
