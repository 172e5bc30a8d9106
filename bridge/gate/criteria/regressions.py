"""Paired tests of a run against its baseline, Holm-adjusted over the gated metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bridge.gate.intake.align import Series
from bridge.gate.intake.table import Floats, Ints
from bridge.model.baseline import Baseline
from bridge.model.policy import GatePolicy
from bridge.stats import (
    Interval,
    PairedTest,
    difference_interval,
    difference_sd,
    holm,
    minimum_detectable_effect,
    nonzero_needed,
    paired_test,
    required_n,
)

SEED = 20240601
"""Seed of every resampling; the same rows give the same verdict in any order."""

TOLERANCE = 1e-12
"""Rounding noise of a mean; a drop or a threshold that is reached but for it is reached."""

LEVEL = 0.95
"""Level of the two-sided intervals, which are for the reader."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """A series beside its baseline, on the cases that both scored.

    Attributes:
        series: The series.
        cases: Paired ids, sorted.
        codes: Their numbers in the table.
        before: Baseline values; shape (n,).
        now: Current values; shape (n,).
        lacking: Comparable cases that the baseline scored and the run did not.
        clusters: The cluster of each paired case.
    """

    series: Series
    cases: tuple[str, ...]
    codes: Ints
    before: Floats
    now: Floats
    lacking: tuple[str, ...]
    clusters: tuple[str, ...] | None = None

    @property
    def binary(self) -> bool:
        """Whether all values are single outcomes 0 or 1."""
        return self.series.binary and bool(np.isin(self.before, (0.0, 1.0)).all())

    @property
    def baseline(self) -> float:
        """Mean of the paired cases in the baseline."""
        return math.fsum(self.before.tolist()) / len(self.before)

    @property
    def current(self) -> float:
        """Mean of the paired cases now."""
        return math.fsum(self.now.tolist()) / len(self.now)


@dataclass(frozen=True, slots=True)
class Finding:
    """A pairing with its test.

    Attributes:
        pairing: The pairing.
        test: The one-sided paired test.
        interval: Two-sided interval of the mean difference.
        low: Lower end of the interval at the policy's confidence, for a margin.
        min_detectable: Least drop that shows at 80 % power; ``None`` where none would.
        n_needed: Cases that would show a drop as large as the one seen.
        p_adjusted: p of the test, adjusted where the metric is gated.
        nonzero_needed: Cases that must differ before any p can fall below the level.
    """

    pairing: Pairing
    test: PairedTest
    interval: Interval
    low: float
    min_detectable: float | None
    n_needed: int | None
    p_adjusted: float
    nonzero_needed: int

    @property
    def delta(self) -> float:
        """Mean of now minus baseline."""
        return self.test.delta

    def shows_regression(self, policy: GatePolicy) -> bool:
        """Whether p and drop both reach what the policy asks of a regression."""
        drop = -self.delta
        enough = drop > 0 and drop >= policy.min_effect - TOLERANCE
        return enough and self.p_adjusted < 1.0 - policy.confidence


def pair(series: Series, baseline: Baseline, comparable: frozenset[str]) -> Pairing | None:
    """A series beside its baseline; ``None`` where that holds no per-case scores of it."""
    scores = baseline.scores.get(series.name)
    if not isinstance(scores, Mapping):
        return None
    owed = comparable.intersection(scores)
    places = [place for place, case in enumerate(series.cases) if case in owed]
    own, cases = np.array(places, np.int64), tuple(map(series.cases.__getitem__, places))
    return Pairing(
        series=series,
        cases=cases,
        codes=series.codes[own],
        before=np.array(list(map(scores.__getitem__, cases)), np.float64),
        now=series.values[own],
        lacking=tuple(sorted(owed.difference(cases))),
        clusters=None if series.clusters is None else tuple(series.clusters[i] for i in own),
    )


def judge_pairings(
    pairings: Sequence[Pairing], gated: frozenset[str], policy: GatePolicy
) -> dict[str, Finding]:
    """Test every pairing that has cases; p is adjusted over the gated ones (Holm 1979)."""
    found = {each.series.name: each for each in pairings if each.cases}
    tests = {name: _test(each, policy) for name, each in found.items()}
    family = [name for name in tests if name in gated]
    adjusted = dict(zip(family, holm([tests[name].p for name in family]), strict=True))
    return {
        name: _finding(each, tests[name], adjusted, policy, len(family) if name in gated else 1)
        for name, each in found.items()
    }


def _test(pairing: Pairing, policy: GatePolicy) -> PairedTest:
    return paired_test(
        pairing.before,
        pairing.now,
        binary=pairing.binary,
        clusters=pairing.clusters,
        alpha=1.0 - policy.confidence,
        seed=SEED,
    )


def _finding(
    pairing: Pairing,
    test: PairedTest,
    adjusted: Mapping[str, float],
    policy: GatePolicy,
    family: int,
) -> Finding:
    """``family`` metrics share the level: what one of them can show is counted at its share."""
    alpha = 1.0 - policy.confidence
    share = alpha / family
    n, drop = len(pairing.cases), -test.delta
    sd = difference_sd(pairing.before, pairing.now, clusters=pairing.clusters) or 0.0
    interval = _interval(pairing, LEVEL)
    asked = policy.margin is not None and policy.confidence != LEVEL
    return Finding(
        pairing=pairing,
        test=test,
        interval=interval,
        low=_interval(pairing, policy.confidence).low if asked else interval.low,
        min_detectable=_on_scale(minimum_detectable_effect(sd, n, alpha=share)),
        n_needed=required_n(sd, drop, alpha=share) if drop > 0 else None,
        p_adjusted=adjusted.get(pairing.series.name, test.p),
        nonzero_needed=nonzero_needed(alpha, family),
    )


def _on_scale(drop: float | None) -> float | None:
    """A drop that values in [0, 1] can have; ``None`` where none is large enough to be seen."""
    return drop if drop is not None and drop <= 1.0 else None


def _interval(pairing: Pairing, level: float) -> Interval:
    return difference_interval(
        pairing.before,
        pairing.now,
        binary=pairing.binary,
        clusters=pairing.clusters,
        level=level,
        seed=SEED,
    )
