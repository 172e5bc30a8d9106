"""Messages and tool calls: neutral to native, and native to neutral.

Reading takes Inspect's own objects and the rows of a log file alike: whatever has their attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bridge.model.message import Message, ToolCall, as_text
from bridge.scorers.calls import read_arguments

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

Fields = dict[str, Any]
"""The fields of a neutral value as plain JSON, those at their default left out."""

NAMELESS = "bridge-call-"
"""Start of the id that a call without one gets, since Inspect demands one."""

UNPARSED = "the arguments are no JSON object"


# --- neutral to native ------------------------------------------------------------------------


def to_messages(messages: Iterable[Message]) -> list[ChatMessage]:
    """Messages as Inspect's; parts that are not text are left to the carried case."""
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
    )

    native: list[ChatMessage] = []
    for message in messages:
        if message.role == "system":
            native.append(ChatMessageSystem(content=message.text))
        elif message.role == "user":
            native.append(ChatMessageUser(content=message.text))
        elif message.role == "tool":
            native.append(
                ChatMessageTool(
                    content=message.text,
                    tool_call_id=message.tool_call_id,
                    function=message.name,
                )
            )
        else:
            calls = to_calls(message.tool_calls, len(native))
            native.append(ChatMessageAssistant(content=message.text, tool_calls=calls))
    return native


def to_calls(calls: Sequence[ToolCall], start: int) -> list[Any] | None:
    """Tool calls as Inspect's; ``start`` keeps the ids of calls without one apart."""
    from inspect_ai.tool import ToolCall as NativeCall

    return [
        NativeCall(
            id=call.id or f"{NAMELESS}{start}-{index}",
            function=call.name,
            arguments=(
                {"arguments": call.arguments}
                if isinstance(call.arguments, str)
                else dict(call.arguments)
            ),
            parse_error=UNPARSED if isinstance(call.arguments, str) else None,
        )
        for index, call in enumerate(calls)
    ] or None


def answer_messages(text: Any, calls: Sequence[ToolCall], start: int) -> list[ChatMessage]:
    """An answer as the messages it would have taken: calls, their results, the text."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool
    from inspect_ai.tool import ToolCallError

    native: list[ChatMessage] = []
    native_calls = to_calls(calls, start) or []
    if native_calls:
        native.append(ChatMessageAssistant(content="", tool_calls=native_calls))
    for call, made in zip(calls, native_calls, strict=True):
        if call.result is None and call.error is None:
            continue
        error = None if call.error is None else ToolCallError("unknown", call.error)
        result = "" if call.result is None else as_text(call.result)
        native.append(
            ChatMessageTool(content=result, tool_call_id=made.id, function=call.name, error=error)
        )
    native.append(ChatMessageAssistant(content=as_text(text)))
    return native


# --- native to neutral ------------------------------------------------------------------------


def text_of(message: Any) -> str:
    """The text of a native message, its text parts joined by line ends."""
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part.text for part in message.content if part.type == "text")


def read_messages(messages: Iterable[Any]) -> list[Fields]:
    """Native messages as the fields of neutral ones."""
    return [_read_message(message) for message in messages]


def _read_message(message: Any) -> Fields:
    fields: Fields = {"role": message.role}
    if text := text_of(message):
        fields["content"] = text
    if message.role == "assistant" and message.tool_calls:
        fields["tool_calls"] = [read_call(call) for call in message.tool_calls]
    if message.role == "tool":
        if message.tool_call_id is not None:
            fields["tool_call_id"] = message.tool_call_id
        if message.function is not None:
            fields["name"] = message.function
    return fields


def read_call(call: Any) -> Fields:
    """A native tool call as the fields of a neutral one, without its result."""
    fields: Fields = {"name": call.function}
    arguments = call.arguments
    if call.parse_error is not None:
        given = list(arguments.values()) if isinstance(arguments, Mapping) else [arguments]
        single = len(given) == 1 and isinstance(given[0], str)
        arguments = given[0] if single else as_text(arguments)
    elif isinstance(arguments, str):  # OpenAI's shape, in early logs
        arguments = read_arguments(arguments)
    if arguments != {}:
        fields["arguments"] = arguments
    if call.id and not call.id.startswith(NAMELESS):
        fields["id"] = call.id
    return fields


def read_calls(messages: Iterable[Any]) -> list[Fields]:
    """Every tool call of some messages with its result or error, in order."""
    calls: list[Fields] = []
    waiting: dict[str, list[Fields]] = {}
    for message in messages:
        if message.role == "assistant":
            for call in message.tool_calls or ():
                calls.append(read_call(call))
                waiting.setdefault(call.id, []).append(calls[-1])
        elif message.role == "tool" and (asked := waiting.get(message.tool_call_id or "")):
            _add_result(asked.pop(0), message)
    return calls


def _add_result(call: Fields, message: Any) -> None:
    text = text_of(message)
    if text or message.error is None:
        call["result"] = text
    if message.error is not None:
        call["error"] = message.error.message


# --- what the native form keeps ---------------------------------------------------------------


def held_call(call: Mapping[str, Any]) -> Fields:
    """A neutral call as it is read back from its native form."""
    fields = {name: call[name] for name in ("name", "arguments", "error") if name in call}
    if call.get("id"):
        fields["id"] = call["id"]
    if call.get("result") is not None:
        text = as_text(call["result"])
        if text or "error" not in call:
            fields["result"] = text
    return fields


def held_calls(calls: Iterable[Mapping[str, Any]]) -> list[Fields]:
    """:func:`held_call` on each."""
    return [held_call(call) for call in calls]


def held_messages(messages: Iterable[Mapping[str, Any]]) -> list[Fields]:
    """Neutral messages as they are read back from their native form."""
    held = []
    for message in messages:
        fields: Fields = {"role": message["role"]}
        if text := Message.model_validate(message).text:
            fields["content"] = text
        if message["role"] == "assistant" and message.get("tool_calls"):
            calls = held_calls(message["tool_calls"])
            fields["tool_calls"] = [
                {name: item for name, item in call.items() if name not in ("result", "error")}
                for call in calls
            ]
        if message["role"] == "tool":
            fields |= {name: message[name] for name in ("tool_call_id", "name") if name in message}
        held.append(fields)
    return held
