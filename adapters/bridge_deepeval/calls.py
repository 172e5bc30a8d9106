"""Tool calls: neutral to native, and native to neutral.

Reading takes DeepEval's own objects and the rows of a run file alike: whatever has their
attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bridge.model.case import ExpectedCalls
from bridge.model.matcher import literal_arguments
from bridge.model.message import ToolCall

if TYPE_CHECKING:
    from deepeval.test_case import ToolCall as NativeCall

Fields = dict[str, Any]
"""The fields of a neutral value as plain JSON, those at their default left out."""


# --- neutral to native ------------------------------------------------------------------------


def to_calls(calls: Sequence[ToolCall]) -> list[NativeCall]:
    """Tool calls as DeepEval's, which know neither ids nor errors nor malformed arguments."""
    from deepeval.test_case import ToolCall as NativeCall

    return [
        NativeCall(
            name=call.name,
            input_parameters=None if isinstance(call.arguments, str) else dict(call.arguments),
            output=call.result,
        )
        for call in calls
    ]


def to_expected(expected: ExpectedCalls | None) -> list[NativeCall] | None:
    """Expected calls as DeepEval's expected tools; matchers stay in the parameters."""
    from deepeval.test_case import ToolCall as NativeCall

    if expected is None:
        return None
    return [
        NativeCall(name=call.name, input_parameters=dict(call.arguments)) for call in expected.calls
    ]


# --- native to neutral ------------------------------------------------------------------------


def read_calls(calls: Iterable[Any] | None) -> list[Fields]:
    """Native tool calls as the fields of neutral ones."""
    return [_read_call(call) for call in calls or ()]


def _read_call(call: Any) -> Fields:
    fields: Fields = {"name": call.name}
    if call.input_parameters:
        fields["arguments"] = call.input_parameters
    if call.output is not None:
        fields["result"] = call.output
    return fields


def read_expected(tools: Iterable[Any] | None, ours: bool) -> Fields | None:
    """Expected tools as the fields of expected calls.

    Args:
        tools: DeepEval's expected tools.
        ours: Whether an adapter wrote them. In anyone else's, a call without parameters asks for
            none in particular, and a ``$`` in a key is no matcher.
    """
    if tools is None:
        return None
    calls = []
    for tool in tools:
        call: Fields = {"name": tool.name}
        if tool.input_parameters:
            call["arguments"] = (
                tool.input_parameters if ours else literal_arguments(tool.input_parameters)
            )
        if not ours and tool.input_parameters is None:
            call["extra"] = "allow"
        calls.append(call)
    return {"calls": calls}


# --- what the native form keeps ---------------------------------------------------------------


def held_calls(calls: Iterable[Mapping[str, Any]]) -> list[Fields]:
    """Neutral calls as they are read back from their native form."""
    return [_held_call(call) for call in calls]


def _held_call(call: Mapping[str, Any]) -> Fields:
    fields: Fields = {"name": call["name"]}
    if isinstance(call.get("arguments"), Mapping):
        fields["arguments"] = call["arguments"]
    if call.get("result") is not None:
        fields["result"] = call["result"]
    return fields


def held_expected_calls(expected: Mapping[str, Any]) -> Fields:
    """Expected calls as they are read back: names and arguments."""
    return {
        "calls": [
            {name: call[name] for name in ("name", "arguments") if name in call}
            for call in expected["calls"]
        ]
    }
