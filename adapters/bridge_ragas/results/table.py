"""RAGAS's files as tables: CSV, JSON Lines, and the shapes of JSON that pandas writes.

A table is walked over row by row and never held whole, but for JSON by columns, where the first
row ends where the file does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from bridge.files.foreign.csv_rows import CsvRows, open_csv
from bridge.files.foreign.json_items import JsonItems, Place, index_json, index_lines
from bridge.files.foreign.lenient import Lenient
from bridge.files.jsonl import BOM, read_whole, unreadable
from bridge.model.errors import InputError

MAX_COLUMNS = 512 * 1024 * 1024
"""Largest JSON file by columns, in bytes."""
WRAPPERS: tuple[Place, ...] = (
    (),
    ("data",),
    ("results",),
    ("rows",),
    ("samples",),
    ("scores",),
    ("records",),
)
"""Where rows may stand in a JSON document."""

Row = dict[str, Any]


class Table(Protocol):
    """A table.

    Attributes:
        text: Whether every cell is text, as in a CSV file.
        decimal: What stands before the decimals of a number that is text.
        notes: What a reader should know of the file.
    """

    text: bool
    decimal: str
    notes: Sequence[str]

    def columns(self) -> Sequence[str]:
        """The names that come first, if they are known without a walk."""
        ...

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Each row with its 1-based line, or its number where a file has no lines."""
        ...


def open_table(source: Path, encoding: str = "") -> Table:
    """A file as a table.

    Raises:
        InputError: If it is damaged or no table.
    """
    if source.suffix.lower() in (".csv", ".tsv"):
        return _Csv(open_csv(source, encoding=encoding))
    head = _head(source)
    if head.startswith(b"[") or source.suffix.lower() == ".json":
        document = index_json(source, WRAPPERS)
        where = next((place for place in WRAPPERS if place in document.spans), None)
        if where is not None:
            return _Records(document, where)
        return _Columns(source)
    return _Records(index_lines(source), ())


def _head(source: Path) -> bytes:
    try:
        with source.open("rb") as file:
            return file.read(64).removeprefix(BOM).lstrip()
    except OSError as error:
        raise unreadable(source, error) from None


class _Csv:
    text = True

    def __init__(self, cells: CsvRows) -> None:
        self._cells = cells
        self.decimal = "," if cells.separator == ";" else "."
        self.notes: Sequence[str] = cells.notes

    def columns(self) -> Sequence[str]:
        return self._cells.header

    def rows(self) -> Iterator[tuple[int, Row]]:
        for line, cells in self._cells:
            yield line, dict(zip(self._cells.header, cells, strict=True))


class _Records:
    """Objects, one a row; lists of cells where the names of the columns stand beside them."""

    text = False
    decimal = "."
    notes: Sequence[str] = ()

    def __init__(self, document: JsonItems, where: Place) -> None:
        self._document = document
        self._where = where
        self._names = _split_names(document.head) if where == ("data",) else None

    def columns(self) -> Sequence[str]:
        return ()

    def rows(self) -> Iterator[tuple[int, Row]]:
        decoder: Lenient[Any] = Lenient(Any)
        for number, item in enumerate(self._document.items(self._where), 1):
            try:
                yield number, self._row(decoder.decode(item))
            except ValueError as error:
                raise self._refuse(number, str(error)) from None

    def _row(self, value: Any) -> Row:
        if isinstance(value, list) and self._names is not None:
            return dict(zip(self._names, value, strict=True))
        if not isinstance(value, dict):
            raise ValueError(f"a JSON {type(value).__name__}, not an object")
        return value

    def _refuse(self, number: int, why: str) -> InputError:
        line = number if not self._document.head else None
        what = f"row {number} cannot be read ({why})"
        return InputError(what, where=self._document.path, line=line, fix="mend the row")


def _split_names(head: bytes) -> list[str] | None:
    """The columns of ``DataFrame.to_json(orient="split")``."""
    try:
        value = Lenient[Any](Any).decode(head)
    except ValueError:
        return None
    names = value.get("columns") if isinstance(value, dict) else None
    return [str(name) for name in names] if isinstance(names, list) else None


class _Columns:
    """``{column: {row: value}}``, which ``DataFrame.to_json`` writes, and ``{column: [value]}``."""

    text = False
    decimal = "."
    notes: Sequence[str] = ()

    def __init__(self, source: Path) -> None:
        content = read_whole(source, MAX_COLUMNS, "write one JSON object a line")
        try:
            value = Lenient[Any](Any).decode(content)
        except ValueError as error:
            fix = "get a complete copy of the file"
            raise InputError(f"no JSON ({error})", where=source, fix=fix) from None
        self._cells = _by_column(value, source)
        self._keys = dict.fromkeys(key for cells in self._cells.values() for key in cells)

    def columns(self) -> Sequence[str]:
        return tuple(self._cells)

    def rows(self) -> Iterator[tuple[int, Row]]:
        for number, key in enumerate(self._keys, 1):
            yield number, {name: cells.get(key) for name, cells in self._cells.items()}


def _by_column(value: Any, source: Path) -> dict[str, dict[Any, Any]]:
    if isinstance(value, dict) and value:
        cells = {name: _numbered(column) for name, column in value.items()}
        found = {name: column for name, column in cells.items() if column is not None}
        if len(found) == len(cells):
            return found
        if all(isinstance(each, int | float | None) for each in value.values()):
            fix = "export the rows, one a case"
            raise InputError("averages alone, and no case", where=source, fix=fix)
    raise InputError("no table of columns", where=source, fix="write a list of objects")


def _numbered(column: Any) -> dict[Any, Any] | None:
    if isinstance(column, list):
        return dict(enumerate(column))
    return column if isinstance(column, dict) else None
