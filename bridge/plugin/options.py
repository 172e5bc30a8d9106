"""Options of formats: checked, since they come from the command line."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.files.foreign.tables import Table, read_table
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
    if name not in options:
        return None
    value = options[name]
    if not isinstance(value, str) or not value:
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


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How somebody's table is read.

    Attributes:
        fields: The column of a field, where its name does not tell it.
        encoding: The file's encoding, where it is known.
        delimiter: What separates the cells of a CSV file, where it is known.
        separator: What separates passages within a cell, where something does.
    """

    fields: Mapping[str, str]
    encoding: str | None = None
    delimiter: str | None = None
    separator: str = ""

    def table(self, source: Path) -> Table:
        """The table in a file.

        Raises:
            InputError: If it is damaged, no table, or without a row.
        """
        return read_table(source, encoding=self.encoding, delimiter=self.delimiter)

    def refuse_unknown(self, known: Collection[str]) -> None:
        """Refuse a column for a field that there is not.

        Raises:
            InputError: If there is one.
        """
        if unknown := sorted(set(self.fields) - set(known)):
            what = f"no field is called {', '.join(unknown)}"
            raise InputError(what, fix=f"use {', '.join(sorted(known))}")


def table_options(info: FormatInfo, options: Mapping[str, Any]) -> TableOptions:
    """The options ``fields``, ``encoding``, ``delimiter`` and ``separator``.

    Raises:
        InputError: If one is wrong, or there is another.
    """
    refuse_others(info, options, {"fields", "encoding", "delimiter", "separator"})
    return TableOptions(
        texts(options, "fields"),
        text(options, "encoding"),
        text(options, "delimiter"),
        text(options, "separator") or "",
    )
