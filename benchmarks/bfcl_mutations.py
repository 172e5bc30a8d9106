"""Answers to a BFCL case: its gold calls, and what a model may write instead."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

Answer = list[dict[str, dict[str, Any]]]
"""Calls as BFCL has them: ``[{name: {parameter: value}}]``."""


def answers(gold: list[Any], functions: list[Any]) -> Iterator[tuple[str, Answer]]:
    """(what was done, calls), the first of each case untouched; the same ones in every run."""
    for index in range(3):
        yield f"gold {index}", [_call(each, index) for each in gold]
    right = [_call(each, 0) for each in gold]
    yield from _whole(right, functions)
    for place, each in enumerate(right):
        ((name, arguments),) = each.items()
        ((_, accepted),) = gold[place].items()
        for how, changed in _arguments(arguments, accepted):
            yield f"call {place}: {how}", [*right[:place], {name: changed}, *right[place + 1 :]]


def _call(gold: dict[str, Any], index: int) -> dict[str, dict[str, Any]]:
    """A gold call: of each parameter the accepted value at ``index``, or the last there is."""
    ((name, accepted),) = gold.items()
    picked = {key: _pick(values, index) for key, values in accepted.items()}
    return {name: {key: value for key, value in picked.items() if value != ""}}


def _pick(values: Any, index: int) -> Any:
    """One of the accepted values, with the lists of accepted values inside objects resolved."""
    if not isinstance(values, list) or not values:
        return values
    value = values[min(index, len(values) - 1)]
    return _resolved(value, index)


def _resolved(value: Any, index: int) -> Any:
    if isinstance(value, dict):
        picked = {key: _pick(options, index) for key, options in value.items()}
        return {key: item for key, item in picked.items() if item != ""}
    if isinstance(value, list):
        return [_resolved(item, index) if isinstance(item, dict) else item for item in value]
    return copy.deepcopy(value)


def _whole(right: Answer, functions: list[Any]) -> Iterator[tuple[str, Answer]]:
    """Calls missing, added, repeated, turned round, or of another tool."""
    yield "no call", []
    yield "first call twice", [right[0], *right]
    yield "turned round", right[::-1]
    yield "last call missing", right[:-1]
    ((name, arguments),) = right[0].items()
    yield "unknown tool", [{f"{name}_x": arguments}, *right[1:]]
    if len(right) > 1:
        yield "first call in place of all", [right[0]] * len(right)
        yield "rotated", [*right[1:], right[0]]
    for each in functions:
        if each["name"] != name:
            yield f"as {each['name']}", [{each["name"]: arguments}, *right[1:]]
            break


def _arguments(
    arguments: dict[str, Any], accepted: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """One thing about the arguments of a call changed."""
    yield "no arguments", {}
    yield "unknown argument", {**arguments, "no_such_parameter": 1}
    for key, values in accepted.items():
        if key not in arguments and isinstance(values, list):
            yield f"{key} null", {**arguments, key: None}
            given = [value for value in values if value != ""]
            if given:
                yield f"{key} given", {**arguments, key: _resolved(given[0], 0)}
    for key, value in arguments.items():
        yield f"{key} left out", {name: item for name, item in arguments.items() if name != key}
        for how, changed in _values(value):
            yield f"{key} {how}", {**arguments, key: changed}


def _values(value: Any) -> Iterator[tuple[str, Any]]:
    """Other values in place of one."""
    yield "null", None
    yield "as an array", [value]
    if isinstance(value, bool):
        yield "negated", not value
        yield "as a number", int(value)
        yield "as text", str(value)
    elif isinstance(value, int | float):
        yield "one more", value + 1
        yield "as the other number", int(value) if isinstance(value, float) else float(value)
        yield "as text", str(value)
        yield "as a boolean", bool(value)
    elif isinstance(value, str):
        yield from _texts(value)
    elif isinstance(value, list):
        yield from _arrays(value)
    elif isinstance(value, dict):
        yield from _objects(value)


def _texts(value: str) -> Iterator[tuple[str, Any]]:
    yield "in capitals", value.upper()
    yield "spaced and dotted", " ".join(value) + "."
    yield "quoted", f"'{value}'"
    yield "without marks", value.translate(dict.fromkeys(map(ord, " ,./-_*^")))
    yield "with other marks", value.replace(" ", "; ") + "!"
    yield "cut", value[:-1]
    yield "empty", ""
    yield "as a number", 7


def _arrays(value: list[Any]) -> Iterator[tuple[str, Any]]:
    yield "emptied", []
    yield "turned round", value[::-1]
    yield "cut", value[:-1]
    yield "doubled", value + value
    if value:
        for how, changed in _values(value[0]):
            yield f"first item {how}", [changed, *value[1:]]


def _objects(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "emptied", {}
    yield "unknown key", {**value, "no_such_key": 1}
    for key, item in value.items():
        yield f"{key} left out", {name: each for name, each in value.items() if name != key}
        for how, changed in _values(item):
            yield f"{key} {how}", {**value, key: changed}
