"""The verdict as Markdown, for job summaries and pull request comments."""

from __future__ import annotations

from collections.abc import Iterator

from bridge.model.verdict import FailedCase, MetricResult, Verdict
from bridge.report import words
from bridge.report.inert import markdown

LIMIT = 60_000
"""Most characters; GitHub cuts comments at 65,536."""
MOST_CASES = 50
MARK = {"passed": "✅", "failed": "❌", "inconclusive": "❔", "error": "⚠️", "shown": "·"}


def to_markdown(verdict: Verdict) -> str:
    """The verdict, worst first, of at most ``LIMIT`` characters."""
    lines: list[str] = []
    size = 0
    for line in _lines(verdict):
        size += len(line) + 1
        if size > LIMIT:
            lines.append("\n(cut: the whole list is in eval-report.json)")
            break
        lines.append(line)
    return "\n".join(lines) + "\n"


def _lines(verdict: Verdict) -> Iterator[str]:
    yield f"## {MARK[verdict.verdict]} {markdown(words.headline(verdict))}"
    yield ""
    for reason in verdict.reasons:
        yield f"- {markdown(reason, 400)}"
    if verdict.reasons:
        yield ""
    yield from _metrics(verdict)
    if verdict.regressed:
        yield ""
        yield "### Regressions"
        for found in verdict.regressed:
            yield f"- {markdown(words.regression(found), 400)}"
            yield f"  cases: {', '.join(markdown(case, 80) for case in found.cases)}"
    yield from _cases(verdict)
    yield ""
    for note in verdict.notes:
        yield f"- {markdown(note, 400)}"
    yield f"- {markdown(words.totals_line(verdict))}"


def _metrics(verdict: Verdict) -> Iterator[str]:
    level = f"{verdict.confidence:.0%}"
    if verdict.weighted_score is not None:
        yield f"Weighted score **{verdict.weighted_score:.3f}**"
        yield ""
    yield (
        "| | metric | mean | 95% interval | n | pass rate | baseline | change, 95% interval "
        f"| p (one-sided, Holm, decides at {level}) | detectable drop (n to decide) |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, result in verdict.metrics.items():
        yield _row(name, result)


def _row(name: str, result: MetricResult) -> str:
    cells = (
        MARK[result.status],
        markdown(name, 80),
        words.number(result.mean),
        words.interval(result),
        str(result.n),
        words.number(result.pass_rate),
        words.number(result.baseline),
        words.change(result),
        words.number(result.p, 4),
        words.power(result),
    )
    return f"| {' | '.join(cells)} |"


def _cases(verdict: Verdict) -> Iterator[str]:
    if not verdict.failures:
        return
    yield ""
    yield "### Cases, worst first"
    yield "| case | metric | was | is | failure mode | reason | where |"
    yield "|---|---|---|---|---|---|---|"
    for case in verdict.failures[:MOST_CASES]:
        yield _case(case)
    rest = len(verdict.failures) - MOST_CASES
    if rest > 0:
        yield f"\n{rest} more in eval-report.json"


def _case(case: FailedCase) -> str:
    turn = "" if case.turn is None else f" (turn {case.turn})"
    cells = (
        markdown(f"{case.case_id}{turn}", 80),
        markdown(case.metric, 80),
        words.number(case.baseline, 2),
        case.status if case.value is None else words.number(case.value, 2),
        markdown(case.failure_mode or ""),
        markdown(case.reason),
        markdown(case.where or "", 120),
    )
    return f"| {' | '.join(cells)} |"
