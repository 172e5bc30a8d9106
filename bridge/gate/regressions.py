"""Paired tests of a run against its baseline, Holm-adjusted over the gated metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bridge.gate.align import Series
from bridge.gate.table import Floats
from bridge.model.baseline import Baseline
from bridge.stats import (
    Interval,
    PairedTest,
    difference_interval,
    difference_sd,
    holm,
    minimum_detectable_effect,
    paired_test,
    required_n,
)

SEED = 20240601
"""Seed of every resampling; the same rows give the same verdict in any order."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """A series beside its baseline, on the cases that both scored.

    Attributes:
        cases: Paired ids, sorted.
        before: Baseline values; shape (n,).
        now: Current values; shape (n,).
        lacking: Comparable cases that the baseline scored and the run did not.
    """

    series: Series
    cases: tuple[str, ...]
    before: Floats
    now: Floats
    lacking: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A pairing with its test."""

    pairing: Pairing
    test: PairedTest
    interval: Interval
    min_detectable: float | None
    n_needed: int | None
    p_adjusted: float

    @property
    def delta(self) -> float:
        """Mean of now minus baseline."""
        return self.test.delta


def pair(series: Series, baseline: Baseline, comparable: frozenset[str]) -> Pairing | None:
    """A series beside its baseline; ``None`` where that holds no per-case scores of it."""
    scores = baseline.scores.get(series.name)
    if not isinstance(scores, Mapping):
        return None
    now = dict(zip(series.cases, series.values.tolist(), strict=True))
    owed = sorted(case for case in scores if case in comparable)
    cases = tuple(case for case in owed if case in now)
    return Pairing(
        series=series,
        cases=cases,
        before=np.array([scores[case] for case in cases], np.float64),
        now=np.array([now[case] for case in cases], np.float64),
        lacking=tuple(case for case in owed if case not in now),
    )


def judge_pairings(
    pairings: Sequence[Pairing], gated: frozenset[str], alpha: float
) -> dict[str, Finding]:
    """Test every pairing; p is adjusted over the gated ones (Holm 1979)."""
    tests = {each.series.name: _test(each, alpha) for each in pairings if len(each.cases) > 0}
    family = [name for name in tests if name in gated]
    adjusted = dict(zip(family, holm([tests[name].p for name in family]), strict=True))
    return {
        each.series.name: _finding(each, tests[each.series.name], adjusted, alpha)
        for each in pairings
        if each.series.name in tests
    }


def _test(pairing: Pairing, alpha: float) -> PairedTest:
    return paired_test(
        pairing.before, pairing.now, binary=_is_binary(pairing), alpha=alpha, seed=SEED
    )


def _is_binary(pairing: Pairing) -> bool:
    return pairing.series.binary and bool(np.isin(pairing.before, (0.0, 1.0)).all())


def _finding(
    pairing: Pairing, test: PairedTest, adjusted: Mapping[str, float], alpha: float
) -> Finding:
    sd = difference_sd(pairing.before, pairing.now)
    detectable = (
        None if sd is None else minimum_detectable_effect(sd, len(pairing.cases), alpha=alpha)
    )
    drop = -test.delta
    needed = required_n(sd, drop, alpha=alpha) if sd is not None and drop > 0 else None
    return Finding(
        pairing=pairing,
        test=test,
        interval=difference_interval(
            pairing.before, pairing.now, binary=_is_binary(pairing), seed=SEED
        ),
        min_detectable=detectable,
        n_needed=needed,
        p_adjusted=adjusted.get(pairing.series.name, test.p),
    )
