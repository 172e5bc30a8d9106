"""Rows of other people's tables by the fields of a format, with what became of each column."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from bridge.files.foreign.tables import Table
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import (
    KEPT,
    NATIVE,
    Claim,
    Claims,
    Tally,
    carried,
    dropped,
)
from bridge.plugin.carry import KEY
from bridge.plugin.cases.columns import match_columns
from bridge.plugin.cases.listed import PASSAGES, ListCells

Synonyms = Mapping[str, Collection[str]]

COMMENT = dropped("a row that says nothing but a comment and placeholders")
_COMMENTS = ("_", "#", "//")
_PLACEHOLDER = re.compile(
    r"\s*(?:\.\.+|…|<[^<>]{0,200}>|\[[^\[\]]{0,200}\]|todo\b.{0,200}|tbd|placeholder|x{3,})?\s*",
    re.IGNORECASE,
)
ASKS_NOTHING = dropped("a row that asks nothing")
AROUND = dropped("stands around the rows and belongs to no case")
OURS = carried("what our own export carries: read back")


class TableRows:
    """The rows of a table by field.

    Args:
        table: The table.
        lists: Reads its cells of passages.

    Attributes:
        claims: What becomes of its rows.
        used: The column of each field that some row has.
    """

    def __init__(self, table: Table, lists: ListCells | None = None) -> None:
        self.table = table
        self._lists = lists or ListCells()
        self.claims = Claims()
        self._columns: dict[tuple[tuple[str, ...], int], dict[str, str]] = {}
        self._skipped: dict[str, int] = {}
        self.used: dict[str, str] = {}

    def of(
        self, index: int, synonyms: Synonyms, given: Mapping[str, str] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """A row's values by field, and the rest of it by column.

        Args:
            index: Which row.
            synonyms: Names of each field.
            given: The column of some fields, where they are known.
        """
        row = self.table.rows[index]
        key = (tuple(row), id(synonyms))
        columns = self._columns.get(key)
        if columns is None:
            columns = self._columns[key] = columns_of(row, synonyms, given or {})
            self.used |= columns
        taken = set(columns.values())
        for name in row:
            self.claims.put(NATIVE if name in taken or row[name] is None else KEPT, index, name)
        values = {
            field: self._lists.of(column, row[column]) if field in PASSAGES else row[column]
            for field, column in columns.items()
        }
        rest = {name: value for name, value in row.items() if name not in taken}
        return self._blanked(values), self._blanked(rest)

    def _blanked(self, values: dict[str, Any]) -> dict[str, Any]:
        """Empty cells of a CSV file say that there is no value."""
        if not self.table.text:
            return values
        return {name: None if value == "" else value for name, value in values.items()}

    def claim(self, claim: Claim, index: int, *below: str) -> None:
        """Say what became of a row, or of what is below it."""
        if below:
            self.claims.put(claim, index, *below)
        else:
            for name in self.table.rows[index]:
                self.claims.put(claim, index, name)

    def skip(self, claim: Claim, index: int) -> None:
        """Leave a row out."""
        self.claim(claim, index)
        self._skipped[claim.reason] = self._skipped.get(claim.reason, 0) + 1

    def refuse_if_nothing(self, source: Any, cases: int, title: str) -> None:
        """Refuse a table in which no row is a case.

        Raises:
            InputError: If there is none.
        """
        if not cases:
            names = ", ".join(self.table.columns[:8])
            what = f"no {title}: no row asks anything (columns {names})"
            alone = len(self.table.rows) == 1 and all(
                isinstance(cell, dict | list) for cell in self.table.rows[0].values()
            )
            fix = (
                "write a list of cases"
                if alone
                else "name it: --read-option fields={FIELD: COLUMN}"
            )
            raise InputError(what, where=source, fix=fix)

    def count(self, tally: Tally, at: str = "") -> None:
        """Count every leaf of the table."""
        place = f"{at}:{self.table.at}" if at and self.table.at else at or self.table.at
        tally.document(self.table.rows, self.claims, at=place)
        if self.table.around:
            tally.document(dict(self.table.around), Claims(), at=at, otherwise=AROUND)

    def notes(self) -> list[str]:
        """What a reader should know."""
        skipped = [f"{count} rows left out: {why}" for why, count in self._skipped.items()]
        renamed = [f"{field} from {name!r}" for field, name in self.used.items() if field != name]
        shown = [f"columns told by their names: {', '.join(renamed)}"] if renamed else []
        return [*self.table.notes, *shown, *self._lists.notes(), *skipped]


def columns_of(
    row: Mapping[str, Any], synonyms: Synonyms, given: Mapping[str, str]
) -> dict[str, str]:
    """The column of each field: as given, else as its name tells."""
    known = {field: column for field, column in given.items() if column in row}
    free = [name for name in row if name not in known.values()]
    others = {field: names for field, names in synonyms.items() if field not in known}
    return known | match_columns(free, others)


def split(row: Mapping[str, Any], synonyms: Synonyms) -> tuple[dict[str, Any], dict[str, Any]]:
    """A row's values by field, and the rest of it by column."""
    columns = columns_of(row, synonyms, {})
    taken = set(columns.values())
    values = {field: row[column] for field, column in columns.items()}
    return values, {name: value for name, value in row.items() if name not in taken}


def is_comment(row: Mapping[str, Any]) -> bool:
    """Whether a row says nothing but comments: keys such as ``_comment``, beside placeholders."""
    said = [value for name, value in row.items() if not name.startswith(_COMMENTS)]
    return len(said) < len(row) and all(map(is_placeholder, said))


def is_placeholder(value: Any) -> bool:
    """Whether a value only says that one should stand there: ``<your question>``, ``...``, TODO."""
    waiting = [value]
    while waiting:  # no recursion: what is nested too deeply is refused later, with its place
        item = waiting.pop()
        if isinstance(item, str):
            if _PLACEHOLDER.fullmatch(item) is None:
                return False
        elif isinstance(item, Mapping):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif item is not None:
            return False
    return True


def own_parts(metadata: Any) -> Mapping[str, Any] | None:
    """What a row of ours carries, from its metadata; ``None`` in anybody else's."""
    parts = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    return parts if isinstance(parts, Mapping) and "case" in parts else None
