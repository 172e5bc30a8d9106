"""What all reports say of a verdict, in the same words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bridge.model.counted import counted
from bridge.model.run import JudgeRecord
from bridge.model.verdict import (
    NO_MODE,
    FailedCase,
    MetricResult,
    MetricStatus,
    Regression,
    Verdict,
)

HEADINGS = {
    "passed": "PASSED",
    "failed": "FAILED",
    "inconclusive": "INCONCLUSIVE",
    "error": "ERROR",
}

ORDER: tuple[MetricStatus, ...] = ("error", "failed", "inconclusive", "passed", "shown")

LEAST_P = 0.0001
"""Smallest p that is written out."""


def headline(verdict: Verdict, suite: str) -> str:
    """The verdict in one line; ``suite`` is its name made inert for the report."""
    name = HEADINGS[verdict.verdict]
    where = f" {suite}" if suite else ""
    totals = verdict.totals
    parts = ((totals.cases, "case"), (totals.rows, "row"), (totals.errors, "error"))
    return f"{name}{where}: {', '.join(counted(number, noun) for number, noun in parts)}"


def number(value: float | None, digits: int = 3) -> str:
    """A number, or a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def p_value(value: float | None) -> str:
    """A p value to four digits; a smaller one is never shown as zero."""
    return f"<{LEAST_P}" if value is not None and value < LEAST_P else number(value, 4)


def worst_first(metrics: Mapping[str, MetricResult]) -> list[tuple[str, MetricResult]]:
    """The metrics by status, those that block first, then by name."""
    return sorted(metrics.items(), key=lambda item: (ORDER.index(item[1].status), item[0]))


def interval(result: MetricResult) -> str:
    """The two-sided interval of the mean."""
    if result.ci_low is None or result.ci_high is None:
        return "-"
    return f"[{result.ci_low:.3f}, {result.ci_high:.3f}]"


def change(result: MetricResult) -> str:
    """The mean paired difference with its two-sided interval."""
    if result.delta is None:
        return "-"
    if result.delta_low is None or result.delta_high is None:
        return f"{result.delta:+.3f}"
    return f"{result.delta:+.3f} [{result.delta_low:+.3f}, {result.delta_high:+.3f}]"


def power(result: MetricResult) -> str:
    """The least drop the comparison could have shown, and the n that would decide."""
    if result.min_detectable is None:
        return "-"
    more = f" (n {result.n_needed})" if result.n_needed else ""
    return f"{result.min_detectable:.3f}{more}"


def legend(verdict: Verdict) -> list[str]:
    """What decides, and what is there for the reader; nothing without a comparison."""
    if not verdict.family:
        return ["intervals: two-sided, 95%, for the reader; thresholds decide"]
    level = f"{1.0 - verdict.confidence:.2g}"
    effect = f" with a drop of at least {verdict.min_effect:g}" if verdict.min_effect else ""
    metrics = counted(verdict.family, "gated metric")
    return [
        f"p decides: one-sided paired test, Holm-adjusted over {metrics}, below {level}{effect}",
        "intervals: two-sided, 95%, for the reader",
        "detectable: the least drop this run shows 4 times in 5 (n that would settle the one seen)",
    ]


def regression(found: Regression, shown: Callable[[str], str]) -> str:
    """A regression in one line: means, failure modes.

    Args:
        found: The regression.
        shown: Makes the name of a failure mode inert for the report.
    """
    named = [
        f"{shown(mode)} ({count})" for mode, count in found.failure_modes.items() if mode != NO_MODE
    ]
    if named and NO_MODE in found.failure_modes:
        named.append(f"none given ({found.failure_modes[NO_MODE]})")
    p = p_value(found.p).replace("<", "below ")
    text = f"fell from {found.baseline:.3f} to {found.now:.3f} (p {p})"
    return f"{text}; failure modes: {', '.join(named)}" if named else text


@dataclass(frozen=True, slots=True)
class CaseLine:
    """The failed rows of one case in one metric; ``worst`` is the first of them."""

    worst: FailedCase
    rows: int
    turns: tuple[int, ...]
    epochs: int

    @property
    def case(self) -> str:
        """The case, with the turns and the number of epochs that failed."""
        parts = [self.worst.case_id]
        if self.turns:
            noun = "turn" if len(self.turns) == 1 else "turns"
            parts.append(f"{noun} {', '.join(map(str, self.turns))}")
        if self.epochs > 1:
            parts.append(f"in {self.epochs} epochs")
        return " ".join(parts)

    @property
    def now(self) -> str:
        """The case's mean, or ``error``."""
        worst = self.worst
        return worst.status if worst.status == "error" else number(worst.case_value, 2)


def case_lines(failures: Sequence[FailedCase]) -> list[CaseLine]:
    """Failed rows, worst first, as one line a case and metric."""
    groups: dict[tuple[str, str], list[FailedCase]] = {}
    for row in failures:
        groups.setdefault((row.case_id, row.metric), []).append(row)
    return [
        CaseLine(
            worst=rows[0],
            rows=len(rows),
            turns=tuple(sorted({row.turn for row in rows if row.turn is not None})),
            epochs=len({row.epoch for row in rows}),
        )
        for rows in groups.values()
    ]


LOOK_BELOW = 0.05
"""Slices with an adjusted p below this are worth a look."""


def slice_lines(verdict: Verdict, shown: Callable[[str], str]) -> list[str]:
    """Slices that became worse beyond chance, one line each.

    Args:
        verdict: The verdict.
        shown: Makes a name inert for the report.
    """
    return [
        f"{shown(each.metric)} in {each.kind.replace('_', ' ')} {shown(each.name)}: "
        f"{number(each.baseline)} to {number(each.mean)} over {counted(each.n, 'case')} "
        f"(p {p_value(each.p)})"
        for each in verdict.slices
        if each.p is not None and each.p < LOOK_BELOW
    ]


UNITS = {"latency_s": " s", "cost_usd": " USD", "tokens": " tokens"}


def budget_lines(verdict: Verdict, shown: Callable[[str], str]) -> list[str]:
    """What the answers took, one line a budget; a report that was read may name it anything."""
    lines = []
    for name, found in verdict.budgets.items():
        line = f"{shown(name)} {found.status}"
        if found.mean is not None:
            unit = UNITS.get(name, "")
            line += f": mean {found.mean:.4g}{unit}, p95 {found.p95:.4g}, total {found.total:.4g}"
        if found.increase is not None:
            line += f", {found.increase:+.1%} against the baseline (p {p_value(found.p)})"
        lines.append(line)
    return lines


def flaky_lines(verdict: Verdict, shown: Callable[[str], str]) -> list[str]:
    """What several epochs show of each metric that has some, one line each."""
    lines = []
    for name, found in verdict.flaky.items():
        line = f"{shown(name)}: {found.epochs} epochs"
        if found.pass_all is not None:
            line += f", passed in all {number(found.pass_all)}, in some {number(found.pass_any)}"
        if found.changing:
            cases = ", ".join(shown(case) for case in found.cases[:5])
            line += f"; {counted(found.changing, 'case')} changed their verdict: {cases}"
        lines.append(line)
    return lines


def totals_line(verdict: Verdict) -> str:
    """What the answers took, and their judges; no cost or tokens where none are known."""
    totals = verdict.totals
    cost = totals.cost_usd - totals.judge_cost_usd
    line = f"answers took {totals.latency_s:.1f} s"
    if cost > 0:
        line += f", {cost:.4f} USD"
    if totals.input_tokens or totals.output_tokens:
        line += f", {totals.input_tokens} + {totals.output_tokens} tokens"
    if not totals.judge_calls:
        return line
    judged = f"{totals.judge_calls} calls, {totals.judge_cost_usd:.4f} USD"
    return f"{line}; judges {judged}, {totals.judge_tokens} tokens"


def took(judge: JudgeRecord) -> str:
    """What a judge took."""
    tokens = judge.input_tokens + judge.output_tokens
    cost = f", {judge.cost_usd:.4f} US dollars" if judge.cost_usd else ""
    counts = f"{judge.calls} calls, {judge.cached} from the cache, {judge.errors} without an answer"
    return f"{counts}, {tokens} tokens{cost}"
