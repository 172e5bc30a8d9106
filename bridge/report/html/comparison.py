"""A comparison as a page: its tables, and the answers of changed cases side by side."""

from __future__ import annotations

from bridge.model.comparison import Comparison
from bridge.report.compared import grids, headline, legend
from bridge.report.html.rendering import render

LONGEST = 20_000
"""Most characters of an answer."""


def to_html(found: Comparison) -> str:
    """The comparison as one self-contained page without a script."""
    return render(
        "comparison.html.jinja",
        headline=headline(found),
        found=found,
        grids=list(grids(found)),
        legend=legend(found),
        answered=[each for each in found.changes if any(text is not None for text in each.answers)],
        preferred=found.preferences.cases if found.preferences is not None else (),
        longest=LONGEST,
    )
