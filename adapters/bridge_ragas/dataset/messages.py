"""Messages of a multi-turn sample as they stand in a file: neutral to native."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bridge.model.case import Case
from bridge.model.message import Message, ToolCall, as_text
from bridge.model.output import Output
from bridge.plugin.carry import plain
from bridge.plugin.cases.chats import own_extras
from bridge_ragas.calls import ROLES, Fields, held_arguments
from bridge_ragas.rows import NAME

_TYPES = {role: kind for kind, role in ROLES.items()}


def to_conversation(case: Case, output: Output | None) -> list[Fields]:
    """A case with its answer as the messages of a sample."""
    if case.turns:
        return _to_turns(case, output)
    if output is not None and output.messages:
        return to_messages(output.messages)
    if isinstance(case.input, tuple):
        sent = to_messages(case.input)
    else:
        sent = [{"content": as_text(plain(case)["input"]), "type": "human"}]
    return sent if output is None else [*sent, *_answer(output.text, output.tool_calls)]


def _to_turns(case: Case, output: Output | None) -> list[Fields]:
    native: list[Fields] = []
    answers = () if output is None else output.turns or ()
    for index, turn in enumerate(case.turns):
        native.append({"content": turn.user, "type": "human"})
        if index < len(answers) and plain(answers[index]):
            native += _answer(answers[index].text, answers[index].tool_calls)
    return native


def to_messages(messages: Iterable[Message]) -> list[Fields]:
    """Messages as RAGAS's; a role that it lacks stands in the metadata."""
    native: list[Fields] = []
    for message in messages:
        made: Fields = {"content": message.text, "type": _TYPES.get(message.role, "human")}
        if made["type"] == "tool" and not _may_answer(native):
            made["type"] = "human"
        metadata = own_extras(message.extras, NAME).get("metadata")
        if isinstance(metadata, Mapping):
            made["metadata"] = plain(metadata)
        if ROLES[made["type"]] != message.role:
            made["metadata"] = {**made.get("metadata", {}), "role": message.role}
        if made["type"] == "ai" and message.tool_calls:
            made["tool_calls"] = to_calls(message.tool_calls)
        native.append(made)
    return native


def _may_answer(before: Sequence[Mapping[str, Any]]) -> bool:
    """Whether RAGAS takes a tool message here: after a call, or after another tool message."""
    last = before[-1] if before else {}
    return last.get("type") == "tool" or bool(last.get("tool_calls"))


def to_calls(calls: Iterable[ToolCall]) -> list[Fields]:
    """Tool calls as RAGAS's, whose arguments are objects."""
    return [{"name": call.name, "args": held_arguments(plain(call.arguments))} for call in calls]


def _answer(text: Any, calls: Sequence[ToolCall]) -> list[Fields]:
    """An answer as the messages it would have taken: each call with its result, then the text."""
    native: list[Fields] = []
    for call in calls:
        native.append({"content": "", "type": "ai", "tool_calls": to_calls([call])})
        if call.result is not None or call.error is not None:
            result = "" if call.result is None else as_text(call.result)
            native.append({"content": result, "type": "tool"})
            if call.error is not None:
                native[-1]["metadata"] = {"error": call.error}
    return [*native, {"content": as_text(text), "type": "ai"}]
