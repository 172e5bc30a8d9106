"""What all reports say of a verdict, in the same words."""

from __future__ import annotations

from bridge.model.verdict import MetricResult, Regression, Verdict

HEADINGS = {
    "passed": "PASSED",
    "failed": "FAILED",
    "inconclusive": "INCONCLUSIVE",
    "error": "ERROR",
}


def headline(verdict: Verdict) -> str:
    """The verdict in one line."""
    name = HEADINGS[verdict.verdict]
    where = f" {verdict.suite}" if verdict.suite else ""
    totals = verdict.totals
    return f"{name}{where}: {totals.cases} cases, {totals.rows} rows, {totals.errors} errors"


def number(value: float | None, digits: int = 3) -> str:
    """A number, or a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


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


def regression(found: Regression) -> str:
    """A regression in one line: metric, means, failure modes."""
    modes = ", ".join(f"{mode} ({count})" for mode, count in found.failure_modes.items())
    text = f"{found.metric} fell from {found.baseline:.3f} to {found.now:.3f} (p {found.p:.2g})"
    return f"{text}; failure modes: {modes}" if modes else text


def totals_line(verdict: Verdict) -> str:
    """What the answers took."""
    totals = verdict.totals
    return (
        f"answers took {totals.latency_s:.1f} s, {totals.cost_usd:.4f} USD, "
        f"{totals.input_tokens} + {totals.output_tokens} tokens"
    )
