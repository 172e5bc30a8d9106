"""The files with promptfoo's rows: JSON of versions 1 to 3, shared, a list, JSON Lines, CSV.

Whatever the file, :class:`Results` gives its rows one by one, in the order of tests and columns
(promptfoo writes them as they are finished), and the columns they stand in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bridge.files.foreign.json_items import MAX_WHOLE, JsonItems, Place, index_json, index_lines
from bridge.files.foreign.lenient import Lenient
from bridge.files.jsonl import BOM, unreadable
from bridge.files.no_data import refuse_no_data
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import Claims, Tally
from bridge.plugin.accounts.itemised import account_items
from bridge_promptfoo import records
from bridge_promptfoo.records import Column, Head, Row, Stats
from bridge_promptfoo.results import accounts
from bridge_promptfoo.results.table import open_table

ROWS: tuple[Place, ...] = (
    ("results", "results"),
    ("results",),
    ("data", "results", "results"),
    ("data", "results"),
    (),
)
"""Where rows may stand: in versions 3 and 2, in version 1, in what is shared, in a list."""
SKIPPED: tuple[Place, ...] = (
    ("config",),
    ("vars",),
    ("table", "body"),
    ("results", "table", "body"),
    ("data", "config"),
    ("data", "results", "table", "body"),
)
"""What repeats the rows, or was asked for; none of it is read."""


@dataclass(frozen=True, slots=True)
class About:
    """What a file says of its rows.

    Attributes:
        columns: Prompts with providers, by ``promptIdx``; empty where the file has none.
        names: Names of the prompts, all of them.
        stats: How many rows it speaks of.
        version: promptfoo's version.
        whole: Whether it is one document, which has totals unless the run was cut short.
        verdicts: Whether a row has a verdict of its own and nothing of its assertions.
    """

    columns: Sequence[Column] = ()
    names: frozenset[str] = frozenset()
    stats: Stats | None = None
    version: str = ""
    whole: bool = True
    verdicts: bool = False


class Results(Protocol):
    """A file, open for one walk over its rows."""

    @property
    def about(self) -> About:
        """What the file says of its rows."""
        ...

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Every row, with what it is called in errors."""
        ...

    def account(self, tally: Tally) -> None:
        """Count every leaf of the file."""
        ...

    def notes(self) -> list[str]:
        """What was mended while reading."""
        ...


def open_results(source: Path, encoding: str = "") -> Results:
    """A results file of any kind.

    Raises:
        InputError: If it is damaged or holds no results.
    """
    head = _first_bytes(source)
    if source.suffix.lower() == ".csv":
        return _Cells(source, encoding)
    if head[:1] not in (b"{", b"["):
        raise _refuse(source, "it is empty" if not head else "it is no JSON")
    lines = source.suffix.lower() in (".jsonl", ".ndjson")
    if (lines or head[:1] == b"[") and head[1:].strip() != b"]" and not _is_row(head):
        raise _refuse(source, "its rows are none of promptfoo's")
    if head[:1] == b"[" or source.suffix.lower() not in (".jsonl", ".ndjson"):
        document = index_json(source, ROWS, SKIPPED)
        if document.spans or source.suffix.lower() == ".json" or not _is_row(head):
            return _Document(source, document)
    return _Document(source, index_lines(source))


def _first_bytes(source: Path) -> bytes:
    try:
        with source.open("rb") as file:
            head = file.read(64 * 1024)
    except OSError as error:
        raise unreadable(source, error) from None
    refuse_no_data(head, source, text="any" if source.suffix.lower() == ".csv" else "UTF-8")
    return head.removeprefix(BOM).lstrip()


def _is_row(head: bytes) -> bool:
    return b'"gradingResult"' in head or b'"testCase"' in head or b'"promptIdx"' in head


class _Document:
    """Rows of a JSON document, or of JSON Lines, which are a list without brackets."""

    def __init__(self, source: Path, document: JsonItems) -> None:
        self._source = source
        self._document = document
        self._where = next((place for place in ROWS if place in document.spans), None)
        self._row: Lenient[Row] = Lenient(Row)
        if self._where is None:
            raise _refuse(source, "it holds no results")
        self._order, names = self._places()
        self.about = self._read_head(names) if document.head else About((), names, whole=False)
        if self._where == ():
            self.about = About((), names, whole=False)

    def _read_head(self, names: frozenset[str]) -> About:
        try:
            head = Lenient[Head](Head).decode(self._document.head)
        except ValueError as error:
            if self._where == ():
                return About((), names, whole=False)
            raise _refuse(self._source, str(error)) from None
        version = head.metadata.promptfoo_version if head.metadata is not None else ""
        head = head if head.data is None else head.data
        if isinstance(head.results, records.Results):
            results = head.results
        else:
            results = records.Results(head.version, None, head.stats, head.table)
        columns = results.prompts
        if columns is None and results.table is not None:
            given = results.table.head.prompts
            columns = [Column(raw=each) if isinstance(each, str) else each for each in given]
        names |= {column.name for column in columns or ()}
        verdicts = results.version == 1 or (results.version is None and results is not head.results)
        return About(columns or (), names, results.stats, version, verdicts=verdicts)

    def _places(self) -> tuple[Sequence[int], frozenset[str]]:
        """The order of the rows, and the names of their prompts where only they have them."""
        assert self._where is not None
        count = self._document.count(self._where)
        place: Lenient[records.Place] = Lenient(records.Place)
        tests, prompts = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
        names: set[str] = set()
        for number, item in enumerate(self._document.items(self._where)):
            row = self._decoded(place, item, number)
            tests[number], prompts[number] = row.test_idx, row.prompt_idx
            if self._where == () and len(names) < 2 and isinstance(row.prompt, records.Prompt):
                names.add(str(row.prompt.label or row.prompt.display or ""))
        return np.lexsort((prompts, tests)).tolist(), frozenset(names)

    def _decoded(self, decoder: Lenient[Any], item: bytes, number: int) -> Any:
        try:
            return decoder.decode(item)
        except ValueError as error:
            line = number + 1 if not self._document.head else None
            what = f"row {number + 1}: {error}"
        raise _refuse(self._source, what, line)

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Every row, by test and column."""
        assert self._where is not None
        items = self._document.items(self._where, self._order)
        for number, item in zip(self._order, items, strict=True):
            row = self._decoded(self._row, item, number)
            place = f"{row.test_idx}/{max(row.prompt_idx, 0)}"
            yield f"row {place if row.test_idx >= 0 else number + 1}", row

    def account(self, tally: Tally) -> None:
        """Count every leaf, also of what is skipped while reading."""
        assert self._where is not None
        if not self._document.head:
            account_items(tally, self._document, {self._where: accounts.ROW}, accounts.HEAD)
            return
        items: dict[Place, Claims] = {self._where: accounts.ROW}
        items |= dict.fromkeys((place for place in SKIPPED if "table" in place), accounts.TABLE)
        document = index_json(self._source, items, most=MAX_WHOLE)
        account_items(tally, document, items, accounts.HEAD)

    def notes(self) -> list[str]:
        """Numbers and texts that were no JSON."""
        return self._row.notes()


class _Cells:
    """Rows of a CSV export."""

    def __init__(self, source: Path, encoding: str) -> None:
        self._table = open_table(source, encoding)
        columns = [Column(label=prompt, provider=name) for name, prompt in self._table.systems]
        names = frozenset(column.name for column in columns)
        self.about = About(columns, names, whole=False, verdicts=True)

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Every cell with an answer."""
        yield from self._table.rows()

    def account(self, tally: Tally) -> None:
        """Count every cell that holds something."""
        self._table.account(tally)

    def notes(self) -> list[str]:
        """What a CSV export cannot say."""
        told = "a CSV export holds no assertions: a row has its verdict and named scores alone"
        return [*self._table.cells.notes, told]


def _refuse(source: Path, why: str, line: int | None = None) -> InputError:
    fix = "get a complete copy of promptfoo's own export"
    return InputError(f"no promptfoo results ({why})", where=source, line=line, fix=fix)
