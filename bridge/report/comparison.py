"""A comparison as text for a terminal, as Markdown, as JSON, and as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bridge.model.comparison import Comparison
from bridge.report.columns import table, wrapped
from bridge.report.compared import Grid, grids, headline, legend
from bridge.report.inert import code, json_text, one_line
from bridge.report.markdown import bounded

MOST_ON_TERMINAL, MOST_IN_MARKDOWN = 20, 50
"""Rows of a table that are shown."""


def to_terminal(found: Comparison, *, width: int | None = None) -> str:
    """The comparison as aligned text."""
    return "\n".join(_terminal_lines(found, width)) + "\n"


def _terminal_lines(found: Comparison, width: int | None) -> Iterator[str]:
    yield headline(found)
    for grid in grids(found):
        yield ""
        yield from table(grid.head, grid.rows[:MOST_ON_TERMINAL], width)
        yield from _beyond(grid, MOST_ON_TERMINAL)
    yield ""
    for text in (*legend(found), *(f"note: {one_line(note, 300)}" for note in found.notes)):
        yield from wrapped(text, width)


def _beyond(grid: Grid, most: int) -> Iterator[str]:
    left = max(0, len(grid.rows) - most) + grid.more
    if left:
        yield f"... and {left} more"


def to_markdown(found: Comparison) -> str:
    """The comparison as Markdown bounded for a comment; text that is not ours is code."""
    return bounded(_markdown_lines(found), "(cut: bridge compare --json has all of it)")


def _markdown_lines(found: Comparison) -> Iterator[str]:
    yield f"## {code(headline(found), 300)}"
    for grid in grids(found):
        yield ""
        yield f"### {grid.title}"
        yield f"| {' | '.join(grid.head)} |"
        yield f"|{'---|' * len(grid.head)}"
        for row in grid.rows[:MOST_IN_MARKDOWN]:
            yield f"| {' | '.join(code(cell) for cell in row)} |"
        yield from (f"\n{text}" for text in _beyond(grid, MOST_IN_MARKDOWN))
    yield ""
    yield from (f"- {text}" for text in legend(found))
    yield from (f"- {code(note, 400)}" for note in found.notes)


def to_json(found: Comparison) -> str:
    """The comparison as indented JSON."""
    return json_text(found.model_dump_json(indent=2)) + "\n"


def to_html(found: Comparison) -> str:
    """The comparison as one self-contained page."""
    from bridge.report.html.comparison import to_html as page

    return page(found)


KINDS: dict[str, Callable[[Comparison], str]] = {
    "terminal": to_terminal,
    "json": to_json,
    "markdown": to_markdown,
    "html": to_html,
}
"""Every kind of report on a comparison."""
