"""Messages as they stand in Inspect's files: neutral to plain JSON.

What :mod:`bridge_inspect.calls` makes of Inspect's own objects is made here without Inspect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bridge.model.message import Message, ToolCall, as_text
from bridge.plugin.carry import plain
from bridge_inspect.calls import NAMELESS, UNPARSED, Fields


def to_messages(messages: Iterable[Message]) -> list[Fields]:
    """Messages of text with their calls; parts that are not text are left to the carried case."""
    return [_to_message(message, number) for number, message in enumerate(messages)]


def _to_message(message: Message, number: int) -> Fields:
    native: Fields = {"role": message.role, "content": message.text}
    if message.role == "assistant" and message.tool_calls:
        native["tool_calls"] = _to_calls(message.tool_calls, number)
    if message.role == "tool":
        named = {"tool_call_id": message.tool_call_id, "function": message.name}
        native |= {key: value for key, value in named.items() if value is not None}
    return native


def _to_calls(calls: Iterable[ToolCall], start: int) -> list[Fields]:
    """Tool calls, each with an id; ``start`` keeps the ids of calls without one apart."""
    native = []
    for number, call in enumerate(calls):
        made: Fields = {"id": call.id or f"{NAMELESS}{start}-{number}", "function": call.name}
        if isinstance(call.arguments, str):
            made |= {"arguments": {"arguments": call.arguments}, "parse_error": UNPARSED}
        else:
            made["arguments"] = plain(call.arguments)
        native.append(made)
    return native


def to_answer(text: Any, calls: Sequence[ToolCall], start: int) -> list[Fields]:
    """An answer as the messages it would have taken: calls, their results, the text."""
    native_calls = _to_calls(calls, start)
    native: list[Fields] = []
    if native_calls:
        native.append({"role": "assistant", "content": "", "tool_calls": native_calls})
    for call, made in zip(calls, native_calls, strict=True):
        if call.result is not None or call.error is not None:
            result = "" if call.result is None else as_text(call.result)
            named = {"tool_call_id": made["id"], "function": call.name}
            native.append({"role": "tool", "content": result, **named})
        if call.error is not None:
            native[-1]["error"] = {"type": "unknown", "message": call.error}
    return [*native, {"role": "assistant", "content": as_text(text)}]
