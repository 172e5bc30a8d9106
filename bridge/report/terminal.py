"""The verdict for a terminal: plain aligned text that a log keeps as it is."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from bridge.model.verdict import Verdict
from bridge.report import words
from bridge.report.inert import one_line

MOST_CASES = 12
COLOURS = {"passed": 32, "failed": 31, "inconclusive": 33, "error": 31}
HEAD = (
    "metric",
    "status",
    "mean",
    "95% interval",
    "n",
    "pass",
    "base",
    "change, 95%",
    "p",
    "detectable",
)


def to_terminal(verdict: Verdict, *, colour: bool = False) -> str:
    """The verdict as text.

    Args:
        verdict: What to show.
        colour: Whether to colour the headline by ANSI escapes.
    """
    return "\n".join(_lines(verdict, colour)) + "\n"


def _lines(verdict: Verdict, colour: bool) -> Iterator[str]:
    headline = one_line(words.headline(verdict))
    code = COLOURS[verdict.verdict]
    yield f"\x1b[1;{code}m{headline}\x1b[0m" if colour else headline
    for reason in verdict.reasons:
        yield f"  - {one_line(reason, 300)}"
    yield ""
    rows = [
        (
            one_line(name, 40),
            result.status,
            words.number(result.mean),
            words.interval(result),
            str(result.n),
            words.number(result.pass_rate),
            words.number(result.baseline),
            words.change(result),
            words.number(result.p, 4),
            words.power(result),
        )
        for name, result in verdict.metrics.items()
    ]
    yield from table(HEAD, rows)
    if verdict.weighted_score is not None:
        yield f"weighted score {verdict.weighted_score:.3f}"
    yield from _regressions(verdict)
    yield from _cases(verdict)
    yield ""
    for note in verdict.notes:
        yield f"note: {one_line(note, 300)}"
    yield words.totals_line(verdict)


def _regressions(verdict: Verdict) -> Iterator[str]:
    if verdict.regressed:
        yield ""
    for found in verdict.regressed:
        yield f"regressed: {one_line(words.regression(found), 300)}"
        shown = ", ".join(one_line(case, 40) for case in found.cases[:MOST_CASES])
        more = len(found.cases) - MOST_CASES
        yield f"  cases: {shown}{f' and {more} more' if more > 0 else ''}"


def _cases(verdict: Verdict) -> Iterator[str]:
    if not verdict.failures:
        return
    yield ""
    rows = [
        (
            one_line(case.case_id, 30) + ("" if case.turn is None else f" turn {case.turn}"),
            one_line(case.metric, 24),
            words.number(case.baseline, 2),
            case.status if case.value is None else words.number(case.value, 2),
            one_line(case.failure_mode or "", 24),
            one_line(case.reason, 80),
        )
        for case in verdict.failures[:MOST_CASES]
    ]
    yield from table(("case", "metric", "was", "is", "failure mode", "reason"), rows)
    rest = len(verdict.failures) - MOST_CASES
    if rest > 0:
        yield f"... and {rest} more in eval-report.json"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Cells as aligned columns."""
    widths = [max(_width(row[i]) for row in (head, *rows)) for i in range(len(head))]
    for row in (head, tuple("-" * width for width in widths), *rows):
        cells = (
            cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)
        )
        yield "  ".join(cells).rstrip()


def _width(text: str) -> int:
    """Columns on a terminal: wide characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )
