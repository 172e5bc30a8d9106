"""The decision: rows, policy and baseline to a verdict with every reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bridge.gate.align import (
    Series,
    mixed_stamps,
    one_system,
    parity_faults,
    series_of,
)
from bridge.gate.changes import Changes, compare_background
from bridge.gate.complete import faults
from bridge.gate.evidence import Evidence
from bridge.gate.failures import failed_cases
from bridge.gate.regressions import Finding, judge_pairings, pair
from bridge.gate.table import ERROR
from bridge.gate.thresholds import broken_thresholds, must_pass_failures, policies
from bridge.model.baseline import Baseline
from bridge.model.policy import GatePolicy, MetricPolicy
from bridge.model.verdict import (
    MetricResult,
    MetricStatus,
    Regression,
    Totals,
    Verdict,
    VerdictName,
)
from bridge.stats import mean_interval

WORST = 50
"""Most cases named in one regression."""


@dataclass(slots=True)
class _Decision:
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
    def reasons(self) -> tuple[str, ...]:
        return (*self.errors, *self.failures, *self.doubts)


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
    table = evidence.table
    system = one_system(table, system)
    series = series_of(table, system)
    entries = policies(policy, series, evidence.metrics)
    decision = _Decision(notes=list(evidence.notes))
    decision.errors += [*faults(evidence), *mixed_stamps(table), *parity_faults(table)]
    decision.errors += [f"{f.name}: {note}" for f in evidence.frameworks for note in f.notes]
    changes, findings = _compare(evidence, series, entries, policy, baseline, decision)
    metrics = {
        each.name: _metric(each, entries[each.name], findings.get(each.name), policy, decision)
        for each in series
    }
    decision.failures += must_pass_failures(policy, table, system, evidence.cases)
    verdict = decision.verdict
    fails = verdict == "inconclusive" and policy.on_inconclusive == "fail"
    return Verdict(
        passed=verdict in ("passed", "inconclusive") and not fails,
        verdict=verdict,
        suite=suite,
        system=system,
        frameworks=table.framework_names,
        reasons=decision.reasons,
        notes=tuple(decision.notes),
        metrics=metrics,
        regressed=_regressed(series, entries, findings, policy, evidence),
        failures=failed_cases(evidence, series, findings),
        weighted_score=_weighted(metrics),
        totals=_totals(evidence),
        confidence=policy.confidence,
        baseline=baseline_name,
        added_cases=changes.added if changes else (),
        removed_cases=changes.removed if changes else (),
    )


def _compare(
    evidence: Evidence,
    series: Sequence[Series],
    entries: Mapping[str, MetricPolicy],
    policy: GatePolicy,
    baseline: Baseline | None,
    decision: _Decision,
) -> tuple[Changes | None, dict[str, Finding]]:
    if baseline is None:
        decision.notes.append("no baseline: thresholds only")
        return None, {}
    changes = compare_background(baseline, evidence, series, policy.on_change)
    decision.errors += changes.refused
    decision.notes += changes.notes
    pairings = [pair(each, baseline, changes.comparable) for each in series]
    found = [each for each in pairings if each is not None]
    for each in found:
        if each.lacking:
            decision.errors.append(
                f"{each.series.name}: {len(each.lacking)} cases that the baseline scored "
                f"are not scored now, such as {each.lacking[0]!r}"
            )
    _note_uncompared(baseline, series, decision)
    gated = frozenset(name for name, entry in entries.items() if entry.gate)
    return changes, judge_pairings(found, gated, 1.0 - policy.confidence)


def _note_uncompared(baseline: Baseline, series: Sequence[Series], decision: _Decision) -> None:
    names = {each.name for each in series}
    means = sorted(
        n for n, s in baseline.scores.items() if not isinstance(s, Mapping) and n in names
    )
    if means:
        decision.notes.append(f"the baseline holds means only of {', '.join(means)}: not compared")
    new = sorted(names - set(baseline.scores))
    if new:
        decision.notes.append(f"not in the baseline, so not compared: {', '.join(new)}")
    gone = sorted(set(baseline.scores) - names)
    if gone:
        decision.notes.append(f"in the baseline and not measured now: {', '.join(gone)}")


def _metric(
    series: Series,
    entry: MetricPolicy,
    finding: Finding | None,
    policy: GatePolicy,
    decision: _Decision,
) -> MetricResult:
    """The result of one metric; its reasons go into the decision where it is gated."""
    broken = broken_thresholds(series, entry)
    worse = _regression_reason(finding, policy) if finding else ""
    doubts = _doubts(finding, policy) if finding else []
    failures = [*broken, *([worse] if worse else [])]
    status = _status(series, entry, failures, doubts)
    if status == "error" and not series.errors:
        decision.errors.append(f"{series.name}: nothing was scored")
    if entry.gate:
        decision.failures += [f"{series.name}: {reason}" for reason in failures]
        decision.doubts += [f"{series.name}: {reason}" for reason in doubts]
    if finding is not None and finding.test.note and status != "shown":
        decision.notes.append(f"{series.name}: {finding.test.note}")
    return _result(series, entry, finding, status, (*failures, *doubts))


def _status(
    series: Series, entry: MetricPolicy, failures: Sequence[str], doubts: Sequence[str]
) -> MetricStatus:
    if series.errors or (entry.gate and _asked(entry) and not len(series.values)):
        return "error"
    if not entry.gate:
        return "shown"
    if failures:
        return "failed"
    return "inconclusive" if doubts else "passed"


def _asked(entry: MetricPolicy) -> bool:
    """Whether the policy asks anything of a metric by name."""
    return entry.weight is not None or entry.min is not None or entry.min_pass_rate is not None


def _regression_reason(finding: Finding, policy: GatePolicy) -> str:
    alpha = 1.0 - policy.confidence
    drop = -finding.delta
    if finding.p_adjusted < alpha and drop > 0 and drop >= policy.min_effect:
        return (
            f"fell by {drop:.4g} on {len(finding.pairing.cases)} paired cases "
            f"({finding.test.test}, one-sided p {finding.p_adjusted:.2g} < {alpha:.2g})"
        )
    return ""


def _doubts(finding: Finding, policy: GatePolicy) -> list[str]:
    doubts = []
    if policy.margin is not None and finding.interval.low < -policy.margin:
        doubts.append(
            f"a drop of more than {policy.margin:g} is not ruled out "
            f"(interval of the difference from {finding.interval.low:.4g})"
        )
    detectable = finding.min_detectable
    if policy.min_detectable is not None and (
        detectable is None or detectable > policy.min_detectable
    ):
        seen = "unknown" if detectable is None else f"{detectable:.4g}"
        doubts.append(
            f"this run could not have seen a drop of {policy.min_detectable:g} "
            f"(least detectable: {seen})"
        )
    return doubts


def _result(
    series: Series,
    entry: MetricPolicy,
    finding: Finding | None,
    status: MetricStatus,
    reasons: tuple[str, ...],
) -> MetricResult:
    interval = mean_interval(series.values, binary=series.binary) if len(series.values) else None
    fields: dict[str, Any] = {}
    if finding is not None:
        fields = {
            "baseline": float(finding.pairing.before.mean()),
            "delta": finding.delta,
            "delta_low": finding.interval.low,
            "delta_high": finding.interval.high,
            "n_paired": len(finding.pairing.cases),
            "p": finding.p_adjusted,
            "p_raw": finding.test.p,
            "test": finding.test.test,
            "min_detectable": finding.min_detectable,
            "n_needed": finding.n_needed,
        }
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
        **fields,
    )


def _regressed(
    series: Sequence[Series],
    entries: Mapping[str, MetricPolicy],
    findings: Mapping[str, Finding],
    policy: GatePolicy,
    evidence: Evidence,
) -> tuple[Regression, ...]:
    found = []
    for each in series:
        finding = findings.get(each.name)
        if (
            finding is None
            or not entries[each.name].gate
            or not _regression_reason(finding, policy)
        ):
            continue
        pairing = finding.pairing
        worse = [
            c for c, b, n in zip(pairing.cases, pairing.before, pairing.now, strict=True) if n < b
        ]
        modes = Counter(
            evidence.cases[case].failure_mode or "" for case in worse if case in evidence.cases
        )
        found.append(
            Regression(
                metric=each.name,
                baseline=float(pairing.before.mean()),
                now=float(pairing.now.mean()),
                delta=finding.delta,
                ci_high=finding.interval.high,
                p=finding.p_adjusted,
                cases=tuple(worse[:WORST]),
                failure_modes={mode or "(none)": n for mode, n in modes.most_common()},
            )
        )
    return tuple(found)


def _weighted(metrics: Mapping[str, MetricResult]) -> float | None:
    weighted = [(m.weight, m.mean) for m in metrics.values() if m.weight is not None]
    if not weighted or any(mean is None for _, mean in weighted):
        return None
    return sum(weight * mean for weight, mean in weighted if mean is not None)


def _totals(evidence: Evidence) -> Totals:
    table, spent = evidence.table, evidence.spent
    return Totals(
        cases=len(table.case_names),
        rows=len(table),
        errors=int((table.status == ERROR).sum()),
        latency_s=round(spent.latency_s, 6),
        cost_usd=round(spent.cost_usd + table.cost_usd, 9),
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
    )
