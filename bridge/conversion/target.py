"""Which format a file is to be written in: told by its name, among those that hold the bundle."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from bridge.model.bundle import Bundle
from bridge.model.errors import InputError
from bridge.plugin.format import Format
from bridge.plugin.registry import format_names, get_format


def target_format(target: Path, bundle: Bundle) -> Format:
    """The format whose file name pattern fits best.

    A pattern with more characters of its own beats one with fewer (``bridge.yaml`` beats
    ``*.yaml``); formats that hold no part of the bundle are left out.

    Raises:
        InputError: If none fits, or several fit equally well.
    """
    fits: dict[int, list[Format]] = {}
    for format_ in writers():
        if held_parts(format_, bundle) and (closeness := _closeness(format_, target)):
            fits.setdefault(closeness, []).append(format_)
    if not fits:
        names = ", ".join(each.info.name for each in writers())
        what = f"no format is known by this name{_as_folder(target)}"
        raise InputError(what, where=target, fix=f"name one with --to: {names}")
    first, *others = fits[max(fits)]
    if others:
        names = " or ".join(each.info.name for each in (first, *others))
        raise InputError(f"may be {names}", where=target, fix="name one with --to")
    return first


def writers() -> list[Format]:
    """The formats that can be written."""
    found = [get_format(name) for name in format_names()]
    return [each for each in found if each.info.writes]


def held_parts(format_: Format, bundle: Bundle) -> list[str]:
    """The parts of a bundle that are not empty and that a format holds."""
    return [part for part in sorted(format_.info.writes) if getattr(bundle, part)]


def _closeness(format_: Format, target: Path) -> int:
    """Characters of its own in the closest pattern; 0 where none fits."""
    return max((len(each.replace("*", "")) for each in _fitting(format_, target)), default=0)


def _fitting(format_: Format, target: Path) -> Iterator[str]:
    for pattern in format_.info.patterns:
        depth = pattern.count("/") + 1
        if fnmatchcase("/".join(target.parts[-depth:]), pattern):
            yield pattern


def _as_folder(target: Path) -> str:
    return "" if target.suffix else ", and a folder can be of any"
