"""Discovery of frameworks and formats by entry point, or by import string."""

from __future__ import annotations

import importlib
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from bridge.model.errors import InputError
from bridge.plugin.format import Format
from bridge.plugin.framework import Framework

FRAMEWORKS = "bridge.frameworks"
FORMATS = "bridge.formats"
HEAD = 64 * 1024
"""Bytes of a file shown to ``Format.sniff``."""


@lru_cache(maxsize=2)
def _entries(group: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=group)}


def framework_names() -> list[str]:
    """Names of the frameworks that adapters are installed for."""
    return sorted(_entries(FRAMEWORKS))


def format_names() -> list[str]:
    """Names of the formats that can be read."""
    return sorted(_entries(FORMATS))


def get_framework(name: str) -> Framework:
    """The framework of that name (or ``module:attribute``).

    Raises:
        InputError: If there is none.
    """
    return _load(name, FRAMEWORKS, Framework, "framework")  # type: ignore[no-any-return]


def get_format(name: str) -> Format:
    """The format of that name (or ``module:attribute``).

    Raises:
        InputError: If there is none.
    """
    return _load(name, FORMATS, Format, "format")  # type: ignore[no-any-return]


def _load(name: str, group: str, protocol: Any, kind: str) -> Any:
    entries = _entries(group)
    if name not in entries and ":" not in name:
        known = ", ".join(sorted(entries)) or "none installed"
        raise InputError(f"no {kind} {name!r}", fix=f"use one of {known}")
    try:
        found = entries[name].load() if name in entries else _import(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{kind} {name!r} cannot be imported ({error})") from None
    if not isinstance(found, protocol):
        raise InputError(
            f"{name!r} does not fulfil the {kind} protocol", fix="see adapters/README.md"
        )
    return found


def _import(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def detect_format(path: Path) -> Format:
    """The format that is surest a file (or directory) is its own.

    Raises:
        InputError: If the file cannot be read, or no format knows it.
    """
    try:
        head = b"" if path.is_dir() else _head(path)
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", where=path, fix="check the path"
        ) from None
    formats = [get_format(name) for name in format_names()]
    best = max(formats, key=lambda each: each.sniff(head, path))
    if best.sniff(head, path) <= 0:
        raise InputError(
            "no known format", where=path, fix=f"name one: {', '.join(format_names())}"
        )
    return best


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD)
