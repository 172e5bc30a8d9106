"""The decision: rows, policy and baseline to a verdict with every reason."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bridge.gate.agreement import agreement
from bridge.gate.align import Series, series_of
from bridge.gate.changes import Changes, compare_background
from bridge.gate.complete import faults
from bridge.gate.evidence import Evidence
from bridge.gate.failures import failed_cases, regressions
from bridge.gate.metric import MetricDecision, decide_metric
from bridge.gate.must_pass import must_pass
from bridge.gate.notes import comparison_notes
from bridge.gate.regressions import SEED, Finding, judge_pairings, pair
from bridge.gate.table import ERROR
from bridge.gate.thresholds import policies, unmeasured
from bridge.gate.wording import count
from bridge.model.baseline import Baseline
from bridge.model.policy import GatePolicy, MetricPolicy
from bridge.model.verdict import MetricResult, Totals, Verdict, VerdictName


@dataclass(slots=True)
class _Reasons:
    """Reasons by what they lead to, as they are found."""

    errors: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> VerdictName:
        if self.errors:
            return "error"
        if self.failures:
            return "failed"
        return "inconclusive" if self.doubts else "passed"

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.errors, *self.failures, *self.doubts)))

    def add(self, name: str, decision: MetricDecision) -> None:
        self.errors += [f"{name}: {reason}" for reason in decision.errors]
        self.failures += [f"{name}: {reason}" for reason in decision.failures]
        self.doubts += [f"{name}: {reason}" for reason in decision.doubts]


def decide(
    evidence: Evidence,
    policy: GatePolicy,
    baseline: Baseline | None = None,
    *,
    system: str | None = None,
    baseline_name: str | None = None,
    suite: str = "",
) -> Verdict:
    """Decide on a body of evidence.

    Args:
        evidence: Rows and their background.
        policy: The suite's gate policy.
        baseline: The accepted run to compare with; thresholds only without one.
        system: The system to decide on, where the rows hold several.
        baseline_name: Where the baseline was read, for the report.
        suite: Name of the suite, for the report.

    Raises:
        InputError: If the policy names what is not there, or the system is not clear.
    """
    evidence = evidence.of_system(system)
    table = evidence.table
    series = series_of(table, evidence.order)
    entries = policies(policy, series, evidence, _per_case(baseline))
    gated = [each for each in series if entries[each.name].gate]
    names = frozenset(each.name for each in gated)
    reasons = _Reasons(errors=faults(evidence), notes=list(evidence.notes))
    changes, findings = _compare(evidence, series, names, policy, baseline, reasons)
    metrics = _decide_metrics(series, entries, findings, policy, baseline, reasons)
    _decide_cases(policy, evidence, series, gated, reasons)
    return Verdict(
        passed=reasons.verdict == "passed"
        or (reasons.verdict == "inconclusive" and policy.on_inconclusive == "warn"),
        verdict=reasons.verdict,
        suite=suite,
        system=table.system_names[0],
        frameworks=table.framework_names,
        reasons=reasons.all,
        notes=tuple(dict.fromkeys(reasons.notes)),
        metrics=metrics,
        regressed=tuple(regressions(findings, names, policy, evidence)),
        failures=failed_cases(evidence, series, findings, _blocking(metrics)),
        agreement=agreement(table, evidence.order),
        weighted_score=_weighted(metrics),
        totals=_totals(evidence),
        confidence=policy.confidence,
        family=len(names & set(findings)),
        min_effect=policy.min_effect,
        seed=SEED,
        baseline=baseline_name,
        added_cases=changes.added,
        removed_cases=changes.removed,
        changed_cases=changes.changed,
    )


def _decide_cases(
    policy: GatePolicy,
    evidence: Evidence,
    series: Sequence[Series],
    gated: Sequence[Series],
    reasons: _Reasons,
) -> None:
    """Must-pass cases, and whether anything decides at all."""
    reasons.errors += unmeasured(policy, series, evidence)
    held = must_pass(policy.must_pass, evidence, gated)
    reasons.errors += held.errors
    reasons.failures += held.failures
    if not gated and not policy.must_pass:
        reasons.errors.append(
            "nothing decides: no row has a threshold, the policy asks nothing, and no baseline "
            "holds these metrics"
        )


def _per_case(baseline: Baseline | None) -> frozenset[str]:
    """Names that a baseline holds per-case scores of."""
    scores = baseline.scores if baseline is not None else {}
    return frozenset(name for name, each in scores.items() if isinstance(each, Mapping))


def _compare(
    evidence: Evidence,
    series: Sequence[Series],
    gated: frozenset[str],
    policy: GatePolicy,
    baseline: Baseline | None,
    reasons: _Reasons,
) -> tuple[Changes, dict[str, Finding]]:
    if baseline is None:
        reasons.notes.append("no baseline: thresholds only")
        return Changes(), {}
    changes = compare_background(baseline, evidence, series, policy.on_change)
    reasons.errors += changes.refused
    reasons.notes += changes.notes
    found = [pair(each, baseline, changes.comparable) for each in series]
    pairings = [each for each in found if each is not None]
    for each in pairings:
        name = each.series.name
        if each.lacking:
            reasons.errors.append(
                f"{name}: {count(len(each.lacking), 'case')} scored in the baseline and not now, "
                f"such as {each.lacking[0]!r}"
            )
        elif not each.cases and changes.comparable and name in gated:
            reasons.errors.append(f"{name}: no case to compare with the baseline's")
    _note_uncompared(baseline, series, reasons)
    findings = judge_pairings(pairings, gated, policy)
    reasons.notes += comparison_notes(findings, policy)
    return changes, findings


def _note_uncompared(baseline: Baseline, series: Sequence[Series], reasons: _Reasons) -> None:
    names = [each.name for each in series]
    means = [name for name in names if isinstance(baseline.scores.get(name), float)]
    if means:
        reasons.notes.append(
            f"the baseline holds only the mean of {', '.join(means)}: thresholds decide, no test"
        )
    new = [name for name in names if name not in baseline.scores]
    if new:
        reasons.notes.append(f"not in the baseline, so not compared: {', '.join(new)}")


def _decide_metrics(
    series: Sequence[Series],
    entries: Mapping[str, MetricPolicy],
    findings: Mapping[str, Finding],
    policy: GatePolicy,
    baseline: Baseline | None,
    reasons: _Reasons,
) -> dict[str, MetricResult]:
    results = {}
    for each in series:
        known = baseline.scores.get(each.name) if baseline is not None else None
        decision = decide_metric(
            each,
            entries[each.name],
            findings.get(each.name),
            policy,
            known if isinstance(known, float) else None,
        )
        if entries[each.name].gate:
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
    return Totals(
        cases=len(table.case_names),
        rows=len(table),
        errors=int((table.status == ERROR).sum()),
        latency_s=round(math.fsum(took.latency_s for took in spent), 6),
        cost_usd=round(math.fsum([*costs, table.cost_usd]), 9),
        input_tokens=sum(took.input_tokens for took in spent),
        output_tokens=sum(took.output_tokens for took in spent),
    )
