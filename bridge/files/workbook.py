"""Workbooks (.xlsx), where openpyxl is installed (the ``tables`` extra).

openpyxl was chosen because it streams rows in constant memory and evaluates nothing; formulas give
the values that were saved with them.
"""

from __future__ import annotations

import zipfile
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from bridge.files.encodings import MAX_BYTES
from bridge.files.jsonl import unreadable
from bridge.model.errors import InputError

MAX_UNPACKED = 4 * MAX_BYTES
"""Most bytes that a workbook may say it unpacks to."""
MAX_COLUMNS = 1000


def read_workbook(path: Path, sheet: str = "") -> list[tuple[int, dict[str, Any]]]:
    """Rows of a sheet with their numbers; its first row that is not empty names the columns.

    Args:
        path: The workbook.
        sheet: The sheet's name; the first one if left out.

    Raises:
        InputError: If openpyxl is not installed, or the workbook is damaged or too large, or there
            is no such sheet.
    """
    try:
        import openpyxl
    except ImportError:
        fix = "pip install 'bridge-evals[tables]'"
        raise InputError("a workbook needs openpyxl", where=path, fix=fix) from None
    _refuse_bomb(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            return _rows(book, path, sheet)
        finally:
            book.close()
    except (InputError, MemoryError):
        raise
    except OSError as error:
        raise unreadable(path, error) from None
    except Exception as error:  # noqa: BLE001 - a damaged workbook breaks in any of its parts
        what = f"no workbook ({type(error).__name__}: {str(error)[:120]})"
        raise InputError(what, where=path, fix="save it again as .xlsx, or as CSV") from None


def _refuse_bomb(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except OSError as error:
        raise unreadable(path, error) from None
    except (zipfile.BadZipFile, ValueError) as error:
        what = f"no workbook ({error})"
        raise InputError(what, where=path, fix="save it as .xlsx, or as CSV") from None
    if size > MAX_UNPACKED:
        raise InputError(
            f"unpacks to more than {MAX_UNPACKED >> 20} MiB", where=path, fix="split it"
        )


def _rows(book: Any, path: Path, sheet: str) -> list[tuple[int, dict[str, Any]]]:
    names = [each.title for each in book.worksheets]
    if sheet and sheet not in names:
        what = f"there is no sheet {sheet!r}"
        raise InputError(what, where=path, fix=f"use one of {', '.join(names)}")
    if not names:
        raise InputError("there is no sheet with cells", where=path, fix="save it as CSV")
    head: list[str] = []
    rows: list[tuple[int, dict[str, Any]]] = []
    values = book[sheet or names[0]].iter_rows(values_only=True, max_col=MAX_COLUMNS)
    for number, cells in enumerate(values, 1):
        if all(cell is None for cell in cells):
            continue
        if not head:
            head = _head(cells, path, number)
            continue
        kept = {name: _as_json(cell) for name, cell in zip(head, cells, strict=False) if name}
        rows.append((number, kept))
    return rows


def _head(cells: tuple[Any, ...], path: Path, number: int) -> list[str]:
    names = ["" if cell is None else str(cell).strip() for cell in cells]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        what = f"column {twice!r} stands twice"
        raise InputError(what, where=path, line=number, fix="give one of them another name")
    return names


def _as_json(cell: Any) -> Any:
    if cell is None or isinstance(cell, str | bool | int):
        return cell
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() else cell
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    return cell.total_seconds() if isinstance(cell, timedelta) else str(cell)
