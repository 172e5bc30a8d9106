"""JSON values: checked once when they enter the model, read-only from then on."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Never, TypeGuard, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    Strict,
    WithJsonSchema,
)

__all__ = [
    "EMPTY",
    "LARGEST",
    "MAX_DEPTH",
    "FirstVersion",
    "Flag",
    "FrozenDict",
    "FrozenList",
    "Json",
    "JsonObject",
    "Keyed",
    "Model",
    "Name",
    "Number",
    "Text",
    "Whole",
    "count_surrogates",
    "freeze",
    "is_number",
]

MAX_DEPTH = 100
"""Deepest nesting of a JSON value. pydantic's JSON parser stops at 200 levels, and a value is
wrapped in a case, a turn and groups of checks before it gets there."""

K = TypeVar("K")
V = TypeVar("V")

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


def count_surrogates(value: Any) -> int:
    """How many lone surrogates a JSON value holds, in its texts and keys."""
    if isinstance(value, str):
        return 0 if value.isascii() else len(_SURROGATE.findall(value))
    if isinstance(value, Mapping):
        return sum(count_surrogates(key) + count_surrogates(item) for key, item in value.items())
    return sum(map(count_surrogates, value)) if isinstance(value, list | tuple) else 0


_LEAVES = frozenset({int, bool, type(None)})
"""Types whose values are JSON as they are."""


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
    kind = type(value)
    if kind is str:
        return value if value.isascii() else clean_text(value)
    if value is None or kind is bool or kind is int:
        return value
    if kind is float:
        return _finite(value)
    if kind is FrozenDict or kind is FrozenList:
        return value
    if depth >= MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if kind is not dict and isinstance(value, list | tuple):
        return FrozenList([freeze(item, depth + 1) for item in value])
    if kind is dict or isinstance(value, Mapping):
        deeper = depth + 1
        return FrozenDict(
            {
                key if type(key) is str and key.isascii() else _key(key): (
                    item if type(item) in _LEAVES else freeze(item, deeper)
                )
                for key, item in value.items()
            }
        )
    return _freeze_subclass(value)


def _freeze_subclass(value: Any) -> Any:
    """Instances of subclasses (string enums, numpy's floats) as the plain JSON type."""
    if isinstance(value, str):
        return clean_text(str.__str__(value))
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _finite(float(value))
    raise ValueError(f"{type(value).__name__} is not a JSON value")


LARGEST = sys.float_info.max
"""The largest number that a float holds; integers of JSON may be larger."""


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number that a float holds: no truth value, NaN or infinity."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    return value


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError(f"object key {key!r} is not a string")
    return clean_text(key)


def _freeze_object(value: Any) -> FrozenDict:
    if value is None:
        return EMPTY
    if not isinstance(value, Mapping):
        raise ValueError("should be an object")
    frozen: FrozenDict = freeze(value)
    return frozen


def _clean(value: Any) -> Any:
    return clean_text(value) if isinstance(value, str) and not value.isascii() else value


def _name(value: Any) -> Any:
    if type(value) is str and value.isascii() and value.strip():
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and not value.strip():
        raise ValueError("must not be empty")
    return _clean(value)


def _whole(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("should be a whole number")
    return value


Json = Annotated[Any, PlainValidator(freeze), WithJsonSchema({})]
"""Any JSON value, frozen."""
JsonObject = Annotated[
    Mapping[str, Any], PlainValidator(_freeze_object), WithJsonSchema({"type": ["object", "null"]})
]
"""A JSON object, frozen; ``null`` reads as ``{}``."""
Keyed = Annotated[Mapping[K, V], AfterValidator(FrozenDict)]
"""``Keyed[key, value]``: an object with values of one type, read-only."""
Text = Annotated[str, BeforeValidator(_clean)]
"""A string without lone surrogates."""
Name = Annotated[
    str,
    BeforeValidator(_name),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": "\\S"}, {"type": "integer"}]}),
]
"""A non-empty identifier; whole numbers are read as strings."""
Number = Annotated[float, Strict()]
"""A finite number; neither text nor true and false."""
Whole = Annotated[int, BeforeValidator(_whole)]
"""A whole number, 1.0 included; neither text nor true and false."""
FirstVersion = Annotated[Literal[1], BeforeValidator(_whole)]
"""The version of a file's layout, of which there is one."""
Flag = Annotated[bool, Strict()]
"""True or false, and nothing that resembles them."""


class Model(BaseModel):
    """Base of every value here: frozen, unknown keys refused, no NaN and no infinity."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        populate_by_name=True,
        protected_namespaces=(),
    )
