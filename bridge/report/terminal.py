"""The verdict for a terminal: plain aligned text that a log keeps as it is."""

from __future__ import annotations

from collections.abc import Iterator

from bridge.model.verdict import MetricResult, Verdict
from bridge.report import words
from bridge.report.columns import cut, table, table_width, wrapped
from bridge.report.inert import one_line

MOST_CASES = 12
MOST_LINES = 50
COLOURS = {"passed": 32, "failed": 31, "inconclusive": 33, "error": 31}

COLUMNS = (
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
DISPENSABLE = ("95% interval", "base", "pass")
"""Columns left out on a narrow terminal, in this order."""


def to_terminal(verdict: Verdict, *, width: int | None = None, colour: bool = False) -> str:
    """The verdict as text.

    Args:
        verdict: What to show.
        width: Columns of the terminal; nothing is wrapped if ``None``.
        colour: Whether to colour the headline by ANSI escapes.
    """
    return "\n".join(_lines(verdict, width, colour)) + "\n"


def _lines(verdict: Verdict, width: int | None, colour: bool) -> Iterator[str]:
    headline = words.headline(verdict, one_line(verdict.suite, 80))
    code = COLOURS[verdict.verdict]
    yield f"\x1b[1;{code}m{headline}\x1b[0m" if colour else headline
    yield from _listed(verdict.reasons, width, "  - ")
    yield ""
    yield from _metrics(verdict, width)
    yield from _regressions(verdict, width)
    yield from _cases(verdict, width)
    yield ""
    yield from _hints(verdict, width)
    yield from _listed(verdict.notes, width, "note: ")
    yield words.totals_line(verdict)


def _listed(texts: tuple[str, ...], width: int | None, mark: str) -> Iterator[str]:
    for text in texts[:MOST_LINES]:
        yield from wrapped(one_line(text, 300), width, mark, " " * len(mark))
    if len(texts) > MOST_LINES:
        yield f"{mark}{len(texts) - MOST_LINES} more in eval-report.json"


def _metrics(verdict: Verdict, width: int | None) -> Iterator[str]:
    rows = [_metric(name, result) for name, result in words.worst_first(verdict.metrics)]
    kept = [i for i in range(len(COLUMNS)) if i < 2 or any(row[i] != "-" for row in rows)]
    for name in DISPENSABLE:
        if width is not None and table_width(*_only(kept, rows)) > width:
            kept = [i for i in kept if COLUMNS[i] != name]
    yield from table(*_only(kept, rows), width)
    for line in words.legend(verdict):
        yield from wrapped(line, width)
    if verdict.weighted_score is not None:
        yield f"weighted score {verdict.weighted_score:.3f}"


def _metric(name: str, result: MetricResult) -> tuple[str, ...]:
    return (
        cut(one_line(name, 100), 30),
        result.status,
        words.number(result.mean),
        words.interval(result),
        str(result.n),
        words.number(result.pass_rate),
        words.number(result.baseline),
        words.change(result),
        words.p_value(result.p),
        words.power(result),
    )


def _only(kept: list[int], rows: list[tuple[str, ...]]) -> tuple[list[str], list[list[str]]]:
    return [COLUMNS[i] for i in kept], [[row[i] for i in kept] for row in rows]


def _regressions(verdict: Verdict, width: int | None) -> Iterator[str]:
    if verdict.regressed:
        yield ""
    for found in verdict.regressed:
        text = f"{one_line(found.metric, 80)} {words.regression(found, _mode)}"
        yield from wrapped(text, width, "regressed: ", "  ")
        shown = ", ".join(one_line(case, 40) for case in found.cases[:MOST_CASES])
        more = len(found.cases) - MOST_CASES
        cases = f"{shown}{f' and {more} more' if more > 0 else ''}"
        yield from wrapped(cases, width, "  cases: ", "  ")


def _hints(verdict: Verdict, width: int | None) -> Iterator[str]:
    for line in words.budget_lines(verdict, _mode):
        yield from wrapped(line, width, "budget: ", "        ")
    for line in words.slice_lines(verdict, _mode)[:MOST_CASES]:
        yield from wrapped(line, width, "look: ", "      ")
    for line in words.flaky_lines(verdict, _mode)[:MOST_CASES]:
        yield from wrapped(line, width, "epochs: ", "        ")


def _mode(name: str) -> str:
    return one_line(name, 40)


def _cases(verdict: Verdict, width: int | None) -> Iterator[str]:
    lines = words.case_lines(verdict.failures)
    if not lines:
        return
    yield ""
    rows = [
        (
            cut(one_line(line.case, 100), 32),
            cut(one_line(line.worst.metric, 100), 20),
            words.number(line.worst.baseline, 2),
            line.now,
            cut(one_line(line.worst.failure_mode or "-", 100), 20),
            cut(one_line(line.worst.reason, 200), 100),
        )
        for line in lines[:MOST_CASES]
    ]
    yield from table(("case", "metric", "was", "is", "failure mode", "reason"), rows, width)
    if len(lines) > MOST_CASES:
        yield f"... and {len(lines) - MOST_CASES} more in eval-report.json"
