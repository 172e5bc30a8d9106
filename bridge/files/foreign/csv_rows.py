"""CSV files of other people, row by row: in their encoding, with their separator."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bridge.files.foreign.encodings import encoding_of
from bridge.files.jsonl import unreadable
from bridge.model.errors import InputError

MAX_CELL = 64 * 1024 * 1024
"""Longest cell read, in characters."""
SEPARATORS = ",;\t"
HEAD = 64 * 1024


@dataclass(frozen=True, slots=True)
class CsvRows:
    """A CSV file, open for as many walks as needed.

    Attributes:
        path: The file.
        header: Names of the columns.
        separator: What stands between two cells.
        encoding: How the text is encoded.
        notes: What a reader should know, where the encoding was guessed.
    """

    path: Path
    header: tuple[str, ...]
    separator: str
    encoding: str
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """The 1-based line on which each row starts, and its cells; blank rows are left out.

        Raises:
            InputError: At a row that is no CSV or has too many cells or too few.
        """
        allow_long_cells()
        line = 1
        try:
            with self.path.open(encoding=self.encoding, newline="") as file:
                rows = csv.reader(_checked(file), strict=True, delimiter=self.separator)
                for number, cells in enumerate(rows):
                    if cells and number:
                        if len(cells) != len(self.header):
                            width = len(self.header)
                            what = f"{len(cells)} cells in a table of {width} columns"
                            raise self._refuse(what, line)
                        yield line, cells
                    line = rows.line_num + 1
        except csv.Error as error:
            raise self._refuse(f"no CSV ({error})", line) from None
        except UnicodeError as error:
            raise _undecodable(self.path, self.encoding, error) from None
        except OSError as error:
            raise unreadable(self.path, error) from None

    def _refuse(self, what: str, line: int) -> InputError:
        return InputError(what, where=self.path, line=line, fix="mend the row")


def allow_long_cells() -> None:
    """Let cells be as long as ``MAX_CELL``: the limit is the whole process's and never lowered."""
    if csv.field_size_limit() < MAX_CELL:
        csv.field_size_limit(MAX_CELL)


def open_csv(path: Path, *, encoding: str = "", repeated: bool = False) -> CsvRows:
    """A CSV file, with its header read.

    Args:
        path: The file.
        encoding: Its encoding; told by its first bytes if left out.
        repeated: Whether a name may stand over several columns.

    Raises:
        InputError: If it cannot be read, is no such text, or its header is none.
    """
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise unreadable(path, error) from None
    encoding, note = (_known(encoding, path), "") if encoding else encoding_of(head, path)
    text = head.decode(encoding, "ignore")
    separator = separator_of(text)
    names = tuple(header_of(text, separator))
    if not repeated:
        _refuse_twice(names, path)
    return CsvRows(path, names, separator, encoding, (note,) if note else ())


def _known(encoding: str, path: Path) -> str:
    encoding = encoding.lower().replace("_", "-")
    try:
        "".encode(encoding)
    except LookupError:
        what = f"no encoding {encoding!r}"
        raise InputError(what, where=path, fix="name one such as cp1252") from None
    return "utf-8-sig" if encoding in ("utf-8", "utf8") else encoding


def separator_of(text: str) -> str:
    """The separator of a CSV file that begins so: the one that its header has most of."""
    first = header_line(text)
    return max(SEPARATORS, key=lambda each: len(header_of(first, each)))


def header_line(text: str) -> str:
    """The header of a CSV file as text, line ends inside quotes included."""
    quoted = False
    for place, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif char in "\r\n" and not quoted and text[:place].strip():
            return text[:place]
    return text


def header_of(text: str, separator: str = ",") -> list[str]:
    """The column names of a CSV file that begins with ``text``; none if it is no such file."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        return next((row for row in reader if row), [])
    except csv.Error:
        return []


def _checked(lines: Iterator[str]) -> Iterator[str]:
    """Lines, none of which is longer than a cell may be."""
    while True:
        line = lines.readline(MAX_CELL + 1)  # type: ignore[attr-defined]
        if not line:
            return
        if len(line) > MAX_CELL:
            raise csv.Error(f"a line is longer than {MAX_CELL >> 20} Mi characters")
        yield line


def _refuse_twice(names: tuple[str, ...], path: Path) -> None:
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        what = f"column {twice!r} stands twice"
        raise InputError(what, where=path, line=1, fix="give one of them another name")


def _undecodable(path: Path, encoding: str, error: UnicodeError) -> InputError:
    name = encoding.removesuffix("-sig").upper()
    near = f" (near byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
    fix = "save the file as UTF-8, or name its encoding (such as cp1252)"
    return InputError(f"not {name}{near}", where=path, fix=fix)
