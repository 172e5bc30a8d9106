"""Where a value departs from a pattern, path by path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from bridge.model.matcher import Matcher
from bridge.scorers.matching.matchers import json_type, matches

ONE_PIECE = frozenset({Matcher, str, int, float, bool, type(None)})
"""Types of patterns that are matched as a whole."""

DifferenceAxis = Literal["missing_argument", "extra_argument", "wrong_value", "wrong_type"]

MATCHER_TYPES: Mapping[str, frozenset[str]] = {
    "$regex": frozenset({"string"}),
    "$normalised": frozenset({"string"}),
    "$approx": frozenset({"number"}),
    "$unordered": frozenset({"array"}),
    "$contains": frozenset({"string", "array", "object"}),
}
"""JSON types that a matcher can accept, where its operand does not say."""


class Difference(NamedTuple):
    """One place where arguments are not what was expected.

    Attributes:
        path: JSON Pointer (RFC 6901) into the arguments.
        axis: ``wrong_type`` where the JSON types differ, else ``wrong_value``; the other two where
            only one side has the key.
        expected: The expected JSON, with its matchers; ``None`` for an extra argument.
        actual: The value found; ``None`` for a missing argument.
    """

    path: str
    axis: DifferenceAxis
    expected: Any
    actual: Any


def differences(pattern: Any, value: Any, *, extra: bool = False) -> list[Difference]:
    """Every place where a value departs from a pattern; empty exactly where it matches.

    Args:
        pattern: A parsed pattern.
        value: The JSON value found.
        extra: Whether keys beyond the pattern's are allowed at the top level.
    """
    found: list[Difference] = []
    _collect(pattern, value, "", found, extra=extra)
    return found


def pointer(key: object) -> str:
    """One step of a JSON Pointer, ``~`` and ``/`` escaped."""
    return "/" + str(key).replace("~", "~0").replace("/", "~1")


def pattern_json(pattern: Any) -> Any:
    """A pattern as the JSON it was parsed from."""
    if type(pattern) in ONE_PIECE:
        return pattern.written if isinstance(pattern, Matcher) else pattern
    if isinstance(pattern, dict):
        return {key: pattern_json(item) for key, item in pattern.items()}
    if isinstance(pattern, list):
        return [pattern_json(item) for item in pattern]
    return pattern


def _collect(
    pattern: Any, value: Any, path: str, found: list[Difference], *, extra: bool = False
) -> None:
    if _is_exact(pattern):
        pattern = pattern.operand
    if type(pattern) in ONE_PIECE:
        if not matches(pattern, value):
            found.append(_difference(pattern, value, path))
    elif isinstance(pattern, dict) and isinstance(value, dict):
        _collect_object(pattern, value, path, found, extra=extra)
    elif (
        isinstance(pattern, list | tuple)
        and isinstance(value, list | tuple)
        and len(pattern) == len(value)
    ):
        for index, (item, other) in enumerate(zip(pattern, value, strict=True)):
            _collect(item, other, f"{path}/{index}", found)
    elif not matches(pattern, value):
        found.append(_difference(pattern, value, path))


def _is_exact(pattern: Any) -> bool:
    return isinstance(pattern, Matcher) and pattern.kind == "$exact"


def _difference(pattern: Any, value: Any, path: str) -> Difference:
    same = type(pattern) is type(value) or _type_fits(pattern, value)
    axis: DifferenceAxis = "wrong_value" if same else "wrong_type"
    return Difference(path, axis, pattern_json(pattern), value)


def _collect_object(
    pattern: Mapping[str, Any],
    value: Mapping[str, Any],
    path: str,
    found: list[Difference],
    *,
    extra: bool,
) -> None:
    shared = 0
    for key, item in pattern.items():
        if key not in value:
            step = path + pointer(key)
            found.append(Difference(step, "missing_argument", pattern_json(item), None))
            continue
        shared += 1
        if type(item) not in ONE_PIECE or _is_exact(item):
            _collect(item, value[key], path + pointer(key), found)
        elif not matches(item, value[key]):
            found.append(_difference(item, value[key], path + pointer(key)))
    if len(value) > shared and not extra:
        found.extend(
            Difference(path + pointer(key), "extra_argument", None, value[key])
            for key in value
            if key not in pattern
        )


def _type_fits(pattern: Any, value: Any) -> bool:
    if not isinstance(pattern, Matcher):
        return json_type(pattern) == json_type(value)
    if pattern.kind == "$one_of":
        return any(_type_fits(option, value) for option in pattern.operand)
    if pattern.kind == "$exact":
        return json_type(pattern.operand) == json_type(value)
    if pattern.kind == "$type":
        return False
    accepted = MATCHER_TYPES.get(pattern.kind)
    return accepted is None or json_type(value) in accepted
