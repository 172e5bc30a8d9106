"""Mismatches in words."""

from __future__ import annotations

from typing import Any

from bridge.scorers.tool_use.comparison import Axis, Mismatch
from bridge.scorers.tool_use.shown import KEPT, SHOWN, cut, tool_text, value_text

POLICY: frozenset[Axis] = frozenset({"forbidden", "tool_error", "calls", "duplicate"})


def call_text(name: str, arguments: Any) -> str:
    """A call as ``name(key=value, ...)``."""
    if isinstance(arguments, str):
        return f"{tool_text(name)}({value_text(arguments)})"
    inside = ", ".join(f"{key}={value_text(item)}" for key, item in list(arguments.items())[:8])
    return f"{tool_text(name)}({cut(inside, SHOWN)})"


def mismatch_text(each: Mismatch) -> str:
    """A mismatch as a clause."""
    name, called = tool_text(each.tool), each.actual
    if each.axis == "missing":
        return f"{call_text(each.tool, each.expected)} was not called"
    if each.axis == "extra":
        return f"{call_text(each.tool, called)} was called but not expected"
    if each.axis == "unknown_tool":
        return f"{name} is no tool on offer" if each.tool.strip() else "a call names no tool"
    if each.axis == "malformed":
        return f"the arguments of {name} are no JSON object: {value_text(called)}"
    if each.axis == "order":
        return f"{call_text(each.tool, called)} came out of order"
    if each.axis in POLICY:
        return _policy_text(each)
    return f"{name}: {_argument_text(each)}"


def _policy_text(each: Mismatch) -> str:
    if each.axis == "tool_error":
        return f"{tool_text(each.tool)} failed: {value_text(each.actual)}"
    if each.axis == "calls":
        return f"{each.actual} calls were made, {each.expected} are allowed"
    called = call_text(each.tool, each.actual)
    if each.axis == "forbidden":
        return f"{called} is forbidden"
    plural = "s" * (each.expected != 1)
    return f"{called} was made again, which is allowed {each.expected} time{plural}"


def _argument_text(each: Mismatch) -> str:
    place = value_text(each.path)[1:-1] or "the arguments"
    actual, expected = value_text(each.actual), value_text(each.expected)
    if each.axis == "missing_argument":
        return f"{place} is missing, expected {expected}"
    if each.axis == "extra_argument":
        return f"{place} is not expected, it is {actual}"
    if each.axis == "wrong_result":
        return f"it returned {actual}, expected {expected}"
    if each.axis == "schema":
        at = f" at {place}" if each.path else ""
        return f"breaks the schema{at}: {cut(str(each.expected), KEPT)}"
    return f"{place} is {actual}, expected {expected}"
