"""Tool calls as people's systems and frameworks spell them, read into ``ToolCall``."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from bridge.model.message import ToolCall
from bridge.model.values import EMPTY, FrozenDict, clean_text, freeze
from bridge.scorers.results import Returned, read_results

ARGUMENTS = (
    "arguments",
    "args",
    "params",
    "parameters",
    "input",
    "input_parameters",
    "inputParameters",
)
"""Keys that hold a call's arguments, the first present one counts."""

NAMES = ("name", "tool_name", "toolName")
"""Keys that hold the tool's name."""

IDS = ("call_id", "tool_call_id", "tool_use_id", "toolUseId", "toolCallId", "id")
"""Keys that hold a call's id."""

CALL_TYPES = (
    "function",
    "tool_use",
    "server_tool_use",
    "tool_call",
    "tool-call",
    "function_call",
)
"""Values of ``type`` that make a mapping a call even where it has no name."""

NO_CALL = (
    "function_call_output",
    "human",
    "reasoning",
    "system",
    "text",
    "thinking",
    "tool",
    "tool-result",
    "tool_result",
    "user",
)
"""Values of ``type`` of messages and parts that hold no call of the agent, whatever their keys."""

LISTS = ("tool_calls", "toolCalls", "invalid_tool_calls")
"""Keys of a message that hold its calls."""

WRAPPED = ("function_call", "functionCall", "toolUse")
"""Keys of a message or part that hold one call."""

SPEAKERS = (None, "ai", "assistant", "model")
"""Roles whose messages are the agent's own."""


def read_calls(value: Any) -> tuple[ToolCall, ...]:
    """Read tool calls in any usual shape; never raises.

    Shapes of one call: ``{name, arguments | args | params | parameters | input}``, OpenAI
    ``{id, type, function: {name, arguments: "<JSON>"}}``, its Responses ``function_call`` items and
    legacy ``function_call``, Anthropic ``tool_use`` parts, Gemini ``functionCall`` parts, LangChain
    ``{name, args, id, type}`` and ``invalid_tool_calls``, Bedrock ``toolUse`` parts, the AI SDK's
    ``{toolCallId, toolName, input}`` and ``toolCalls``, Inspect ``{id, function, arguments}``,
    RAGAS ``{name, args}``, DeepEval ``{name, input_parameters, output}``; each as a mapping, or as
    an object with these attributes. In a conversation, a call gets the result or the error of the
    message that answers its id.

    Args:
        value: A call, a list of calls, a message or parts of one, JSON text of these, or ``None``.

    Returns:
        The calls in order. Arguments that are no JSON object stay as raw text, and a call without
        a name has the name ``""``: both are faults of the agent, for the scorer to report. Text
        that is not JSON, and message parts that are no calls, hold none.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ()
    try:
        return _answered(tuple(_calls(value)), value)
    except RecursionError:
        return ()


def read_arguments(value: Any) -> FrozenDict | str:
    """Arguments as an object; as raw text where they are none.

    ``None`` and blank text are no arguments. Text is parsed as JSON; NaN and infinities are not
    JSON. Values that JSON does not know are written as text (a date as its ISO form).
    """
    if isinstance(value, FrozenDict):
        return value
    if value is None:
        return EMPTY
    if isinstance(value, str):
        return _parsed(value)
    if isinstance(value, Mapping):
        try:
            frozen: FrozenDict = freeze(value)
        except (ValueError, RecursionError):
            return _parsed(_written(value))
        return frozen
    return _parsed(_written(value))


def _answered(calls: tuple[ToolCall, ...], value: Any) -> tuple[ToolCall, ...]:
    """Calls with what the conversation says of their results."""
    if not isinstance(value, list | tuple) or not any(call.id for call in calls):
        return calls
    results = read_results(value, _fields)
    return tuple(_with_result(call, results.get(call.id or "")) for call in calls)


def _with_result(call: ToolCall, found: Returned | None) -> ToolCall:
    if found is None or call.result is not None or call.error is not None:
        return call
    if found.failed:
        return call.model_copy(update={"error": _error(found.error)})
    return call.model_copy(update={"result": _json(found.value)})


def _calls(value: Any) -> Iterator[ToolCall]:
    if isinstance(value, ToolCall):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _calls(item)
    elif (fields := _fields(value)) is not None:
        yield from _from_fields(fields)


def _from_fields(fields: Mapping[str, Any]) -> Iterator[ToolCall]:
    if fields.get("type") in NO_CALL or fields.get("role") not in SPEAKERS:
        return
    listed = [fields[key] for key in LISTS if fields.get(key)]
    legacy = next((fields[key] for key in WRAPPED if fields.get(key)), None)
    parts = fields.get("content") or fields.get("parts")
    if listed or legacy:
        yield from _calls(listed or legacy)
    elif _is_call(fields):
        yield _call(fields)
    elif parts is not None:
        yield from _calls(parts)


def _is_call(fields: Mapping[str, Any]) -> bool:
    if fields.get("role") is not None:
        return False
    named = any(fields.get(key) is not None for key in (*NAMES, "function"))
    return named or fields.get("type") in CALL_TYPES or any(key in fields for key in ARGUMENTS)


def _call(fields: Mapping[str, Any]) -> ToolCall:
    function = fields.get("function")
    inner = function if isinstance(function, str) else _fields(function)
    source = inner if isinstance(inner, Mapping) else fields
    name = function if isinstance(function, str) else _first(source, NAMES)
    arguments = read_arguments(_first(source, ARGUMENTS))
    broken = fields.get("parse_error")
    if isinstance(broken, str) and broken:
        arguments = clean_text(broken)
    identifier = _first(fields, IDS)
    return ToolCall(
        name=_text(name),
        arguments=arguments,
        id=None if identifier is None else _text(identifier),
        result=_json(_first(fields, ("result", "output"))),
        error=_error(fields.get("error")),
    )


def _fields(value: Any) -> Mapping[str, Any] | None:
    """The fields of a mapping, dataclass, pydantic object or namespace, else ``None``."""
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    model_fields = getattr(type(value), "model_fields", None)
    if isinstance(model_fields, Mapping):
        return {key: getattr(value, key, None) for key in model_fields}
    return vars(value) if isinstance(value, SimpleNamespace) else None


def _first(fields: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((fields[key] for key in keys if fields.get(key) is not None), None)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return clean_text(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _error(value: Any) -> str | None:
    if value is None or value is False:
        return None
    fields = _fields(value)
    message = value if fields is None else fields.get("message", value)
    return clean_text(message) if isinstance(message, str) else _written(message)


def _json(value: Any) -> Any:
    try:
        return freeze(value)
    except (ValueError, RecursionError):
        return _written(value)


def _parsed(text: str) -> FrozenDict | str:
    if not text.strip():
        return EMPTY
    try:
        value = json.loads(text, parse_constant=_refuse)
        if isinstance(value, dict):
            frozen: FrozenDict = freeze(value)
            return frozen
    except (ValueError, RecursionError):
        pass
    return clean_text(text)


def _written(value: Any) -> str:
    """A native value as JSON text, or as a stand-in where there is none."""
    try:
        return clean_text(json.dumps(value, ensure_ascii=False, default=_plain))
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__} that is no JSON>"


def _plain(value: Any) -> Any:
    fields = _fields(value)
    if fields is not None:
        return dict(fields)
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if callable(isoformat) else str(value)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
