"""The neutral case beside its native form: what a framework has no field for, under one key.

An adapter packs what its framework cannot hold and unpacks it inside a metric, where the fields
that the framework does hold are read from the native object and win. That makes parity between
frameworks a check of the translation, and lets a metric work on someone else's cases, which
carry nothing.

Some values lose something in their native form (an answer that is JSON becomes text). They are
carried too, and count only as long as the framework still holds their native form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.message import Message, as_text
from bridge.model.output import Output

KEY = "bridge"
"""The reserved key in a framework's metadata."""

Held = Mapping[str, Callable[[Any], Any]]
"""The fields that a framework holds, each with what its native form is read back as."""

Native = TypeVar("Native")
Carried = TypeVar("Carried", Case, Output)


def exactly(value: Any) -> Any:
    """For a field whose native form loses nothing."""
    return value


def held_users(turns: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """User turns as they are read back; a tuple, so that all of the turns is carried too.

    It never equals the list that was dumped.
    """
    return tuple({"user": turn["user"]} for turn in turns)


def held_metadata(value: Mapping[str, Any]) -> dict[str, Any]:
    """A case's metadata as it is read back: without the reserved key."""
    return {name: item for name, item in value.items() if name != KEY}


def held_input(value: Any) -> str:
    """A case's input where only one text is held: of messages their text, with roles where several.

    Args:
        value: The input, or its plain JSON.
    """
    if not isinstance(value, list | tuple):
        return as_text(value)
    messages = [Message.model_validate(each) for each in value]
    if len(messages) == 1:
        return messages[0].text
    return "\n".join(f"{each.role}: {each.text}" for each in messages)


def held_reference(value: Any) -> str:
    """A reference answer where only one text is held: the first accepted one."""
    if isinstance(value, list):
        return as_text(value[0]) if value else ""
    return "" if value is None else as_text(value)


def pack(value: Case | Output, held: Held) -> dict[str, Any]:
    """What to carry: the fields that are not at their default and not exactly held."""
    return {
        name: field
        for name, field in plain(value).items()
        if name not in held or held[name](field) != field
    }


def plain(value: Any) -> Any:
    """A neutral value as JSON, fields at their default left out.

    The same as a dump in JSON mode, but what is JSON and read-only already is not copied.
    """
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if not isinstance(value, BaseModel):
        return value
    if isinstance(value, Check):
        return value.model_dump(mode="json")
    fields = value.__dict__
    return {
        name: plain(fields[name])
        for name, default in _defaults(type(value))
        if fields[name] != default
    }


@cache
def _defaults(kind: type[BaseModel]) -> tuple[tuple[str, Any], ...]:
    """Each field with its default; those without one have pydantic's mark, which equals nothing."""
    return tuple((name, field.default) for name, field in kind.model_fields.items())


def unpack(carried: Any, native: Mapping[str, Any], held: Held) -> dict[str, Any]:
    """The fields of a case or output from the native ones and what was carried.

    Args:
        carried: What :func:`pack` made, or ``None`` in someone else's case.
        native: The fields as read from the native object.
        held: The same table that was packed with.
    """
    if not isinstance(carried, Mapping):
        return dict(native)
    restored = {
        name: value
        for name, value in carried.items()
        if name in held and held[name](value) == native.get(name)
    }
    return {**carried, **native, **restored}


def restore(value: Carried, native: Mapping[str, Any], held: Held) -> Carried:
    """A carried value, which is not packed, with those native fields that were changed since.

    Args:
        value: The case or output that the native object was made of.
        native: The fields as read from the native object.
        held: The fields that the framework holds.
    """
    fields = value.model_dump(mode="json", include=set(held), exclude_defaults=True)
    changed = {
        name: field
        for name, field in native.items()
        if (field != held[name](fields[name]) if name in fields else field)
    }
    if not changed:
        return value
    whole = value.model_dump(mode="json", exclude_defaults=True)
    return type(value).model_validate({**whole, **changed})


class Remembered(Generic[Native]):
    """Reads each native object once, for metrics that are called on it in a row.

    Only for objects that do not change between those calls.
    """

    def __init__(self, read: Callable[..., tuple[Case, Output]]) -> None:
        self._read = read
        self._last: tuple[Native, tuple[Case, Output]] | None = None

    def __call__(self, native: Native, *rest: Any) -> tuple[Case, Output]:
        """Case and output of ``native``."""
        last = self._last
        if last is None or last[0] is not native:
            last = self._last = (native, self._read(native, *rest))
        return last[1]
