"""Policies of the metrics, and absolute thresholds: what each must reach whatever came before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bridge.gate.criteria.regressions import SEED, TOLERANCE
from bridge.gate.intake.align import Series
from bridge.gate.intake.evidence import Evidence
from bridge.model.errors import InputError
from bridge.model.policy import GatePolicy, MetricPolicy
from bridge.model.run import MetricRecord
from bridge.stats import mean_interval

DEFAULT = MetricPolicy(min_pass_rate=1.0)
"""Policy of a check that has a verdict a row and no entry."""

COMPARE = MetricPolicy()
"""Policy of a metric without verdicts and entry that the baseline holds: it must not regress."""

SHOW = MetricPolicy(gate=False)
"""Policy of a metric that nothing is asked of."""


def policies(
    policy: GatePolicy, series: Sequence[Series], evidence: Evidence, compared: frozenset[str]
) -> dict[str, MetricPolicy]:
    """The policy of every series, by gated name.

    Args:
        policy: The suite's gate policy.
        series: What was measured.
        evidence: What the runs say of their metrics and frameworks.
        compared: Names that the baseline holds per-case scores of.

    Raises:
        InputError: If an entry names a metric that nothing measured, is ambiguous, or names the
            same metric as another.
    """
    chosen: dict[str, MetricPolicy] = {}
    for name, entry in policy.metrics.items():
        if _is_owed(name, series, evidence):
            continue
        found = _named(name, series)
        if found in chosen:
            raise InputError(f"gate: {found!r} has two entries", fix=f"one of them is {name!r}")
        chosen[found] = entry
    measured = _measured(series)
    for each in series:
        if each.idle and each.metric in measured:
            chosen.setdefault(each.name, SHOW)
        chosen.setdefault(each.name, _without_entry(each, evidence.metrics, compared))
    return chosen


def _measured(series: Sequence[Series]) -> frozenset[str]:
    """The metrics that some framework can score: one that cannot need not answer for them."""
    return frozenset(each.metric for each in series if not each.idle)


def unmeasured(policy: GatePolicy, series: Sequence[Series], evidence: Evidence) -> list[str]:
    """Reasons why entries for metrics that a run owes, and has no row of, decide nothing."""
    names = [name for name in policy.metrics if _is_owed(name, series, evidence)]
    return [f"{name}: the run has no row of it" for name in names]


def _is_owed(name: str, series: Sequence[Series], evidence: Evidence) -> bool:
    """Whether a metric is one of a run's, and has no row in the framework that is named."""
    framework, _, metric = name.partition("/")
    names = {each.name for each in series}
    if name in names | {each.metric for each in series} | {_spelled(each) for each in series}:
        return False
    if name in evidence.metrics:
        return True
    return metric in evidence.metrics and metric not in names and framework in evidence.owed


def _without_entry(
    series: Series, metrics: Mapping[str, MetricRecord], compared: frozenset[str]
) -> MetricPolicy:
    record = metrics.get(series.metric)
    if record is not None and not record.gate:
        return SHOW
    if series.thresholded or series.decided:
        return DEFAULT
    return COMPARE if series.name in compared else SHOW


def _named(name: str, series: Sequence[Series]) -> str:
    names = [each.name for each in series]
    if name in names:
        return name
    found = [each.name for each in series if name in (each.metric, _spelled(each))]
    if len(found) > 1:
        idle = {each.name for each in series if each.idle}
        found = [each for each in found if each not in idle] or found
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"gate: {name!r} is ambiguous", fix=f"write one of {', '.join(found)}")
    known = ", ".join(map(repr, names)) or "none"
    raise InputError(f"gate: nothing measured {name!r}", fix=f"the metrics are: {known}")


def _spelled(series: Series) -> str:
    return f"{series.framework}/{series.metric}"


def broken_thresholds(series: Series, entry: MetricPolicy, confidence: float = 0.95) -> list[str]:
    """The thresholds of an entry that a series does not reach; bounds are at ``confidence``."""
    reasons = []
    rate = series.pass_rate
    what, value = _held_to_min(series, entry, confidence)
    if entry.min is not None and value is not None and value < entry.min - TOLERANCE:
        shown, least = _told_apart(value, entry.min)
        reasons.append(f"{what} {shown} is below min {least}")
    if entry.min_pass_rate is not None and rate is not None and rate < entry.min_pass_rate:
        shown, least = _told_apart(100 * rate, 100 * entry.min_pass_rate)
        reasons.append(
            f"{series.passed} of {series.decided} rows passed ({shown}%), "
            f"below min_pass_rate {least}%"
        )
    return reasons


def _held_to_min(
    series: Series, entry: MetricPolicy, confidence: float
) -> tuple[str, float | None]:
    """What ``min`` is asked of, in words, and its value."""
    if entry.by == "point" or not len(series.values):
        return "mean", series.mean
    interval = mean_interval(
        series.values,
        binary=series.binary,
        clusters=series.clusters,
        level=2.0 * confidence - 1.0,
        seed=SEED,
    )
    return f"lower {confidence:.0%} bound ({interval.method})", interval.low


def _told_apart(value: float, limit: float) -> tuple[str, str]:
    """Two numbers in as few digits as show that they differ."""
    for digits in (4, 6, 9):
        pair = f"{value:.{digits}g}", f"{limit:.{digits}g}"
        if pair[0] != pair[1]:
            return pair
    return f"{value:.17g}", f"{limit:.17g}"


def undecidable(series: Series, entry: MetricPolicy) -> list[str]:
    """What an entry asks that the rows of a series do not answer."""
    asks = entry.weight is not None or entry.min is not None or entry.min_pass_rate is not None
    if asks and not len(series.values):
        return ["nothing was scored"]
    if entry.min_pass_rate is not None and not series.decided:
        return ["min_pass_rate is asked, and no row has passed or failed"]
    return []
