"""Cells of passages: lists are read, texts split where asked for, and what may be several told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bridge.files.foreign.cells import is_blank, is_unread_list, parse_cell, parse_list

PASSAGES = frozenset(
    {"context", "contexts", "retrieval_context", "retrieved_contexts", "reference_contexts"}
)
"""Fields whose cells are lists of passages."""
MARKS = "|;"
"""What people separate passages with in one cell, where nothing says so."""


@dataclass(slots=True)
class _Seen:
    """The cells of a column that are one text."""

    texts: int = 0
    unread: int = 0
    marked: str = ""
    marks: int = 0


class ListCells:
    """Reads cells of passages, and counts those that may be more than one text.

    Args:
        separator: What separates passages within a cell that is no list in itself; "" if nothing.
        known: Separators that the format's own reader splits by.
    """

    def __init__(self, separator: str = "", known: str = "") -> None:
        self._separator = separator
        self._known = known
        self._columns: dict[str, _Seen] = {}

    def of(self, column: str, value: Any) -> Any:
        """A cell as a list where it is one, else as it is.

        Args:
            column: Its column, for the notes.
            value: The cell.
        """
        if not isinstance(value, str) or is_blank(value):
            return value
        if isinstance(parse_cell(value), list):
            return parse_list(value)
        if self._separator and self._separator in value:
            return [each.strip() for each in value.split(self._separator) if each.strip()]
        self._see(self._columns.setdefault(column, _Seen()), value)
        return value

    def _see(self, seen: _Seen, value: str) -> None:
        seen.texts += 1
        seen.unread += is_unread_list(value)
        mark = next((each for each in MARKS if each in value and each not in self._known), "")
        if mark:
            seen.marked, seen.marks = mark, seen.marks + 1

    def notes(self) -> Iterator[str]:
        """What a reader should know: cells kept as one text that may be several passages."""
        for column, seen in self._columns.items():
            if seen.unread:
                yield (
                    f"{column}: {seen.unread} cells look like a list and cannot be read as one: "
                    "each is kept as one text"
                )
            if 2 * seen.marks > seen.texts:  # now and then it is a mark in a sentence
                yield (
                    f"{column}: {seen.marks} cells hold {seen.marked!r}: each is kept as one text; "
                    f"if it separates passages, add --read-option separator='{seen.marked}'"
                )
