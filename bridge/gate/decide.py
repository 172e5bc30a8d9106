"""The decision: rows, policy and baseline to a verdict with every reason."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bridge.gate.against import compare, expiry, per_case
from bridge.gate.criteria.budgets import decide_budgets
from bridge.gate.criteria.metric import decide_metric
from bridge.gate.criteria.must_pass import must_pass
from bridge.gate.criteria.regressions import SEED, Finding
from bridge.gate.criteria.thresholds import policies, unmeasured
from bridge.gate.findings.agreement import agreement
from bridge.gate.findings.failures import failed_cases, regressions
from bridge.gate.findings.flaky import flakiness
from bridge.gate.findings.notes import skipped_note
from bridge.gate.findings.other_systems import OtherSystem, other_systems
from bridge.gate.findings.slices import slices_of
from bridge.gate.intake.align import Series, series_of
from bridge.gate.intake.clusters import clusters_of
from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.table import ERROR
from bridge.gate.reasons import Reasons
from bridge.gate.trust.believed import belief
from bridge.gate.trust.broken import Excused, treat
from bridge.gate.trust.complete import faults
from bridge.model.baseline import Baseline
from bridge.model.calibration import Calibration
from bridge.model.policy import GatePolicy, MetricPolicy
from bridge.model.verdict import MetricResult, Totals, Verdict


def decide(
    evidence: Evidence,
    policy: GatePolicy,
    baseline: Baseline | None = None,
    *,
    system: str | None = None,
    baseline_name: str | None = None,
    suite: str = "",
    calibration: Calibration | None = None,
    now: datetime | None = None,
) -> Verdict:
    """Decide on a body of evidence.

    Args:
        evidence: Rows and their background.
        policy: The suite's gate policy.
        baseline: The accepted run to compare with; thresholds only without one.
        system: The system to decide on, where the rows hold several.
        baseline_name: Where the baseline was read, for the report.
        suite: Name of the suite, for the report.
        calibration: How far judges agree with people, for metrics that ask one.
        now: The time that ages of baseline and calibration are counted to; the clock's if left out.

    Raises:
        InputError: If the policy names what is not there, or the system is not clear.
    """
    whole, evidence = evidence, evidence.of_system(system)
    reasons, totals = Reasons(notes=list(evidence.notes)), _totals(evidence)
    reasons.errors += expiry(baseline, policy.max_baseline_age_days, now)
    ground = _prepare(evidence, policy, baseline, reasons)
    evidence, series, names = ground.evidence, ground.series, ground.names
    grave, slight = belief(evidence, ground.gated, policy.calibration, calibration, now)
    reasons.errors += grave
    reasons.notes += [*slight, *skipped_note(ground.gated)]
    changes, findings = compare(evidence, series, names, policy, baseline, reasons, ground.excused)
    metrics = _decide_metrics(ground, findings, policy, baseline, reasons)
    _decide_cases(policy, ground, reasons)
    budgets = decide_budgets(evidence, policy, baseline, changes.comparable)
    reasons.errors += budgets.errors
    reasons.failures += budgets.failures
    others = other_systems(whole, evidence, names, policy, baseline, changes.comparable)
    return Verdict(
        **_outcome(policy, reasons),
        **_looked_at(ground, findings, policy, metrics, others),
        suite=suite,
        metrics=metrics,
        budgets=budgets.results,
        totals=totals,
        baseline=baseline_name,
        added_cases=changes.added,
        removed_cases=changes.removed,
        changed_cases=changes.changed,
    )


def _outcome(policy: GatePolicy, reasons: Reasons) -> dict[str, Any]:
    """The decision with its reasons, and the policy's numbers behind it."""
    verdict = reasons.verdict
    tolerated = verdict == "inconclusive" and policy.on_inconclusive == "warn"
    return {
        "passed": verdict == "passed" or tolerated,
        "verdict": verdict,
        "reasons": reasons.all,
        "notes": tuple(dict.fromkeys(reasons.notes)),
        "confidence": policy.confidence,
        "min_effect": policy.min_effect,
        "seed": SEED,
    }


def _looked_at(
    ground: _Ground,
    findings: Mapping[str, Finding],
    policy: GatePolicy,
    metrics: Mapping[str, MetricResult],
    others: Iterable[OtherSystem],
) -> dict[str, Any]:
    """What the rows show beside the decision."""
    evidence, series, names = ground.evidence, ground.series, ground.names
    return {
        "system": evidence.table.system_names[0],
        "frameworks": evidence.table.framework_names,
        "regressed": tuple(regressions(findings, names, policy, evidence)),
        "failures": failed_cases(evidence, series, findings, _blocking(metrics)),
        "agreement": agreement(evidence.table, evidence.order),
        "slices": slices_of(evidence, ground.gated, findings, policy.slices, others),
        "flaky": flakiness(evidence.table, series),
        "weighted_score": _weighted(metrics),
        "family": len(names & set(findings)),
    }


@dataclass(frozen=True, slots=True)
class _Ground:
    """What is decided on.

    Attributes:
        evidence: Rows after the policy on those that are broken.
        series: What they measured.
        entries: The policy of each series, by name.
        excused: Rows that the policy left out.
    """

    evidence: Evidence
    series: Sequence[Series]
    entries: Mapping[str, MetricPolicy]
    excused: Excused

    @property
    def gated(self) -> list[Series]:
        """The series that decide."""
        return [each for each in self.series if self.entries[each.name].gate]

    @property
    def names(self) -> frozenset[str]:
        """Names of the series that decide."""
        return frozenset(each.name for each in self.gated)


def _prepare(
    evidence: Evidence, policy: GatePolicy, baseline: Baseline | None, reasons: Reasons
) -> _Ground:
    """Rows to series, with every fault of the rows in ``reasons``."""
    reasons.errors += faults(evidence, broken_rows=policy.errors.treat == "refuse")
    treated = treat(evidence.table, policy)
    reasons.errors += treated.errors
    reasons.notes += treated.notes
    evidence = replace(evidence, table=treated.table)
    clusters = clusters_of(evidence, policy.clusters)
    series = series_of(evidence.table, evidence.order, epochs=policy.epochs, clusters=clusters)
    entries = policies(policy, series, evidence, per_case(baseline))
    return _Ground(evidence, series, entries, treated.excused)


def _decide_cases(policy: GatePolicy, ground: _Ground, reasons: Reasons) -> None:
    """Must-pass cases, and whether anything decides at all."""
    reasons.errors += unmeasured(policy, ground.series, ground.evidence)
    held = must_pass(policy.must_pass, ground.evidence, ground.gated)
    reasons.errors += held.errors
    reasons.failures += held.failures
    if not ground.gated and not policy.must_pass and not policy.budgets.given:
        reasons.errors.append(
            "nothing decides: no row has a threshold, the policy asks nothing, and no baseline "
            "holds these metrics"
        )


def _decide_metrics(
    ground: _Ground,
    findings: Mapping[str, Finding],
    policy: GatePolicy,
    baseline: Baseline | None,
    reasons: Reasons,
) -> dict[str, MetricResult]:
    results = {}
    for each in ground.series:
        entry = ground.entries[each.name]
        known = baseline.scores.get(each.name) if baseline is not None else None
        decision = decide_metric(
            each,
            entry,
            findings.get(each.name),
            policy,
            known if isinstance(known, float) else None,
        )
        if entry.gate:
            reasons.add(each.name, decision)
        results[each.name] = decision.result
    return results


def _blocking(metrics: Mapping[str, MetricResult]) -> frozenset[str]:
    """Metrics that keep the verdict from passing."""
    return frozenset(n for n, result in metrics.items() if result.status in ("failed", "error"))


def _weighted(metrics: Mapping[str, MetricResult]) -> float | None:
    """Sum of weight times mean; ``None`` without weights, or where a weighted mean is missing."""
    products = [
        None if each.mean is None else each.weight * each.mean
        for each in metrics.values()
        if each.weight is not None
    ]
    known = [product for product in products if product is not None]
    return math.fsum(known) if known and len(known) == len(products) else None


def _totals(evidence: Evidence) -> Totals:
    table = evidence.table
    spent = [took for answers in evidence.spent.values() for took in answers.values()]
    costs = [took.cost_usd for took in spent]
    judges = [took for record in evidence.records for took in record.judges.values()]
    # What a run's judges took is in its record; its rows say it again, in every framework.
    recorded = set(evidence.owed) if judges else set()
    loose = [name for name in table.framework_names if name not in recorded]
    return Totals(
        cases=len(table.case_names),
        rows=len(table),
        errors=int((table.status == ERROR).sum()),
        latency_s=round(math.fsum(took.latency_s for took in spent), 6),
        cost_usd=round(
            math.fsum([*costs, table.cost_usd(loose), *(took.cost_usd for took in judges)]), 9
        ),
        input_tokens=sum(took.input_tokens for took in spent),
        output_tokens=sum(took.output_tokens for took in spent),
        judge_calls=sum(took.calls for took in judges),
        judge_tokens=sum(took.input_tokens + took.output_tokens for took in judges),
        judge_cost_usd=round(math.fsum(took.cost_usd for took in judges), 9),
    )
