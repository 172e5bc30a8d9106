"""A validation error in one line: where the first fault is, what should be there, what is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import ValidationError

from bridge.model.values import Model

Loc = tuple[int | str, ...]
Fault = Any
"""One entry of ``ValidationError.errors()``."""

SHOWN = 60
"""Characters of a faulty value that are shown."""

CLOSE = 0.7
"""How alike two keys are (``difflib``) of which one may be the other misspelt."""

_BRANCH = re.compile(r"^(?:function-|tuple\[|list\[|dict\[|constrained-|nullable|\[key\])")
_SCALARS = ("str", "int", "float", "bool")

_WANTED = {
    "string_type": "a text",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "an object",
    "mapping_type": "an object",
    "model_type": "an object",
}


def explain(error: ValidationError) -> str:
    """A pydantic error in one line: the first fault, and how many more there are.

    Of a field that may be of several types, the type is taken that the value is closest to.
    """
    faults: Sequence[Fault] = error.errors(include_url=False)
    classes = _classes()
    chosen = _closest(faults, classes)
    first = chosen[0]
    place = _place(_plain(first["loc"], classes))
    message = _message(chosen, _models_at(error.title, first["loc"], classes))
    shown = {_plain(fault["loc"], classes) for fault in chosen}
    others = {_plain(fault["loc"], classes) for fault in faults} - shown
    rest = sum(not any(loc[: len(other)] == other for loc in shown) for other in others)
    text = f"{place}: {message}" if place else message
    return f"{text} (and {rest} more)" if rest else text


def location(error: ValidationError) -> Loc:
    """Where the fault is that :func:`explain` shows, as keys and positions in the file."""
    faults: Sequence[Fault] = error.errors(include_url=False)
    classes = _classes()
    return _plain(_closest(faults, classes)[0]["loc"], classes)


def _classes() -> dict[str, type[Model]]:
    def below(model: type[Model]) -> Iterator[type[Model]]:
        for each in model.__subclasses__():
            yield each
            yield from below(each)

    return {model.__name__: model for model in below(Model)}


def _plain(loc: Loc, classes: Iterable[str]) -> Loc:
    """A location in the file: pydantic adds the names of the types it tried."""
    return tuple(part for part in loc if not _is_branch(part, classes))


def _is_branch(part: int | str, classes: Iterable[str]) -> bool:
    return isinstance(part, str) and (
        part.startswith("`") or part in _SCALARS or part in classes or bool(_BRANCH.match(part))
    )


def _closest(faults: Sequence[Fault], classes: Iterable[str]) -> list[Fault]:
    """The faults of the first field: all of its types', or those of the type it nearly is."""
    if faults[0]["type"] == "missing":
        return [_misspelt(faults[0], faults) or faults[0]]
    root = _plain(faults[0]["loc"], classes)
    if not _is_branch(faults[0]["loc"][-1] if faults[0]["loc"] else 0, classes):
        return [faults[0]]
    same = [fault for fault in faults if _plain(fault["loc"], classes)[: len(root)] == root]
    depth = max(len(_plain(fault["loc"], classes)) for fault in same)
    if depth == len(root):
        right_type = next((fault for fault in same if not _is_wrong_type(fault)), None)
        return [right_type] if right_type is not None else same
    deepest = next(fault for fault in same if len(_plain(fault["loc"], classes)) == depth)
    if deepest["type"] == "missing":
        return [_misspelt(deepest, same) or deepest]
    place = _plain(deepest["loc"], classes)
    return [fault for fault in same if _plain(fault["loc"], classes) == place]


def _is_wrong_type(fault: Fault) -> bool:
    return fault["type"] in _WANTED or fault["msg"].startswith("Value error, should be a")


def _misspelt(missing: Fault, faults: Iterable[Fault]) -> Fault | None:
    """The unknown key beside a missing one that was probably meant to be it."""
    *parent, key = missing["loc"]
    beside = {
        str(fault["loc"][-1]): fault
        for fault in faults
        if fault["type"] == "extra_forbidden" and list(fault["loc"][:-1]) == parent
    }
    meant = nearest(str(key), beside)
    return None if meant is None else beside[meant]


def _place(loc: Loc) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return text.removeprefix(".")[:200]


def _message(faults: Sequence[Fault], models: Sequence[type[Model]]) -> str:
    first = faults[0]
    kind = first["type"]
    if kind == "missing":
        return "is missing"
    if kind in ("too_short", "string_too_short"):
        least = first["ctx"]["min_length"]
        return "should not be empty" if least == 1 else f"should have at least {least}"
    if kind == "string_pattern_mismatch":
        return f"should match {first['ctx']['pattern']}, not {_found(first['input'])}"
    if kind == "extra_forbidden":
        return _unknown(str(first["loc"][-1]), models)
    wanted = [_WANTED.get(fault["type"]) for fault in faults]
    if kind == "model_type" and len(faults) == 1:
        wanted = [_object_with(models)]
    if len(faults) > 1 or wanted[0] is not None:
        names = list(dict.fromkeys(each or "an object" for each in wanted))
        last = names.pop()
        listed = f"{', '.join(names)} or {last}" if names else last
        return f"should be {listed}, not {_found(first['input'])}"
    message: str = first["msg"].removeprefix("Value error, ")
    message = message.removeprefix("Input ")
    if message.startswith("should be ") and ", not " not in message:
        return f"{message}, not {_found(first['input'])}"
    return message


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelt one is likely to stand for, if any."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=CLOSE)), None)


def _object_with(models: Sequence[type[Model]]) -> str:
    """An object of a model: with the keys it must have, else with those it can have."""
    fields = models[0].model_fields if models else {}
    keys = [_key(name, field) for name, field in fields.items() if field.is_required()]
    keys = keys or [_key(name, field) for name, field in fields.items()]
    return f"an object with {', '.join(keys)}" if keys else "an object"


def _key(name: str, field: Any) -> str:
    return field.alias or name


def _unknown(key: str, models: Sequence[type[Model]]) -> str:
    known = [_key(name, field) for model in models for name, field in model.model_fields.items()]
    meant = nearest(key, known)
    if meant is not None:
        return f"unknown key; did you mean {meant}?"
    return f"unknown key (known: {', '.join(dict.fromkeys(known))})" if known else "unknown key"


def _models_at(title: str, loc: Loc, classes: dict[str, type[Model]]) -> list[type[Model]]:
    """The model whose key the last part of ``loc`` is, and that part's own where it has one."""
    models = [classes[title]] if title in classes else []
    for part in loc:
        if isinstance(part, str) and part in classes:
            models = [classes[part]]
            continue
        inner = [
            each
            for model in models
            if part in model.model_fields
            for each in _models_in(model.model_fields[str(part)].annotation)
        ]
        models = inner or models
    return models


def _models_in(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _found(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = str(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
