"""How calls and values are shown: on one line, of bounded length, whatever a model wrote."""

from __future__ import annotations

import json
import math
from typing import Any

from bridge.scorers.matching import json_type
from bridge.scorers.tool_use.comparison import Mismatch

SHOWN = 80
"""Characters of a value in a reason."""
KEPT = 300
"""Characters of a value in the details."""
ENCODER = json.JSONEncoder(ensure_ascii=False)


def tool_text(name: str) -> str:
    """A tool's name; quoted and cut where a model made it up."""
    if name.isprintable() and 0 < len(name) <= SHOWN and " " not in name:
        return name
    return value_text(name)


def value_text(value: Any, limit: int = SHOWN) -> str:
    """A value as JSON text, cut to ``limit`` characters; no more than that is written out."""
    pieces: list[str] = []
    try:
        for piece in ENCODER.iterencode(value[:limit] if isinstance(value, str) else value):
            pieces.append(piece)
            if sum(map(len, pieces)) > limit:
                break
    except (TypeError, ValueError, RecursionError):
        return f"<{json_type(value)}>"
    return cut("".join(pieces), limit)


def cut(text: str, limit: int) -> str:
    """Text of at most ``limit`` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def one_line(text: str) -> str:
    """Text without line ends, control and direction characters, which are written as escapes."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


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
    return f"{name}: {_argument_text(each)}"


def _argument_text(each: Mismatch) -> str:
    place = value_text(each.path)[1:-1] or "the arguments"
    actual, expected = value_text(each.actual), value_text(each.expected)
    if each.axis == "missing_argument":
        return f"{place} is missing, expected {expected}"
    if each.axis == "extra_argument":
        return f"{place} is not expected, it is {actual}"
    if each.axis == "schema":
        at = f" at {place}" if each.path else ""
        return f"breaks the schema{at}: {cut(str(each.expected), KEPT)}"
    return f"{place} is {actual}, expected {expected}"


def evidence(value: Any) -> Any:
    """A value for the details: itself where it is small JSON, else the beginning of its text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else f"an integer of {value.bit_length()} bits"
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, str):
        return cut(value, KEPT)
    text = value_text(value, KEPT)
    return value if text[-1] in "]}" else text
