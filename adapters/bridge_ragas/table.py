"""RAGAS's files as tables: CSV, JSON Lines, and both shapes of JSON that pandas writes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from bridge.files.jsonl import read_lines, read_whole, unreadable
from bridge.model.errors import InputError

MAX_BYTES = 1024**3
"""Largest CSV or JSON file read, in bytes."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with the line each starts on.

    Attributes:
        columns: Names in order.
        rows: Cells by column.
        lines: 1-based line of each row, or its number where a file has no lines.
        text: Whether every cell is text, as in a CSV file.
    """

    columns: list[str]
    rows: list[Row]
    lines: list[int]
    text: bool


def read_table(source: Path) -> Table:
    """A file as a table.

    Raises:
        InputError: If it is damaged or no table.
    """
    if source.suffix == ".csv":
        return _read_csv(source)
    if _head(source).startswith(b"["):
        return _table(list(enumerate(_whole(source), 1)), source)
    if source.suffix == ".json":
        return _read_columns(source)
    lines = read_lines(source)
    return _table([(number, _object(line, source, number)) for number, line in lines], source)


def header(text: str) -> list[str]:
    """The column names of a CSV file that begins with ``text``; none if it is no such file."""
    try:
        return next(csv.reader(io.StringIO(text, newline="")), [])
    except csv.Error:
        return []


def _head(source: Path) -> bytes:
    try:
        with source.open("rb") as file:
            return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError as error:
        raise unreadable(source, error) from None


def _read_csv(source: Path) -> Table:
    try:
        text = read_whole(source, MAX_BYTES, "split the file").decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"not UTF-8 (byte {error.start})"
        raise InputError(what, where=source, fix="save the file as UTF-8") from None
    limit = csv.field_size_limit(MAX_BYTES)
    try:
        return _cells(text, source)
    finally:
        csv.field_size_limit(limit)


def _cells(text: str, source: Path) -> Table:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        table = Table(_header(next(reader, []), source), [], [], text=True)
        line = reader.line_num + 1
        for cells in reader:
            if cells:
                table.rows.append(_row(table.columns, cells, source, line))
                table.lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"no CSV ({error})", where=source, line=line, fix="mend the row") from None
    return table


def _header(names: list[str], source: Path) -> list[str]:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        what = f"column {twice!r} stands twice"
        raise InputError(what, where=source, line=1, fix="give one of them another name")
    return names


def _row(columns: list[str], cells: list[str], source: Path, line: int) -> Row:
    if len(cells) != len(columns):
        what = f"{len(cells)} cells in a table of {len(columns)} columns"
        raise InputError(what, where=source, line=line, fix="mend the row")
    return dict(zip(columns, cells, strict=True))


def _object(line: bytes, source: Path, number: int) -> Row:
    value = _json(line, source, number)
    if not isinstance(value, dict):
        what = f"a JSON {type(value).__name__}, not an object"
        raise InputError(what, where=source, line=number, fix="one JSON object a line")
    return value


def _json(content: bytes, source: Path, line: int | None = None) -> Any:
    """JSON, also with the NaN that RAGAS writes."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(content)
    except RecursionError:
        what = "nested too deeply"
    except ValueError as error:
        what = f"no JSON ({error})"
    raise InputError(what, where=source, line=line, fix="get a complete copy of the file")


def _whole(source: Path) -> Iterator[Row]:
    value = _json(read_whole(source, MAX_BYTES, "split the file"), source)
    for number, row in enumerate(value, 1):
        if not isinstance(row, dict):
            what = f"row {number} is a JSON {type(row).__name__}, not an object"
            raise InputError(what, where=source, fix="write a list of objects")
        yield row


def _read_columns(source: Path) -> Table:
    """``{column: {row: value}}``, which ``DataFrame.to_json`` writes."""
    value = _json(read_whole(source, MAX_BYTES, "split the file"), source)
    if not isinstance(value, dict) or not all(isinstance(each, dict) for each in value.values()):
        raise InputError("no table of columns", where=source, fix="write a list of objects")
    keys = dict.fromkeys(key for cells in value.values() for key in cells)
    rows = [{name: cells.get(key) for name, cells in value.items()} for key in keys]
    return _table(list(enumerate(rows, 1)), source)


def _table(numbered: list[tuple[int, Row]], source: Path) -> Table:
    if not numbered:
        raise InputError("no rows", where=source, fix="name another file")
    rows = [row for _, row in numbered]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return Table(columns, rows, [number for number, _ in numbered], text=False)
