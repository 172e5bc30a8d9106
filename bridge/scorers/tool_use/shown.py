"""Values as they are shown: on one line, of bounded length, whatever a model wrote."""

from __future__ import annotations

import json
import math
from typing import Any

from bridge.model.values import freeze
from bridge.scorers.matching.matchers import json_type

SHOWN = 80
"""Characters of a value in a reason."""
KEPT = 300
"""Characters of a value in the details."""
WIDEST = 2**63
"""Integers below this are shown as they are."""
ENCODER = json.JSONEncoder(ensure_ascii=False)


def tool_text(name: str) -> str:
    """A tool's name; quoted and cut where a model made it up."""
    if name.isprintable() and 0 < len(name) <= SHOWN and " " not in name:
        return name
    return value_text(name)


def value_text(value: Any, limit: int = SHOWN) -> str:
    """A value as JSON text, cut to ``limit`` characters; no more than that is written out."""
    try:
        if isinstance(value, str):
            return cut(ENCODER.encode(value[:limit]), limit)
        if _is_small(value, limit):
            return cut(ENCODER.encode(value), limit)
        return cut(_beginning(value, limit), limit)
    except (TypeError, ValueError, RecursionError):
        return f"<{json_type(value)}>"


def _beginning(value: Any, limit: int) -> str:
    """A little more than ``limit`` characters of a value's JSON text."""
    pieces: list[str] = []
    length = 0
    for piece in ENCODER.iterencode(value):
        pieces.append(piece)
        length += len(piece)
        if length > limit:
            break
    return "".join(pieces)


def _is_small(value: Any, limit: int) -> bool:
    """Whether a value is JSON of about ``limit`` characters at most; looks no further than that."""
    return _room(value, limit) >= 0


def _room(value: Any, left: int) -> int:
    """What is left of ``left`` characters after a value."""
    if isinstance(value, str):
        return left - len(value) - 2
    if _is_scalar(value):
        return left - 8
    if isinstance(value, dict):
        for key, item in value.items():
            left = _room(item, left - len(key) - 4)
            if left < 0:
                break
        return left - 2
    if not isinstance(value, list | tuple):
        return -1
    for item in value:
        left = _room(item, left - 2)
        if left < 0:
            break
    return left - 2


def _is_scalar(value: Any) -> bool:
    """Whether a value is a plain JSON scalar, other than a text, that every reader can hold."""
    if value is None or isinstance(value, int):
        return value is None or abs(value) < WIDEST
    return isinstance(value, float) and math.isfinite(value)


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


def evidence(value: Any) -> Any:
    """A value for the details: itself where it is small JSON, else the beginning of its text."""
    if isinstance(value, str):
        return cut(value, KEPT)
    if _is_scalar(value):
        return value
    if _is_small(value, KEPT):
        return freeze(value)
    if isinstance(value, int):
        return f"an integer of {value.bit_length()} bits"
    return repr(value) if isinstance(value, float) else value_text(value, KEPT)
