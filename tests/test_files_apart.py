"""Binary tables that are hostile: what reads them may die, and the error is one line."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from bridge.files.foreign import apart
from bridge.files.foreign.apart import MAX_ROWS
from bridge.files.foreign.tables import read_table
from bridge.model import InputError

HEAD = b"<c r='A1' t='inlineStr'><is><t>input</t></is></c>"


def workbook(path: Path, rows: Iterable[bytes], dimension: bytes = b"") -> Path:
    """A workbook whose sheet is written by hand, below a head with the one column ``input``."""
    from openpyxl import Workbook

    made = io.BytesIO()
    Workbook().save(made)
    with zipfile.ZipFile(made) as source, zipfile.ZipFile(path, "w", 8) as target:
        for name in source.namelist():
            if name != "xl/worksheets/sheet1.xml":
                target.writestr(name, source.read(name))
        with target.open("xl/worksheets/sheet1.xml", "w") as sheet:
            space = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
            sheet.write(b"<worksheet xmlns='%s'>%s<sheetData>" % (space, dimension))
            sheet.write(b"<row r='1'>%s</row>" % HEAD)
            for row in rows:
                sheet.write(row)
            sheet.write(b"</sheetData></worksheet>")
    return path


def table(columns: Any, names: list[str] | None = None) -> Callable[[Path], Path]:
    """Writes columns as a Parquet file."""

    def write(folder: Path) -> Path:
        made = pa.table(columns, names=names) if names else pa.table(columns)
        parquet.write_table(made, folder / "t.parquet", compression="zstd")
        return folder / "t.parquet"

    return write


def sheet(*rows: bytes) -> Callable[[Path], Path]:
    """Writes rows as a workbook."""
    return lambda folder: workbook(folder / "t.xlsx", rows)


def cut(folder: Path) -> Path:
    """A Parquet file of which a page announces more than is there."""
    path = folder / "t.parquet"
    rows = pa.table({"input": ["q"] * 8, "contexts": [["a", "b"], []] * 4})
    parquet.write_table(rows, path, row_group_size=1, data_page_size=1)
    return path


REFUSED: dict[str, tuple[Callable[[Path], Path], str]] = {
    "rows of nothing": (table({"input": pa.nulls(MAX_ROWS + 1, pa.string())}), "more than 1048576 rows"),
    "columns of one name": (table([["a"], ["b"]], ["input", "input"]), "column 'input' stands twice"),
    "bytes": (table({"input": [b"x"]}), "a column of bytes, which is no text"),
    "a gap of a trillion rows": (sheet(b"<row r='999999999999'><c><v>1</v></c></row>"), "more than 1048576 rows"),
    "a row of 20 million cells": (sheet(b"<row r='2'>", b"<c/>" * 20_000_000, b"</row>"), "times its size"),
    "a number that is none": (sheet(b"<row r='2'><c r='A2'><v>" + b"9" * 5000 + b"</v></c></row>"), "no workbook"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_hostile_ends_in_one_line(tmp_path: Path, name: str) -> None:
    make, message = REFUSED[name]
    path = make(tmp_path)
    with pytest.raises(InputError, match=message) as caught:
        read_table(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_small_page_that_is_repeated_stops_at_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of a kilobyte announces a megabyte, and its rows are 64."""
    path = table({"input": pa.array(["x" * 1_000_000] * 64).dictionary_encode()})(tmp_path)
    assert path.stat().st_size < 2000
    assert len(read_table(path).rows) == 64
    monkeypatch.setattr(apart, "MAX_UNPACKED", 16 << 20)
    with pytest.raises(InputError, match="unpacks to more than 16 MiB; split it"):
        read_table(path)


DEATHS = {
    "killed": ("os.kill(os.getpid(), 9)", "what reads it was ended by SIGKILL"),
    "out of time": ("os.kill(os.getpid(), signal.SIGXCPU)", "what reads it took more than 60 s"),
    "exited": ("sys.exit(7)", "what reads it ended with 7"),
}


@pytest.mark.parametrize("name", DEATHS)
def test_a_reader_that_dies_costs_no_more_than_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Rows that it wrote before are none: the table would be cut short without a word."""
    code, message = DEATHS[name]
    (tmp_path / "dying.py").write_text(
        "import os, signal, sys\n"
        "from bridge.files.foreign.apart import answer\n"
        f"def rows():\n    yield 1, {{'input': 'q'}}\n    sys.stdout.flush()\n    {code}\n"
        "answer(rows(), 'file')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK")
    with pytest.raises(InputError, match=message) as caught:
        apart.read_apart("dying", path)
    assert str(caught.value).endswith("save it again, or as CSV")


def test_a_reader_that_wants_all_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "greedy.py").write_text(
        "from bridge.files.foreign.apart import answer\n"
        "def rows():\n    yield 1, {'input': 'x' * (5 << 30)}\n"
        "answer(rows(), 'file')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    with pytest.raises(InputError, match="needs more than 4 GiB to be read; split it"):
        apart.read_apart("greedy", tmp_path / "t.xlsx")


def test_rows_that_are_announced_and_not_there_are_missed(tmp_path: Path) -> None:
    """pyarrow 26 reads no row of this file in batches, and raises nothing."""
    with pytest.raises(InputError, match="8 rows are announced, and 0 can be read"):
        read_table(cut(tmp_path))


def test_a_sheet_is_read_to_its_end_whatever_it_says_of_its_size(tmp_path: Path) -> None:
    """Cells under no name are called by their place, as in CSV; other sheets are named."""
    from openpyxl import Workbook, load_workbook

    rows = [b"<row r='%d'><c r='A%d'><v>%d</v></c><c r='C%d'><v>5</v></c></row>" % ((n,) * 4) for n in (2, 9)]  # fmt: skip
    path = workbook(tmp_path / "t.xlsx", rows, b"<dimension ref='A1'/>")
    read = read_table(path)
    assert read.rows == [{"input": 2, "column 3": 5}, {"input": 9, "column 3": 5}]
    assert read.lines == [2, 9]
    assert read.notes == ()
    book = load_workbook(path)
    assert isinstance(book, Workbook)
    book.create_sheet("more").append(["x"])
    book.save(path)
    told = "only the first sheet was read, Sheet, and not more; --read-option sheet=NAME"
    assert read_table(path).notes == (told,)
    assert read_table(path, sheet="Sheet").notes == ()
