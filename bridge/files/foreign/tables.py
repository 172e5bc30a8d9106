"""Other people's tables: rows by column from CSV, JSON in every shape, Parquet and workbooks.

CSV in any dialect (commas, semicolons, tabs or pipes; line ends of every kind) and encoding; JSON
as a list of objects, one object, a wrapper around a list (``{"module": ..., "cases": [...]}``) or
by column (``{column: {row: value}}``, ``{column: [values]}``, pandas' ``split``). NaN and
infinities become null and are counted; repeated keys and ragged rows are refused.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.files.foreign.delimited import read_delimited
from bridge.files.foreign.encodings import Decoded, read_text
from bridge.files.foreign.parquet import read_parquet
from bridge.files.foreign.workbook import read_workbook
from bridge.model.errors import InputError
from bridge.model.values import clean_text, count_surrogates

Row = dict[str, Any]

WRAPPERS = (
    "cases", "test_cases", "testCases", "goldens", "samples", "examples", "data", "dataset", "rows",
    "items", "records", "tests", "questions", "inputs", "evaluations", "evals",
)  # fmt: skip
"""Keys under which people wrap a list of cases, the likeliest first."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with the line each starts on.

    Attributes:
        columns: Names in order.
        rows: Cells by column.
        lines: 1-based line of each row; its number where a file has no lines.
        text: Whether every cell is text, as in a CSV file.
        around: What stands around the rows, in a wrapper.
        at: The wrapper's key of the rows; the place of ``rows`` in a report.
        notes: What a reader should know: a guessed encoding, a dialect, NaN tokens.
    """

    columns: list[str]
    rows: list[Row]
    lines: list[int]
    text: bool = False
    around: Mapping[str, Any] = field(default_factory=dict)
    at: str = ""
    notes: tuple[str, ...] = ()


def read_table(
    path: Path,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    wrapper: str = "",
    sheet: str = "",
) -> Table:
    """A file as a table, by its suffix; any other suffix by what it begins with.

    Args:
        path: The file.
        encoding: Its encoding; told by its bytes if left out.
        delimiter: What separates its cells; told by its first rows if left out.
        wrapper: The key of the rows in a JSON object; a usual one if left out.
        sheet: The sheet of a workbook; its first one if left out.

    Raises:
        InputError: If it is damaged, no table, or without a row.
    """
    suffix = path.suffix.lower()
    if suffix in (".xlsx", ".xlsm"):
        numbered, notes = read_workbook(path, sheet)
        return _records(numbered, path, notes=tuple(notes))
    if suffix in (".parquet", ".pq"):
        return _records(read_parquet(path), path)
    decoded = read_text(path, encoding)
    if suffix in (".csv", ".tsv", ".tab"):
        return _delimited(decoded, path, delimiter or ("\t" if suffix != ".csv" else None))
    begin = decoded.text.lstrip()[:1]
    if suffix in (".jsonl", ".ndjson"):
        return _lines(decoded, path)
    if begin not in ("[", "{"):
        if suffix == ".json":
            what = "empty" if not begin else "no JSON object and no list"
            raise InputError(what, where=path, fix="name a complete file")
        return _delimited(decoded, path, delimiter)
    return _document(decoded, path, wrapper)


def _delimited(decoded: Decoded, path: Path, delimiter: str | None) -> Table:
    found = read_delimited(decoded.text, path, delimiter)
    if not found.rows:
        what = "no row below its head" if found.columns else "empty"
        raise InputError(what, where=path, fix="name a file with rows")
    notes = [*found.notes, decoded.note]
    kept = tuple(note for note in notes if note)
    return Table(found.columns, found.rows, found.lines, text=True, notes=kept)


def _lines(decoded: Decoded, path: Path) -> Table:
    parser = _Parser(path)
    numbered: list[tuple[int, Row]] = []
    for number, line in enumerate(decoded.text.split("\n"), 1):
        if line.strip():
            numbered.append((number, parser.object(line, number)))
    return _records(numbered, path, notes=parser.notes(decoded))


def _document(decoded: Decoded, path: Path, wrapper: str) -> Table:
    parser = _Parser(path)
    try:
        value = parser.value(decoded.text, None)
    except InputError:
        lines = [line for line in decoded.text.split("\n", 2)[:2] if line.strip()]
        if len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines):
            return _lines(decoded, path)  # JSON Lines by another name
        raise
    at, rows = _rows_of(value, path, wrapper)
    around = {key: item for key, item in value.items() if key != at} if at else {}
    numbered = list(enumerate(rows, 1))
    return _records(numbered, path, at=at, around=around, notes=parser.notes(decoded))


def _rows_of(value: Any, path: Path, wrapper: str) -> tuple[str, list[Row]]:
    """The rows of a JSON document, and the key they stand under."""
    if isinstance(value, list):
        return "", _objects(value, path)
    if wrapper:
        if not isinstance(value.get(wrapper), list):
            raise InputError(f"no list under {wrapper!r}", where=path, fix="name the rows' key")
        return wrapper, _objects(value[wrapper], path)
    by_column = _by_column(value)
    if by_column is not None:
        return "", by_column
    usual = [key for key in WRAPPERS if _is_rows(value.get(key))]
    others = [key for key, item in value.items() if _is_rows(item) and key not in _OF_A_CASE]
    if usual or (len(others) == 1 and len(value) <= 3):
        key = (usual or others)[0]
        return key, _objects(value[key], path)
    return "", [value]


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _by_column(value: Row) -> list[Row] | None:
    """Rows of a document that is written column by column; ``None`` where it is none."""
    columns, data = value.get("columns"), value.get("data")
    if isinstance(columns, list) and isinstance(data, list) and set(value) <= _SPLIT:
        return [dict(zip(map(str, columns), row, strict=False)) for row in data]
    cells = list(value.values())
    if cells and all(isinstance(each, dict) and each for each in cells):
        keys = dict.fromkeys(key for each in cells for key in each)
        if all(key.isdecimal() for key in keys):
            return [{name: each.get(key) for name, each in value.items()} for key in keys]
    if len(cells) > 1 and all(isinstance(each, list) for each in cells):
        length = len(cells[0])
        if length and all(len(each) == length for each in cells):
            return [dict(zip(value, row, strict=True)) for row in zip(*cells, strict=True)]
    return None


_OF_A_CASE = frozenset({
    "turns", "messages", "conversation", "history", "user_input", "input", "tools", "tools_called",
    "toolsCalled", "expected_tools", "expectedTools", "tool_calls", "reference_tool_calls",
    "retrieval_context", "retrievalContext", "contexts", "context", "retrieved_contexts", "assert",
})  # fmt: skip
"""Keys of one case that hold lists of objects."""
_SPLIT = frozenset({"columns", "index", "data", "index_names", "column_names"})


def _objects(rows: list[Any], path: Path) -> list[Row]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            what = f"row {number} is {_kind(row)}, not an object"
            raise InputError(what, where=path, fix="write a list of objects")
    return rows


def _records(
    numbered: list[tuple[int, Row]],
    path: Path,
    *,
    at: str = "",
    around: Mapping[str, Any] | None = None,
    notes: tuple[str, ...] = (),
) -> Table:
    if not numbered:
        raise InputError("no rows", where=path, fix="name a file with rows")
    rows = [row for _, row in numbered]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [number for number, _ in numbered]
    return Table(columns, rows, lines, around=around or {}, at=at, notes=notes)


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", type(None): "null"}
    return kinds.get(type(value), "a number or truth value")


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(key): _without_surrogates(item) for key, item in value.items()}
    return value


class _Parser:
    """Reads foreign JSON: NaN and infinities as null, counted; repeated keys refused."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._absent = 0
        self._surrogates = 0

    def notes(self, decoded: Decoded) -> tuple[str, ...]:
        """What a reader should know."""
        many = f"{self._absent} NaN or infinite numbers were read as null" if self._absent else ""
        lone = f"{self._surrogates} lone surrogates became U+FFFD" if self._surrogates else ""
        return tuple(note for note in (decoded.note, many, lone) if note)

    def object(self, text: str, line: int) -> Row:
        """One line, which is an object."""
        value = self.value(text, line)
        if isinstance(value, dict):
            return value
        what = f"{_kind(value)}, not an object"
        raise InputError(what, where=self._path, line=line, fix="one JSON object a line")

    def value(self, text: str, line: int | None) -> Any:
        """Any JSON.

        Raises:
            InputError: If it is none.
        """
        try:
            value = json.loads(
                text,
                parse_constant=self._null,
                parse_float=self._finite,
                object_pairs_hook=self._unique,
            )
            return self._cleaned(value) if "\\ud" in text.lower() else value
        except json.JSONDecodeError as error:
            line = line or error.lineno
            what, fix = f"not JSON ({error.msg} at column {error.colno})", "mend it"
        except RecursionError:
            what, fix = "nested too deeply", "flatten it"
        except ValueError as error:
            what, fix = str(error), "mend it"
        raise InputError(what, where=self._path, line=line, fix=fix)

    def _cleaned(self, value: Any) -> Any:
        """A value whose lone surrogates, which no file can hold, are U+FFFD."""
        found = count_surrogates(value)
        self._surrogates += found
        return _without_surrogates(value) if found else value

    def _null(self, _: str) -> None:
        self._absent += 1

    def _finite(self, text: str) -> float | None:
        number = float(text)
        if math.isfinite(number):
            return number
        self._absent += 1
        return None

    def _unique(self, pairs: list[tuple[str, Any]]) -> Row:
        found = dict(pairs)
        if len(found) != len(pairs):
            twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise ValueError(f"key {twice!r} stands twice in one object")
        return found
