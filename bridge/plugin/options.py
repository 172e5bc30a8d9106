"""Options of formats: checked, since they come from the command line."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from bridge.model.errors import InputError
from bridge.plugin.format import FormatInfo


def refuse_others(info: FormatInfo, options: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse options that a format does not know.

    Raises:
        InputError: If there is one.
    """
    others = ", ".join(sorted(set(options) - set(known)))
    if others:
        what = f"format {info.name} takes no option {others}"
        raise InputError(what, fix=f"use {', '.join(sorted(known))}" if known else "leave it out")


def text(options: Mapping[str, Any], name: str) -> str | None:
    """An option that is a text; ``None`` if it is not given."""
    value = options.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        raise InputError(f"{name} is {value!r}", fix="write a text")
    return value


def texts(options: Mapping[str, Any], name: str) -> dict[str, str]:
    """An option that is an object of texts."""
    value = options.get(name, {})
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value.values()):
        raise InputError(f"{name} is {value!r}", fix=f"write {name}={{field: column}}")
    return dict(value)


def flag(options: Mapping[str, Any], name: str, *, default: bool) -> bool:
    """An option that is true or false."""
    value = options.get(name, default)
    if not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}", fix="write true or false")
    return value
