"""JSON values: checked once when they enter the model, read-only from then on."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Never

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, WithJsonSchema

__all__ = [
    "EMPTY",
    "FrozenDict",
    "FrozenList",
    "Json",
    "JsonObject",
    "Model",
    "Name",
    "Text",
    "freeze",
]

MAX_DEPTH = 200
"""Deepest nesting of a JSON value; deeper ones are refused before a parser overflows its stack."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def _read_only(self: object, *_: object, **__: object) -> Never:
    raise TypeError(f"{type(self).__name__} is read-only; build a new value instead")


class FrozenDict(dict[str, Any]):
    """A JSON object that cannot be changed. Still a ``dict`` for every library that asks."""

    __setitem__ = __delitem__ = __ior__ = _read_only
    clear = pop = popitem = setdefault = update = _read_only

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return (FrozenDict, (dict(self),))


class FrozenList(list[Any]):
    """A JSON array that cannot be changed. Still a ``list`` for every library that asks."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _read_only
    append = clear = extend = insert = pop = remove = reverse = sort = _read_only

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self

    def __reduce__(self) -> tuple[type[FrozenList], tuple[list[Any]]]:
        return (FrozenList, (list(self),))


EMPTY = FrozenDict()
"""The object without keys; shared, since it cannot change."""


def clean_text(value: str) -> str:
    """Replace lone surrogates, which no UTF-8 file can hold, by U+FFFD."""
    if value.isascii():
        return value
    return _SURROGATE.sub("\ufffd", value)


def freeze(value: Any, depth: int = 0) -> Any:
    """Copy a JSON value into its read-only form.

    Args:
        value: Anything made of ``None``, bool, int, finite float, str, list, tuple and mappings
            with string keys.
        depth: Nesting so far; callers leave it out.

    Returns:
        The same value with :class:`FrozenDict` and :class:`FrozenList` inside.

    Raises:
        ValueError: On NaN, infinities, other types, keys that are not strings, or more than
            ``MAX_DEPTH`` levels.
    """
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a JSON number")
        return value
    if depth >= MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return FrozenDict((_key(k), freeze(v, depth + 1)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return FrozenList(freeze(item, depth + 1) for item in value)
    raise ValueError(f"{type(value).__name__} is not a JSON value")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError(f"object key {key!r} is not a string")
    return clean_text(key)


def _freeze_object(value: Any) -> FrozenDict:
    if value is None:
        return FrozenDict()
    if not isinstance(value, Mapping):
        raise ValueError("expected an object")
    frozen: FrozenDict = freeze(value)
    return frozen


def _clean(value: Any) -> Any:
    return clean_text(value) if isinstance(value, str) else value


def _name(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and not value.strip():
        raise ValueError("must not be empty")
    return _clean(value)


Json = Annotated[Any, PlainValidator(freeze), WithJsonSchema({})]
"""Any JSON value, frozen."""
JsonObject = Annotated[
    Mapping[str, Any], PlainValidator(_freeze_object), WithJsonSchema({"type": "object"})
]
"""A JSON object, frozen; ``null`` reads as ``{}``."""
Text = Annotated[str, BeforeValidator(_clean)]
"""A string without lone surrogates."""
Name = Annotated[str, BeforeValidator(_name)]
"""A non-empty identifier; whole numbers are read as strings."""


class Model(BaseModel):
    """Base of every value here: frozen, unknown keys refused, no NaN and no infinity."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        populate_by_name=True,
        protected_namespaces=(),
    )
