"""Discovery of frameworks and formats by entry point, or by import string."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from bridge.files.jsonl import unreadable
from bridge.files.no_data import refuse_no_data
from bridge.model.errors import InputError
from bridge.model.explain import nearest
from bridge.plugin.format import Format
from bridge.plugin.framework import Framework

FRAMEWORKS = "bridge.frameworks"
FORMATS = "bridge.formats"
HEAD = 64 * 1024
"""Bytes of a file shown to ``Format.sniff``."""


@lru_cache(maxsize=2)
def _entries(group: str) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            what = f"two packages offer {entry.name!r} in {group}: {other.value} and {entry.value}"
            raise InputError(what, fix="uninstall one of them")
    return found


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
        meant = nearest(name, entries)
        ask = f"did you mean {meant}? there are" if meant else "use one of"
        raise InputError(f"no {kind} {name!r}", fix=f"{ask} {known}")
    try:
        found = entries[name].load() if name in entries else _import(name)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # others' modules may do anything
        what = f"{kind} {name!r} cannot be imported ({type(error).__name__}: {error})"
        raise InputError(what, fix="check module:attribute, or its package") from None
    if not isinstance(found, protocol):
        raise InputError(
            f"{name!r} does not fulfil the {kind} protocol", fix="see adapters/README.md"
        )
    return found


def _import(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def detect_format(path: Path, reads: str = "") -> Format:
    """The format that a file (or directory) most likely is of.

    Args:
        path: The file.
        reads: A part of a bundle: a format that can read it goes before all that cannot.

    Raises:
        InputError: If the file cannot be read, or no format knows it.
    """
    try:
        head = b"" if path.is_dir() else _head(path)
    except OSError as error:
        raise unreadable(path, error) from None
    sure, broken = _sniff(head, path)
    if not sure:
        refuse_no_data(head, path, text="any")
        raise _unknown(path, broken)
    able = {name: each for name, each in sure.items() if reads in get_format(name).info.reads}
    sure = able or sure
    best = max(sure.values())
    first, *others = [name for name, certainty in sure.items() if certainty == best]
    if others:
        what = f"may be {first} or {' or '.join(others)}"
        raise InputError(what, where=path, fix="name one with bridge convert --from")
    return get_format(first)


def _unknown(path: Path, broken: Sequence[str]) -> InputError:
    if path.is_dir():
        return InputError("a folder, and no run", where=path, fix="name a run or a file in it")
    known = ", ".join(name for name in format_names() if name not in broken)
    beside = f" ({', '.join(broken)} cannot be loaded)" if broken else ""
    fix = f"name one with bridge convert --from: {known}"
    return InputError(f"no known format{beside}", where=path, fix=fix)


def _sniff(head: bytes, path: Path) -> tuple[dict[str, float], list[str]]:
    """How sure each format is, if at all, and the formats that cannot be asked."""
    sure: dict[str, float] = {}
    broken: list[str] = []
    for name in format_names():
        try:
            certainty = get_format(name).sniff(head, path)
        except Exception:  # noqa: BLE001  # one broken format must not hide the others
            broken.append(name)
        else:
            if certainty > 0:
                sure[name] = certainty
    return sure, broken


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD)
