"""Aligned columns and wrapped lines on a terminal of some width."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

GAP = "  "
LEAST = 8
"""Columns that a cell is not cut below."""


def cell_width(text: str) -> int:
    """Columns that a text takes: wide characters two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut(text: str, width: int) -> str:
    """A text of at most ``width`` columns, with an ellipsis where it was longer."""
    if cell_width(text) <= width:
        return text
    kept, room = "", width - 1
    for char in text:
        room -= _columns(char)
        if room < 0:
            break
        kept += char
    return f"{kept}…"


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None
) -> Iterator[str]:
    """Cells as aligned columns.

    Args:
        head: Names of the columns.
        rows: Cells, as many a row as there are names.
        width: Most columns of a line; the last cell of each row is cut to fit, and where that is
            not enough the widest ones, to ``LEAST`` columns each.
    """
    widths = [max(cell_width(row[i]) for row in (head, *rows)) for i in range(len(head))]
    if width is not None:
        _fit(widths, width - len(GAP) * (len(widths) - 1))
    for row in (head, tuple("-" * each for each in widths), *rows):
        cells = [cut(cell, each) for cell, each in zip(row, widths, strict=True)]
        yield GAP.join(
            cell + " " * (each - cell_width(cell)) for cell, each in zip(cells, widths, strict=True)
        ).rstrip()


def _fit(widths: list[int], room: int) -> None:
    """Narrow columns until they fit into the room, if they can."""
    excess = max(sum(widths) - room, 0)
    last = min(excess, max(widths[-1] - LEAST, 0))
    widths[-1] -= last
    for _ in range(excess - last):
        widest = max(range(len(widths)), key=widths.__getitem__)
        widths[widest] -= widths[widest] > LEAST


def table_width(head: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Columns that a table takes."""
    widths = [max(cell_width(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return sum(widths) + len(GAP) * (len(widths) - 1)


def wrapped(text: str, width: int | None, first: str = "", rest: str = "  ") -> Iterator[str]:
    """A text as lines of at most ``width`` columns, broken at blanks alone.

    Args:
        text: One line.
        width: Most columns of a line; as long as it gets if ``None``.
        first: What the first line begins with.
        rest: What the others begin with.
    """
    line = f"{first}{text}"
    if width is None or cell_width(line) <= width:
        yield line
        return
    line = first
    for word in text.split():
        joined = f"{line} {word}" if line.strip() and line != first else f"{line}{word}"
        if cell_width(joined) > width and line not in (first, rest):
            yield line
            joined = f"{rest}{word}"
        line = joined
    yield line
