"""Any table of cases (CSV, TSV, JSON, JSON Lines, Parquet, XLSX), by a map of its columns.

Read options: ``map``, the column of each field (``{input: Frage, expected: Antwort}``; fields that
are left out are told by the names of the columns, and the map is shown); ``encoding`` and
``delimiter`` of a CSV file; ``separator`` of passages within a cell; ``sheet`` of a workbook;
``rows``, the key of the rows in a JSON object. Columns that no field takes are metadata. Parquet
and XLSX need the ``tables`` extra.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.files.foreign import tables
from bridge.files.foreign.cells import is_blank
from bridge.files.foreign.encodings import decoded_head
from bridge.files.foreign.tables import Row, Table, read_table
from bridge.files.shape import leading_keys
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.plugin.accounts.accounting import NATIVE, Claim, Claims, Tally, count_leaves, dropped
from bridge.plugin.cases.columns import INDEX, SYNONYMS, Ids, folded, match_columns
from bridge.plugin.cases.listed import PASSAGES, ListCells
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats.foreign import (
    asked,
    labels,
    made,
    object_of,
    passages,
    reference,
)
from bridge.plugin.options import refuse_others, text

NAME = "table"
WRAPPERS = frozenset(tables.WRAPPERS)
DELIMITED = (".csv", ".tsv", ".tab", ".txt")  # the last is Excel's "Unicode text"
BINARY = (".parquet", ".pq", ".xlsx", ".xlsm")
OPTIONS = ("map", "encoding", "delimiter", "separator", "sheet", "rows")
VARS = "vars."
"""Start of a field of the map that is a template value."""


@dataclass(frozen=True, slots=True)
class _Field:
    """A field that a column can be: where it goes, and how a cell is read."""

    of: str
    read: Callable[[Any], Any]


FIELDS: Mapping[str, _Field] = {
    "id": _Field("case", lambda cell: cell),
    "input": _Field("case", asked),
    "expected": _Field("case", reference),
    "reference_contexts": _Field("case", passages),
    "choices": _Field("case", labels),
    "tags": _Field("case", labels),
    "failure_mode": _Field("case", lambda cell: None if is_blank(cell) else str(cell)),
    "metadata": _Field("case", object_of),
    "output": _Field("output", lambda cell: "" if cell is None else cell),
    "retrieved_contexts": _Field("output", passages),
    "system": _Field("output", lambda cell: "default" if is_blank(cell) else str(cell)),
}
"""What a column can be, beside ``vars.<name>``."""
_TOLD = {name: names for name, names in SYNONYMS.items() if name in FIELDS}
"""Those of them that are told by a column's name."""
_NUMBERING = dropped("numbers the rows")
_BLANK = dropped("an empty cell")


class TableFormat:
    """Reads tables of cases, with recorded answers where they have a column of them."""

    info = FormatInfo(
        name=NAME,
        title="a table of cases",
        patterns=("*.csv",),
        reads=frozenset({"cases", "outputs"}),
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """Low: whatever knows a file better comes first."""
        suffix = path.suffix.lower()
        if suffix in BINARY:
            return 0.1
        if suffix in (".json", ".jsonl", ".ndjson"):
            names = leading_keys(head.lstrip(b"\xef\xbb\xbf[ \t\r\n"))
            if suffix == ".json" and not WRAPPERS.isdisjoint(names):
                return 0.05
        elif suffix in DELIMITED:
            names = _heads(head)
        else:
            return 0.0
        return 0.1 if "input" in match_columns(names, _TOLD) else 0.0

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a table.

        Raises:
            InputError: If it is damaged, or no column is the input.
        """
        given = options.options
        refuse_others(self.info, given, OPTIONS)
        table = read_table(
            source,
            encoding=text(given, "encoding"),
            delimiter=text(given, "delimiter"),
            wrapper=text(given, "rows") or "",
            sheet=text(given, "sheet") or "",
        )
        columns = column_map(table, given.get("map"), source)
        lists = ListCells(text(given, "separator") or "")
        return _Reading(source, table, columns, lists).read()

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Refuse: a table cannot hold what a case can.

        Raises:
            InputError: Always.
        """
        del bundle, options
        fix = "write a golden set: --to golden_set"
        raise InputError("tables are only read", where=dest, fix=fix)


TABLE = TableFormat()


def _heads(head: bytes) -> list[str]:
    """The names in the first line of a delimited file, whatever separates them."""
    line = decoded_head(head).lstrip("\r\n").split("\n", 1)[0]
    for separator in "\t;|":
        line = line.replace(separator, ",")
    return [name.strip(" \"'\r") for name in line.split(",")]


def column_map(table: Table, given: Any, source: Path) -> dict[str, str]:
    """The column of each field: what is given, and for the other fields what the names tell.

    Raises:
        InputError: If the map names what there is not, or no column is the input.
    """
    chosen = _checked(given, table, source)
    left = [name for name in table.columns if name not in chosen.values()]
    synonyms = {name: names for name, names in _TOLD.items() if name not in chosen}
    found = {**chosen, **match_columns(left, synonyms)}
    if "input" not in found:
        shown = ", ".join(table.columns[:12]) or "none"
        fix = "name it: --map input=COLUMN"
        raise InputError(f"no column is the input (there are: {shown})", where=source, fix=fix)
    if "output" not in found:  # nothing is recorded: what an answer would need is metadata
        return {name: column for name, column in found.items() if not _is_of_output(name)}
    return found


def _is_of_output(name: str) -> bool:
    return name in FIELDS and FIELDS[name].of == "output"


def _checked(given: Any, table: Table, source: Path) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"map is {given!r}", fix="write --map FIELD=COLUMN")
    exactly = {name: name for name in table.columns}
    loosely = {folded(name): name for name in reversed(table.columns)}
    chosen: dict[str, str] = {}
    for name, column in given.items():
        if name not in FIELDS and not (name.startswith(VARS) and len(name) > len(VARS)):
            fix = f"use {', '.join(FIELDS)} or vars.NAME"
            raise InputError(f"no field {name!r} to map", fix=fix)
        there = exactly.get(str(column)) or loosely.get(folded(str(column)))
        if there is None:
            shown = ", ".join(table.columns[:12])
            what = f"there is no column {column!r}"
            raise InputError(what, where=source, fix=f"use one of {shown}")
        chosen[name] = there
    return chosen


@dataclass(slots=True)
class _Reading:
    """One table being read."""

    source: Path
    table: Table
    columns: Mapping[str, str]
    lists: ListCells
    ids: Ids = field(default_factory=Ids)
    tally: Tally = field(default_factory=Tally)

    def read(self) -> tuple[Bundle, ConversionReport]:
        cases: list[Case] = []
        outputs: list[Output] = []
        for number, (row, line) in enumerate(
            zip(self.table.rows, self.table.lines, strict=True), 1
        ):
            cases.append(self._case(row, number, line))
            if "output" in self.columns:
                outputs.append(self._output(row, cases[-1].id, line))
        if self.table.around:
            self.tally.document(dict(self.table.around), Claims())
        report = self.tally.report(self.source, NAME, self._notes())
        return Bundle(cases=tuple(cases), outputs=tuple(outputs)), report

    def _case(self, row: Row, number: int, line: int) -> Case:
        fields: dict[str, Any] = {"input": "", "expected": "", "metadata": {}}
        taken = set(self.columns.values())
        for name, column in self.columns.items():
            if column not in row:
                continue
            if name.startswith(VARS):
                fields.setdefault("vars", {})[name.removeprefix(VARS)] = row[column]
                self._count(column, row[column])
            elif FIELDS[name].of == "case":
                fields |= self._field(name, column, row[column], line)
        for column, value in row.items():
            if column in taken:
                continue
            if column in INDEX:
                self._count(column, value, _NUMBERING)
            elif value is None or (self.table.text and value == ""):
                self._count(column, value, _BLANK)
            else:
                fields["metadata"] = {**fields["metadata"], column: value}
                self._count(column, value)
        fields["id"] = self.ids.of(fields.get("id"), number)
        return made(Case, fields, self.source, line)

    def _field(self, name: str, column: str, value: Any, line: int) -> dict[str, Any]:
        read = FIELDS[name].read(self.lists.of(column, value) if name in PASSAGES else value)
        if read is None and name == "metadata":
            read = {column: value}
        if is_blank(value) and name != "output":
            self._count(column, value, _BLANK)
            if name == "input":
                what = f"its input is empty (column {column!r})"
                fix = "mend it, or name another column: --map input=COLUMN"
                raise InputError(what, where=self.source, line=line, fix=fix)
        else:
            self._count(column, value)
        return {name: read}

    def _output(self, row: Row, case_id: str, line: int) -> Output:
        fields: dict[str, Any] = {"case_id": case_id}
        for name, column in self.columns.items():
            if column in row and _is_of_output(name):
                value = self._field(name, column, row[column], line)[name]
                fields["text" if name == "output" else name] = value
        return made(Output, fields, self.source, line)

    def _count(self, column: str, value: Any, claim: Claim = NATIVE) -> None:
        self.tally.add(f"{self.table.at}[].{column}", claim, count_leaves(value))

    def _notes(self) -> Iterator[str]:
        yield from self.table.notes
        yield from self.lists.notes()
        shown = ", ".join(f"{name}={column}" for name, column in self.columns.items())
        yield f"columns: {shown}; change it with --map FIELD=COLUMN"
        left = [name for name in self.table.columns if name not in self.columns.values()]
        kept = [name for name in left if name not in INDEX]
        if kept:
            more = f" and {len(kept) - 12} more" if len(kept) > 12 else ""
            yield f"metadata: {', '.join(kept[:12])}{more}"
        yield from self.ids.notes()
