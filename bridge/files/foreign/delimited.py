"""CSV as people have it: any delimiter, any line end, unnamed columns; ragged rows are refused."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from bridge.files.foreign.csv_rows import allow_long_cells
from bridge.model.errors import InputError

DELIMITERS = ",;\t|"
_LOOKED_AT = 50
"""Rows by which the delimiter is told."""
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "pipes"}


@dataclass(frozen=True, slots=True)
class Delimited:
    """The rows of a CSV text, every cell a text.

    Attributes:
        columns: Names in order; a nameless first column is ``""``.
        rows: Cells by column.
        lines: 1-based line that each row starts on.
        notes: What a reader should know.
    """

    columns: list[str]
    rows: list[dict[str, str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    notes: tuple[str, ...] = ()


def read_delimited(text: str, path: Path, delimiter: str | None = None) -> Delimited:
    """A CSV text as rows.

    Args:
        text: The text.
        path: Where it is from, for the errors.
        delimiter: One character; told by the first rows if left out.

    Raises:
        InputError: At the first row that is damaged or has another number of cells than the head.
    """
    given = delimiter or likely_delimiter(text)
    if len(given) != 1:
        raise InputError(f"delimiter is {given!r}", fix="write one character")
    notes = (f"cells are separated by {_NAMES[given]}",) if given in ";|" else ()
    allow_long_cells()
    return _read(text, path, given, notes)


def _read(text: str, path: Path, delimiter: str, notes: tuple[str, ...]) -> Delimited:
    records = _records(text, path, delimiter)
    _, head = next(records, (1, []))
    found = Delimited(_names(head, path), notes=notes)
    for line, cells in records:
        if len(cells) > len(head) and not any(cells[len(head) :]):
            cells = cells[: len(head)]  # commas that a spreadsheet leaves at the end
        if len(cells) != len(head):
            what = f"{len(cells)} cells in a table of {len(head)} columns"
            raise InputError(what, where=path, line=line, fix="mend the row")
        found.rows.append(dict(zip(found.columns, cells, strict=True)))
        found.lines.append(line)
    return found


def _records(text: str, path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(first line, cells) of each row that is not blank."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"no CSV ({error})", where=path, line=line, fix="mend the row") from None


def likely_delimiter(text: str) -> str:
    """The delimiter under which most of the first rows have as many cells as the head.

    Among equals the one that makes more columns; a comma where none makes two.
    """
    best = max(DELIMITERS, key=lambda each: _fit(text, each))
    return best if _fit(text, best)[0] else ","


def _fit(text: str, delimiter: str) -> tuple[float, int]:
    """(share of rows as wide as the head, columns) under a delimiter; (0, 0) for one column."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    widths: list[int] = []
    try:
        widths.extend(len(cells) for cells in islice(reader, _LOOKED_AT) if cells)
    except csv.Error:
        widths = widths[:1]
    if not widths or widths[0] < 2:
        return 0.0, 0
    return widths.count(widths[0]) / len(widths), widths[0]


def _names(head: list[str], path: Path) -> list[str]:
    """Column names, stripped; a nameless column but the first is called by its place."""
    names = [
        name.strip() or (f"column {place}" if place > 1 else "")
        for place, name in enumerate(head, 1)
    ]
    twin, count = Counter(names).most_common(1)[0] if names else ("", 0)
    if count > 1:
        what = f"column {twin!r} stands twice"
        raise InputError(what, where=path, line=1, fix="give one of them another name")
    return names
