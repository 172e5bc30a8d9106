"""Workbooks (.xlsx), where openpyxl is installed (the ``tables`` extra).

openpyxl was chosen because it streams rows and evaluates nothing; formulas give the values that
were saved with them.
"""

from __future__ import annotations

import math
import sys
import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bridge.files.foreign.apart import (
    MAX_UNPACKED,
    SPLIT,
    Row,
    answer,
    columns_of,
    fault,
    read_apart,
    row_number,
)
from bridge.model.counted import counted
from bridge.model.errors import InputError

_MAX_RATIO = 200
"""Most times its size that a workbook unpacks to, above ``_ANY_RATIO`` bytes; 5 to 50 are usual."""
_ANY_RATIO = 64 << 20


def read_workbook(path: Path, sheet: str = "") -> tuple[list[Row], list[str]]:
    """Rows of a sheet with their numbers, and notes; its first row names the columns.

    Args:
        path: The workbook.
        sheet: The sheet's name; the first one if left out, and the others are in the notes.

    Raises:
        InputError: If openpyxl is not installed, or the workbook is damaged or too large, or there
            is no such sheet.
    """
    if find_spec("openpyxl") is None:
        fix = "pip install 'bridge-evals[tables]'"
        raise InputError("a workbook needs openpyxl", where=path, fix=fix)
    return read_apart("bridge.files.foreign.workbook", path, sheet)


# --- in the process that reads --------------------------------------------------------------------


def _rows(path: Path, sheet: str) -> Iterator[Row | str]:
    _refuse_bomb(path)
    warnings.simplefilter("ignore")  # of styles, validations and the like, which no case has
    book = _book(path)
    names = [each.title for each in book.worksheets]
    if not names:
        raise fault("there is no sheet with cells", "save it as CSV")
    if sheet and sheet not in names:
        raise fault(f"there is no sheet {sheet!r}", f"use one of {', '.join(names)}")
    if names[1:] and not sheet:
        told = f"only the first sheet was read, {names[0]}, and not {', '.join(names[1:])}"
        yield f"{told}; --read-option sheet=NAME"
    chosen = sheet or names[0]
    yield from _of_sheet(book[chosen])
    if _has_formulas(path) and (count := _without_value(book[chosen], path)):
        told = f"{counted(count, 'formula')} saved without a value and left out"
        yield f"{told}; open the workbook in a spreadsheet program and save it"


def _book(path: Path, *, formulas: bool = False) -> Any:
    import openpyxl

    return openpyxl.load_workbook(path, read_only=True, data_only=not formulas)


def _has_formulas(path: Path) -> bool:
    """Whether any sheet holds a formula: an element ``f`` in its XML."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/"):
                with archive.open(name) as file:
                    before = b""
                    while block := file.read(1 << 20):
                        if b"<f>" in before + block or b"<f " in before + block:
                            return True
                        before = block[-2:]
    return False


def _without_value(values: Any, path: Path) -> int:
    """Formulas of a sheet that nobody has computed, as of a program that wrote the file."""
    formulas = _book(path, formulas=True)[values.title]
    formulas.reset_dimensions()
    return sum(
        value is None and isinstance(formula, str) and formula.startswith("=")
        for pair in zip(values.values, formulas.values, strict=False)
        for value, formula in zip(*pair, strict=False)
    )


def _refuse_bomb(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MAX_UNPACKED:
        raise fault(f"unpacks to more than {MAX_UNPACKED >> 20} MiB", SPLIT)
    if size > _ANY_RATIO and size > _MAX_RATIO * path.stat().st_size:
        raise fault(f"unpacks to more than {_MAX_RATIO} times its size", SPLIT)


def _of_sheet(cells: Any) -> Iterator[Row]:
    """Rows below the head; cells under a nameless column are called by its place, as in CSV."""
    cells.reset_dimensions()  # a sheet's own word on its size may be wrong, and hides rows
    head: list[str] = []
    for number, row in enumerate(cells.iter_rows(values_only=True), 1):
        row_number(number)
        if not head:
            head = ["" if cell is None else str(cell).strip() for cell in row]
            columns_of(head, number)
            head = head if any(head) else []
        elif any(cell is not None for cell in row):
            yield number, {name: _as_json(cell) for name, cell in _named(head, row)}


def _named(head: list[str], row: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    for place, (name, cell) in enumerate(zip_longest(head, row)):
        if name or cell is not None:
            yield name or (f"column {place + 1}" if place else ""), cell


def _as_json(cell: Any) -> Any:
    if cell is None or isinstance(cell, str | bool | int):
        return cell
    if isinstance(cell, float):
        whole = math.isfinite(cell) and cell.is_integer()
        return int(cell) if whole else cell if math.isfinite(cell) else None
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    return cell.total_seconds() if isinstance(cell, timedelta) else str(cell)


if __name__ == "__main__":
    answer(_rows(Path(sys.argv[1]), sys.argv[2]), "workbook")
