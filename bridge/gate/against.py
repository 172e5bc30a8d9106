"""A run held against its baseline: what may be compared, and the paired tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from bridge.gate.criteria.regressions import Finding, Pairing, judge_pairings, pair
from bridge.gate.findings.notes import comparison_notes
from bridge.gate.intake.align import Series
from bridge.gate.intake.evidence import Evidence
from bridge.gate.reasons import Reasons
from bridge.gate.trust.broken import Excused
from bridge.gate.trust.changes import Changes, compare_background
from bridge.model.baseline import Baseline
from bridge.model.counted import counted
from bridge.model.policy import GatePolicy


def per_case(baseline: Baseline | None) -> frozenset[str]:
    """Names that a baseline holds per-case scores of."""
    scores = baseline.scores if baseline is not None else {}
    return frozenset(name for name, each in scores.items() if isinstance(each, Mapping))


def compare(
    evidence: Evidence,
    series: Sequence[Series],
    gated: frozenset[str],
    policy: GatePolicy,
    baseline: Baseline | None,
    reasons: Reasons,
    excused: Excused = frozenset(),
) -> tuple[Changes, dict[str, Finding]]:
    """Hold every series against the baseline; says in ``reasons`` what stands in the way.

    Args:
        evidence: Rows and their background.
        series: What was measured.
        gated: Names that the p values are adjusted over.
        policy: The gate policy.
        baseline: The accepted run.
        reasons: Takes what is found.
        excused: Rows that the policy left out.
    """
    if baseline is None:
        reasons.notes.append("no baseline: thresholds only")
        return Changes(), {}
    changes = compare_background(baseline, evidence, series, policy.on_change)
    reasons.errors += changes.refused
    if baseline.epochs != policy.epochs:
        reasons.errors.append(
            f"the baseline took the {baseline.epochs} of several epochs, the policy asks for the "
            f"{policy.epochs}: make a new baseline"
        )
    reasons.notes += changes.notes
    found = [pair(each, baseline, changes.comparable) for each in series]
    pairings = [each for each in found if each is not None]
    for each in pairings:
        _say_lacking(each, gated, changes, excused, reasons)
    _note_uncompared(baseline, series, reasons)
    findings = judge_pairings(pairings, gated, policy)
    reasons.notes += comparison_notes(findings, policy)
    return changes, findings


def _say_lacking(
    pairing: Pairing,
    gated: frozenset[str],
    changes: Changes,
    excused: Excused,
    reasons: Reasons,
) -> None:
    series = pairing.series
    lacking = [
        case for case in pairing.lacking if (series.framework, series.metric, case) not in excused
    ]
    if lacking:
        reasons.errors.append(
            f"{series.name}: {counted(len(lacking), 'case')} scored in the baseline and not now, "
            f"such as {lacking[0]!r}"
        )
    elif not pairing.cases and changes.comparable and series.name in gated:
        reasons.errors.append(f"{series.name}: no case to compare with the baseline's")


def _note_uncompared(baseline: Baseline, series: Sequence[Series], reasons: Reasons) -> None:
    names = [each.name for each in series]
    means = [name for name in names if isinstance(baseline.scores.get(name), float)]
    if means:
        reasons.notes.append(
            f"the baseline holds only the mean of {', '.join(means)}: thresholds decide, no test"
        )
    new = [name for name in names if name not in baseline.scores]
    if new:
        reasons.notes.append(f"not in the baseline, so not compared: {', '.join(new)}")


def expiry(baseline: Baseline | None, max_days: float | None, now: datetime | None) -> list[str]:
    """Why a baseline is too old to compare with; empty if it is not.

    Args:
        baseline: The accepted run.
        max_days: The most days that it may be old; ``None`` never asks.
        now: The time; that of the clock if left out.
    """
    if baseline is None or max_days is None:
        return []
    try:
        created = datetime.fromisoformat(baseline.created)
    except ValueError:
        return ["the baseline does not say when it was made, and the policy asks for its age"]
    if created.tzinfo is None:
        created = created.replace(tzinfo=UTC)
    age = (now or datetime.now(UTC)) - created
    if age <= timedelta(days=max_days):
        return []
    most = f"more than max_baseline_age_days {max_days:g}"
    return [f"the baseline is {age.days} days old, {most}: make a new one"]
