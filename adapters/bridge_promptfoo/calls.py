"""Tool calls in an output, for tests that are not ours: promptfoo has no field for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

Fields = dict[str, Any]
"""The fields of a neutral value as plain JSON, those at their default left out."""


def read_calls(output: Any) -> list[Fields]:
    """Tool calls in OpenAI's shape: a list of calls, or ``{tool_calls: [...]}``; else none."""
    calls = output.get("tool_calls") if isinstance(output, Mapping) else output
    if not isinstance(calls, list):
        return []
    found = [_read_call(call) for call in calls]
    return [] if None in found else [call for call in found if call is not None]


def _read_call(call: Any) -> Fields | None:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        return None
    identity = call.get("id")
    return {
        "name": function["name"],
        "arguments": _arguments(function.get("arguments") or {}),
        "id": identity if isinstance(identity, str) else None,
    }


def _arguments(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        parsed = msgspec.json.decode(given)
    except ValueError:
        return given
    return parsed if isinstance(parsed, dict) else given
