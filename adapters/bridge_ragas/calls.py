"""Messages and tool calls: neutral to native, and native to neutral.

Reading takes RAGAS's own objects and the rows of a file alike: whatever has their attributes.

RAGAS knows human, AI and tool messages, calls without ids, and results without the call they
belong to. So each call goes into a message of its own with its result right behind it, and a role
that RAGAS lacks stands in the message's ``metadata``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bridge.model.case import ExpectedCalls
from bridge.model.matcher import literal_arguments
from bridge.model.message import Message, ToolCall, as_text

if TYPE_CHECKING:
    from ragas.messages import AIMessage, HumanMessage, ToolMessage
    from ragas.messages import ToolCall as NativeCall

    NativeMessage = HumanMessage | AIMessage | ToolMessage

Fields = dict[str, Any]
"""The fields of a neutral value as plain JSON, those at their default left out."""

ROLES = {"human": "user", "ai": "assistant", "tool": "tool"}
"""Neutral roles by RAGAS's message types."""


# --- neutral to native ------------------------------------------------------------------------


def to_messages(messages: Iterable[Message]) -> list[NativeMessage]:
    """Messages as RAGAS's; parts that are not text are left to the carried case."""
    from ragas.messages import AIMessage, HumanMessage, ToolMessage

    native: list[NativeMessage] = []
    for message in messages:
        if message.role == "user":
            native.append(HumanMessage(content=message.text))
        elif message.role == "assistant":
            calls = to_calls(message.tool_calls) or None
            native.append(AIMessage(content=message.text, tool_calls=calls))
        elif message.role == "tool" and _may_answer(native[-1:]):
            native.append(ToolMessage(content=message.text))
        else:
            native.append(HumanMessage(content=message.text, metadata={"role": message.role}))
    return native


def _may_answer(last: Sequence[NativeMessage]) -> bool:
    """Whether RAGAS accepts a tool message here: after a call, or after another tool message."""
    return any(each.type == "tool" or (each.type == "ai" and each.tool_calls) for each in last)


def to_calls(calls: Iterable[ToolCall]) -> list[NativeCall]:
    """Tool calls as RAGAS's, which know no malformed arguments."""
    from ragas.messages import ToolCall as NativeCall

    return [NativeCall(name=call.name, args=held_arguments(call.arguments)) for call in calls]


def to_expected(expected: ExpectedCalls | None) -> list[NativeCall] | None:
    """Expected calls as RAGAS's reference calls; matchers stay in the arguments."""
    from ragas.messages import ToolCall as NativeCall

    if expected is None:
        return None
    return [NativeCall(name=call.name, args=dict(call.arguments)) for call in expected.calls]


def answer_messages(text: Any, calls: Sequence[ToolCall]) -> list[NativeMessage]:
    """An answer as the messages it would have taken: calls, their results, the text."""
    from ragas.messages import AIMessage, ToolMessage

    native: list[NativeMessage] = []
    for call, made in zip(calls, to_calls(calls), strict=True):
        native.append(AIMessage(content="", tool_calls=[made]))
        if call.result is None and call.error is None:
            continue
        result = "" if call.result is None else as_text(call.result)
        metadata = None if call.error is None else {"error": call.error}
        native.append(ToolMessage(content=result, metadata=metadata))
    native.append(AIMessage(content=as_text(text)))
    return native


# --- native to neutral ------------------------------------------------------------------------


def role_of(message: Any) -> str:
    """The neutral role of a native message."""
    return (message.metadata or {}).get("role") or ROLES[message.type]


def read_messages(messages: Iterable[Any]) -> list[Fields]:
    """Native messages as the fields of neutral ones."""
    return [_read_message(message) for message in messages]


def _read_message(message: Any) -> Fields:
    fields: Fields = {"role": role_of(message)}
    if message.content:
        fields["content"] = message.content
    if message.type == "ai" and message.tool_calls:
        fields["tool_calls"] = [_read_call(call) for call in message.tool_calls]
    return fields


def _read_call(call: Any) -> Fields:
    return {"name": call.name, "arguments": call.args} if call.args else {"name": call.name}


def read_calls(messages: Iterable[Any]) -> list[Fields]:
    """Every tool call of some messages, in order; results belong to the calls before them."""
    calls: list[Fields] = []
    waiting: list[Fields] = []
    for message in messages:
        if message.type == "ai":
            waiting = [_read_call(call) for call in message.tool_calls or ()]
            calls += waiting
        elif message.type == "tool" and waiting:
            _add_result(waiting.pop(0), message)
    return calls


def _add_result(call: Fields, message: Any) -> None:
    error = (message.metadata or {}).get("error")
    if message.content or error is None:
        call["result"] = message.content
    if error is not None:
        call["error"] = as_text(error)


def read_expected(calls: Iterable[Any] | None, ours: bool) -> Fields | None:
    """Reference calls as the fields of expected calls.

    Args:
        calls: RAGAS's reference calls.
        ours: Whether an adapter wrote them. In anyone else's a ``$`` in a key is no matcher.
    """
    if calls is None:
        return None
    found = [_read_call(call) for call in calls]
    if not ours:
        for call in found:
            call["arguments"] = literal_arguments(call.get("arguments", {}))
    return {"calls": found}


# --- what the native form keeps ---------------------------------------------------------------


def held_calls(calls: Iterable[Mapping[str, Any]]) -> list[Fields]:
    """Neutral calls as they are read back from their native form."""
    return [_held_call(call) for call in calls]


def _held_call(call: Mapping[str, Any]) -> Fields:
    fields = _held_made(call)
    if call.get("result") is not None:
        text = as_text(call["result"])
        if text or "error" not in call:
            fields["result"] = text
    if "error" in call:
        fields["error"] = call["error"]
    return fields


def _held_made(call: Mapping[str, Any]) -> Fields:
    """A call without its result."""
    arguments = held_arguments(call.get("arguments", {}))
    return {"name": call["name"], "arguments": arguments} if arguments else {"name": call["name"]}


def held_arguments(arguments: Any) -> Fields:
    """Arguments as an object, which a model's malformed ones are put into."""
    return {"arguments": arguments} if isinstance(arguments, str) else dict(arguments)


def held_messages(messages: Iterable[Mapping[str, Any]]) -> list[Fields]:
    """Neutral messages as they are read back from their native form."""
    held = []
    for message in messages:
        fields: Fields = {"role": message["role"]}
        if text := Message.model_validate(message).text:
            fields["content"] = text
        if message["role"] == "assistant" and message.get("tool_calls"):
            fields["tool_calls"] = [_held_made(call) for call in message["tool_calls"]]
        held.append(fields)
    return held


def held_expected_calls(expected: Mapping[str, Any]) -> Fields:
    """Expected calls as they are read back: names and arguments."""
    return {"calls": [_held_made(call) for call in expected["calls"]]}
