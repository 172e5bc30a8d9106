"""The verdict as Markdown, for job summaries and pull request comments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bridge.model.verdict import MetricResult, Verdict
from bridge.report import words
from bridge.report.inert import code

LIMIT = 60_000
"""Most characters; GitHub cuts comments at 65,536."""
MOST_CASES = 50
MOST_LINES = 50
MARK = {"passed": "✅", "failed": "❌", "inconclusive": "❔", "error": "⚠️", "shown": "·"}


def to_markdown(verdict: Verdict) -> str:
    """The verdict, worst first, of at most ``LIMIT`` characters.

    Whatever text is not ours stands in code spans, in which nothing is read.
    """
    return bounded(_lines(verdict), "(cut: the whole list is in eval-report.json)")


def bounded(lines: Iterable[str], cut: str) -> str:
    """Lines as a text of at most ``LIMIT`` characters.

    Args:
        lines: The lines.
        cut: What stands in place of those that do not fit.
    """
    kept: list[str] = []
    size = len(cut) + 2
    for line in lines:
        size += len(line) + 1
        if size > LIMIT:
            kept += ["", cut]
            break
        kept.append(line)
    return "\n".join(kept) + "\n"


def _lines(verdict: Verdict) -> Iterator[str]:
    yield f"## {MARK[verdict.verdict]} {words.headline(verdict, code(verdict.suite, 80))}"
    yield ""
    if verdict.reasons:
        yield from _listed(verdict.reasons)
        yield ""
    yield from _metrics(verdict)
    yield from _regressions(verdict)
    yield from _cases(verdict)
    yield from _hints("Budgets", words.budget_lines(verdict, _mode))
    yield from _hints("Where to look", words.slice_lines(verdict, _mode))
    yield from _hints("Epochs", words.flaky_lines(verdict, _mode))
    yield ""
    yield from _listed(verdict.notes)
    yield f"- {words.totals_line(verdict)}"


def _listed(texts: tuple[str, ...]) -> Iterator[str]:
    for text in texts[:MOST_LINES]:
        yield f"- {code(text, 400)}"
    if len(texts) > MOST_LINES:
        yield f"- {len(texts) - MOST_LINES} more in eval-report.json"


def _metrics(verdict: Verdict) -> Iterator[str]:
    if verdict.weighted_score is not None:
        yield f"Weighted score **{verdict.weighted_score:.3f}**"
        yield ""
    yield (
        "| | metric | mean | 95% interval | n | pass rate | baseline | change, 95% interval "
        "| p | detectable drop |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, result in words.worst_first(verdict.metrics):
        yield _row(name, result)
    yield ""
    for line in words.legend(verdict):
        yield f"- {line}"


def _row(name: str, result: MetricResult) -> str:
    cells = (
        MARK[result.status],
        code(name, 80),
        words.number(result.mean),
        words.interval(result),
        str(result.n),
        words.number(result.pass_rate),
        words.number(result.baseline),
        words.change(result),
        words.p_value(result.p).replace("<", "&lt; "),
        words.power(result),
    )
    return f"| {' | '.join(cells)} |"


def _regressions(verdict: Verdict) -> Iterator[str]:
    if verdict.regressed:
        yield ""
        yield "### Regressions"
    for found in verdict.regressed:
        yield f"- {code(found.metric, 80)} {words.regression(found, _mode)}"
        yield f"  - cases: {', '.join(code(case, 80) for case in found.cases)}"


def _hints(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield f"### {title}"
        yield from (f"- {line.replace('<', '&lt; ')}" for line in lines[:MOST_LINES])


def _mode(name: str) -> str:
    return code(name, 80)


def _cases(verdict: Verdict) -> Iterator[str]:
    lines = words.case_lines(verdict.failures)
    if not lines:
        return
    yield ""
    yield "### Cases, worst first"
    yield "| case | metric | was | is | failure mode | reason | where |"
    yield "|---|---|---|---|---|---|---|"
    for line in lines[:MOST_CASES]:
        yield _case(line)
    if len(lines) > MOST_CASES:
        yield f"\n{len(lines) - MOST_CASES} more in eval-report.json"


def _case(line: words.CaseLine) -> str:
    worst = line.worst
    cells = (
        code(line.case, 120),
        code(worst.metric, 80),
        words.number(worst.baseline, 2),
        line.now,
        code(worst.failure_mode or "", 80),
        code(worst.reason),
        code(worst.where or "", 120),
    )
    return f"| {' | '.join(cells)} |"
