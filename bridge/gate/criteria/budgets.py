"""What answers may take: seconds, US dollars and tokens, held to limits and to the baseline.

An increase is shown as a drop of a metric is: by the one-sided paired test on the cases that both
runs answered. Its p is adjusted (Holm) over the budgets that ask for ``max_increase``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bridge.gate.criteria.regressions import SEED
from bridge.gate.intake.evidence import Answers, Evidence, Spent
from bridge.gate.intake.table import Floats
from bridge.model.baseline import Baseline
from bridge.model.policy import BudgetName, BudgetPolicy, GatePolicy
from bridge.model.verdict import BudgetResult, MetricStatus
from bridge.stats import holm, paired_test

READ: Mapping[BudgetName, Callable[[Spent], float]] = {
    "latency_s": lambda spent: spent.latency_s,
    "cost_usd": lambda spent: spent.cost_usd,
    "tokens": lambda spent: float(spent.input_tokens + spent.output_tokens),
}
"""What each budget counts of an answer."""

PERCENTILES: Mapping[str, float] = {"p50": 50.0, "p95": 95.0, "p99": 99.0}


@dataclass(frozen=True, slots=True)
class BudgetDecision:
    """What the budgets say, by what it leads to."""

    results: Mapping[str, BudgetResult]
    errors: tuple[str, ...]
    failures: tuple[str, ...]


def spent_by_case(answers: Answers, name: BudgetName) -> dict[str, float]:
    """The mean of each case over its epochs; empty where no answer says anything."""
    found: dict[str, list[float]] = {}
    for (case, _), spent in answers.items():
        found.setdefault(case, []).append(READ[name](spent))
    means = {case: math.fsum(values) / len(values) for case, values in sorted(found.items())}
    return means if any(means.values()) else {}


def decide_budgets(
    evidence: Evidence, policy: GatePolicy, baseline: Baseline | None, comparable: frozenset[str]
) -> BudgetDecision:
    """Hold what the answers took to the policy.

    Args:
        evidence: Rows of one system, with what its answers took.
        policy: The gate policy.
        baseline: The accepted run.
        comparable: Cases that may be compared with it.
    """
    (system,) = evidence.table.system_names
    answers = evidence.spent.get(system, {})
    found = {
        name: _Budget(entry, spent_by_case(answers, name), _before(baseline, name, comparable))
        for name, entry in policy.budgets.given.items()
    }
    asking = [name for name, each in found.items() if each.p is not None]
    adjusted = dict(zip(asking, holm([found[name].p or 0.0 for name in asking]), strict=True))
    results: dict[str, BudgetResult] = {}
    errors: list[str] = []
    failures: list[str] = []
    for name, each in found.items():
        why = list(each.unknown())
        broken = [] if why else list(each.broken(adjusted.get(name), 1.0 - policy.confidence))
        errors += [f"{name}: {reason}" for reason in why]
        failures += [f"{name}: {reason}" for reason in broken]
        results[name] = each.result(adjusted.get(name), tuple(why), tuple(broken))
    return BudgetDecision(results, tuple(errors), tuple(failures))


def _before(
    baseline: Baseline | None, name: BudgetName, comparable: frozenset[str]
) -> dict[str, float]:
    spent = baseline.spent.get(name, {}) if baseline is not None else {}
    return {case: value for case, value in spent.items() if case in comparable}


class _Budget:
    """One budget: what the cases took, now and before."""

    def __init__(
        self, entry: BudgetPolicy, now: Mapping[str, float], before: Mapping[str, float]
    ) -> None:
        self._entry = entry
        self._values: Floats = np.array(list(now.values()), np.float64)
        paired = [case for case in now if case in before]
        self._now: Floats = np.array([now[case] for case in paired], np.float64)
        self._before: Floats = np.array([before[case] for case in paired], np.float64)
        asked = entry.max_increase is not None and len(paired) > 0
        self.p = paired_test(-self._before, -self._now, seed=SEED).p if asked else None

    @property
    def _increase(self) -> float | None:
        """Relative increase of the mean over the paired cases."""
        before = math.fsum(self._before)
        return math.fsum(self._now) / before - 1.0 if before > 0 else None

    def unknown(self) -> Iterator[str]:
        """Why it cannot be decided."""
        if not len(self._values):
            yield "a budget is set, and no answer says what it took"
        elif self._entry.max_increase is not None and not len(self._before):
            yield "max_increase is asked, and the baseline does not say what its answers took"

    def broken(self, p: float | None, level: float) -> Iterator[str]:
        """The limits that are not kept."""
        for limit, value in self._measures().items():
            most = getattr(self._entry, limit)
            if most is not None and value > most:
                yield f"{limit} {value:.4g} is above {most:.4g}"
        most, increase = self._entry.max_increase, self._increase
        if most is None or increase is None or p is None:
            return
        if increase > most and p < level:
            shown = f"one-sided p {p:.2g} < {level:.2g}"
            yield f"rose by {increase:.1%}, more than {most:.1%} ({shown})"

    def _measures(self) -> dict[str, float]:
        values = self._values
        found = {"mean": float(np.mean(values)), "total": math.fsum(values)}
        return found | {
            name: float(np.percentile(values, rank)) for name, rank in PERCENTILES.items()
        }

    def result(
        self, p: float | None, unknown: tuple[str, ...], broken: tuple[str, ...]
    ) -> BudgetResult:
        """The budget as the report shows it."""
        status: MetricStatus = "error" if unknown else "failed" if broken else "passed"
        measures = self._measures() if len(self._values) else {}
        return BudgetResult(
            n=len(self._values),
            **measures,
            baseline=float(np.mean(self._before)) if len(self._before) else None,
            increase=self._increase,
            p=p,
            status=status,
            reasons=(*unknown, *broken),
        )
