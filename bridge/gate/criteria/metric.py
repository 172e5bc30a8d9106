"""One metric: thresholds, test and doubts to its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bridge.gate.criteria.regressions import SEED, Finding
from bridge.gate.criteria.thresholds import broken_thresholds, undecidable
from bridge.gate.intake.align import Series
from bridge.model.counted import counted
from bridge.model.policy import GatePolicy, MetricPolicy
from bridge.model.verdict import MetricResult, MetricStatus
from bridge.stats import mean_interval


@dataclass(frozen=True, slots=True)
class MetricDecision:
    """What a metric says of itself, by what it leads to where the metric is gated."""

    errors: tuple[str, ...]
    failures: tuple[str, ...]
    doubts: tuple[str, ...]
    result: MetricResult


def decide_metric(
    series: Series,
    entry: MetricPolicy,
    finding: Finding | None,
    policy: GatePolicy,
    baseline_mean: float | None = None,
) -> MetricDecision:
    """Decide one metric by itself.

    Args:
        series: Its cases.
        entry: What is asked of it.
        finding: How it compares with the baseline, where it does.
        policy: The gate policy.
        baseline_mean: The baseline's mean, where that is all the baseline holds.
    """
    errors = tuple(undecidable(series, entry)) if entry.gate else ()
    failures = (*broken_thresholds(series, entry, policy.confidence), *_regression(finding, policy))
    doubts = _doubts(finding, policy)
    if series.errors or errors:
        status: MetricStatus = "error"
    elif not entry.gate:
        status = "shown"
    elif failures:
        status = "failed"
    else:
        status = "inconclusive" if doubts else "passed"
    reasons = (*errors, *failures, *doubts)
    result = _result(series, entry, status, reasons, _compared(finding, baseline_mean))
    return MetricDecision(errors, failures, doubts, result)


def _regression(finding: Finding | None, policy: GatePolicy) -> tuple[str, ...]:
    if finding is None or not finding.shows_regression(policy):
        return ()
    drop, n = -finding.delta, counted(len(finding.pairing.cases), "paired case")
    p = f"one-sided p {finding.p_adjusted:.2g} < {1.0 - policy.confidence:.2g}"
    return (f"fell by {drop:.4g} on {n} ({finding.test.test}, {p})",)


def _doubts(finding: Finding | None, policy: GatePolicy) -> tuple[str, ...]:
    doubts = []
    if policy.margin is not None and (finding is None or finding.low < -policy.margin):
        why = "nothing to compare with" if finding is None else f"interval from {finding.low:.4g}"
        doubts.append(f"a drop of more than {policy.margin:g} is not ruled out ({why})")
    least = finding.min_detectable if finding is not None else None
    if policy.min_detectable is not None and (least is None or least > policy.min_detectable):
        seen = "none" if least is None else f"{least:.4g}"
        doubts.append(
            f"this run could not have seen a drop of {policy.min_detectable:g} "
            f"(least detectable: {seen})"
        )
    return tuple(doubts)


def _compared(finding: Finding | None, baseline_mean: float | None) -> dict[str, Any]:
    if finding is None:
        return {"baseline": baseline_mean}
    return {
        "baseline": finding.pairing.baseline,
        "delta": finding.delta,
        "delta_low": finding.interval.low,
        "delta_high": finding.interval.high,
        "n_paired": len(finding.pairing.cases),
        "p": finding.p_adjusted,
        "p_raw": finding.test.p,
        "test": finding.test.test,
        "note": finding.test.note,
        "min_detectable": finding.min_detectable,
        "n_needed": finding.n_needed,
    }


def _result(
    series: Series,
    entry: MetricPolicy,
    status: MetricStatus,
    reasons: tuple[str, ...],
    compared: dict[str, Any],
) -> MetricResult:
    scored = len(series.values) > 0
    interval = (
        mean_interval(series.values, binary=series.binary, clusters=series.clusters, seed=SEED)
        if scored
        else None
    )
    return MetricResult(
        mean=series.mean,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        n=len(series.values),
        pass_rate=series.pass_rate,
        status=status,
        reasons=reasons,
        errors=series.errors,
        skipped=series.skipped,
        unsupported=series.unsupported,
        weight=entry.weight,
        framework=series.framework,
        **compared,
    )
