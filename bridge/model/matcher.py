"""Expected arguments as patterns: plain JSON, with ``$`` matchers where equality is too strict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import re2

from bridge.model.values import is_number

OPTIONS: Mapping[str, frozenset[str]] = {
    "$exact": frozenset(),
    "$one_of": frozenset(),
    "$regex": frozenset(),
    "$approx": frozenset({"abs", "rel"}),
    "$contains": frozenset(),
    "$type": frozenset(),
    "$any": frozenset(),
    "$unordered": frozenset(),
    "$normalised": frozenset(),
}
"""Each matcher with the options it takes beside its operand."""

TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
"""JSON types that ``$type`` knows."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """One ``$`` matcher. ``operand`` holds patterns for ``$one_of``, ``$contains``, ``$unordered``.

    ``abs`` and ``rel`` are the tolerances of ``$approx``; the larger bound of the two decides,
    as in :func:`math.isclose`. ``written`` is the JSON it was parsed from.
    """

    kind: str
    operand: Any
    abs: float = 0.0
    rel: float = 0.0
    written: Any = field(default=None, compare=False)


def parse_pattern(value: Any) -> Any:
    """Turn expected JSON into a pattern: the same tree with :class:`Matcher` at the ``$`` keys.

    Raises:
        ValueError: On an unknown matcher, a wrong operand, or ``$`` keys mixed with plain ones.
    """
    if isinstance(value, Mapping):
        if any(key.startswith("$") for key in value):
            return _parse_matcher(value)
        return {key: parse_pattern(item) for key, item in value.items()}
    if isinstance(value, list):
        return [parse_pattern(item) for item in value]
    return value


def _parse_matcher(value: Mapping[str, Any]) -> Matcher:
    kinds = [key for key in value if key in OPTIONS]
    if len(kinds) != 1:
        unknown = next((key for key in value if key.startswith("$")), "$")
        known = ", ".join(OPTIONS)
        raise ValueError(f"{unknown} is no matcher (one of {known}); write $exact for a literal")
    kind = kinds[0]
    odd = set(value) - {kind} - OPTIONS[kind]
    if odd:
        raise ValueError(f"{kind} does not take {', '.join(sorted(odd))}")
    options = {key: _tolerance(value[key]) for key in OPTIONS[kind] if key in value}
    return Matcher(kind, _operand(kind, value[kind]), **options, written=value)


def _operand(kind: str, value: Any) -> Any:
    if kind in ("$one_of", "$unordered"):
        if not isinstance(value, list):
            raise ValueError(f"{kind} takes a list")
        return [parse_pattern(item) for item in value]
    if kind == "$contains":
        return parse_pattern(value)
    if kind == "$regex":
        return _regex(value)
    if kind == "$type" and value not in TYPES:
        raise ValueError(f"$type takes one of {', '.join(TYPES)}")
    if kind == "$normalised" and not isinstance(value, str):
        raise ValueError("$normalised takes a string")
    if kind == "$approx":
        return _number(value)
    return value


def _regex(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("$regex takes a string")
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(value, options)
    except re2.error as error:
        raise ValueError(f"$regex {value!r} is not RE2 syntax: {error}") from None
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("$approx takes a number")
    return value


def _tolerance(value: Any) -> float:
    if not is_number(_number(value)):
        raise ValueError("abs and rel are numbers that a float can hold")
    if value < 0:
        raise ValueError("abs and rel are not negative")
    return float(value)


def literal_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments to be matched as they are: values with ``$`` keys inside ``$exact``."""
    return {
        name: {"$exact": value} if _has_dollar(value) else value
        for name, value in arguments.items()
    }


def _has_dollar(value: Any) -> bool:
    waiting = [value]
    while waiting:  # no recursion: what is nested too deeply is refused later, with its place
        item = waiting.pop()
        if isinstance(item, Mapping):
            if any(key.startswith("$") for key in item):
                return True
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return False
