"""What people would pass of all rows, told from a judge's verdicts and their labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from bridge.judge.trust.calibration import Pair
from bridge.model.calibration import CorrectedRate, Method
from bridge.stats.corrected import Corrected, Share, prediction_powered, rogan_gladen

LEAST = 30
"""Fewest labelled cases: fewer say too little of a judge's errors to correct for them."""

Judged = tuple[str, bool]
"""A row of the judge: its case, and whether the judge passes it."""


def corrected_rates(pairs: Sequence[Pair], judged: Sequence[Judged]) -> tuple[CorrectedRate, ...]:
    """The pass rate over all rows with the judge's errors taken out, in two ways.

    They hold for labels on rows drawn at random. Rows of one case count as one case.

    Args:
        pairs: The labelled rows.
        judged: All rows that the judge scored, the labelled ones included.

    Returns:
        None with fewer than ``LEAST`` labelled cases; the Rogan-Gladen rate only where the judge
        is better than chance and people passed some and failed some, and the prediction-powered
        one only where the judge's error varies.
    """
    if len({pair.case_id for pair in pairs}) < LEAST:
        return ()
    passed = math.fsum(passes for _, passes in judged) / len(judged)
    found: dict[Method, Corrected | None] = {
        "rogan_gladen": _rogan_gladen(pairs, judged),
        "prediction_powered": _powered(pairs, judged),
    }
    return tuple(
        CorrectedRate(
            method=method,
            value=each.value,
            low=each.low,
            high=each.high,
            judge=passed,
            n=len(judged),
        )
        for method, each in found.items()
        if each is not None
    )


def _rogan_gladen(pairs: Sequence[Pair], judged: Sequence[Judged]) -> Corrected | None:
    good = [(pair.case_id, pair.judge_passes) for pair in pairs if pair.human_passes]
    bad = [(pair.case_id, not pair.judge_passes) for pair in pairs if not pair.human_passes]
    return rogan_gladen(_share(judged), _share(good), _share(bad))


def _share(rows: Sequence[Judged]) -> Share:
    """Successes among as many as there are cases."""
    if not rows:
        return Share(0.0, 0.0)
    cases = len({case_id for case_id, _ in rows})
    return Share(math.fsum(passes for _, passes in rows) * cases / len(rows), cases)


def _powered(pairs: Sequence[Pair], judged: Sequence[Judged]) -> Corrected | None:
    apart = ((pair.case_id, float(pair.human_passes) - pair.judge_passes) for pair in pairs)
    differences = _means(apart)
    if len(set(differences)) == 1:  # an error not seen is no error of 0: the interval would be
        return None  # that of the rows alone
    return prediction_powered(_means(judged), differences)


def _means(rows: Iterable[tuple[str, float]]) -> list[float]:
    """The mean of each case."""
    by_case: dict[str, list[float]] = {}
    for case_id, value in rows:
        by_case.setdefault(case_id, []).append(value)
    return [math.fsum(values) / len(values) for values in by_case.values()]
