"""A judge held against people: agreement, its errors by kind, and whether to believe it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from bridge.judge.scorers.levels import LEVELS
from bridge.model.calibration import Confusion, Rate, Trust
from bridge.model.policy import CalibrationPolicy
from bridge.stats import wilson
from bridge.stats.agreement import raw_agreement
from bridge.stats.kappa import KappaInterval, kappa_interval

Kind = Literal["binary", "levels"]
Weights = Literal["linear", "quadratic"]

VERDICTS = ("fail", "pass")
SEED = 0
MOST_UNDEFINED = 0.05
"""Largest share of resamples without a kappa at which its interval is believed."""


class Pair(NamedTuple):
    """What a person and the judge say of one row.

    Attributes:
        case_id: The case: what is resampled.
        human: ``pass`` or ``fail``, or a level.
        judge: The same, of the judge.
        human_passes: Whether the person's word is a pass.
        judge_passes: Whether the judge's is.
    """

    case_id: str
    human: str
    judge: str
    human_passes: bool
    judge_passes: bool


def measure(
    pairs: Sequence[Pair], kind: Kind, weights: Weights, policy: CalibrationPolicy
) -> dict[str, Any]:
    """What a set of pairs says of a judge: the fields of a ``CalibrationEntry`` from ``n`` on.

    Raw agreement has Wilson's interval at the number of cases, kappa a percentile interval over
    resampled cases, so that several rows of one case count as the one thing they are.
    """
    cases = len({pair.case_id for pair in pairs})
    kappa = kappa_interval(
        [pair.human for pair in pairs],
        [pair.judge for pair in pairs],
        categories=VERDICTS if kind == "binary" else LEVELS,
        weights=None if kind == "binary" else weights,
        clusters=[pair.case_id for pair in pairs],
        seed=SEED,
    )
    agreement = _agreement(pairs, cases)
    said = {pair.human_passes for pair in pairs}
    alone = "" if len(said) > 1 else "passed" if said == {True} else "failed"
    verdict, reasons = trust(cases, agreement, kappa, policy, alone)
    return {
        "kind": kind,
        "weights": None if kind == "binary" else weights,
        "n": len(pairs),
        "cases": cases,
        "agreement": agreement,
        "kappa": Rate(value=kappa.kappa, low=kappa.low, high=kappa.high, n=len(pairs)),
        **_rates(pairs),
        "confusion": _confusion(pairs),
        "verdict": verdict,
        "reasons": reasons,
        "labels_needed": labels_needed(cases, agreement, kappa, policy, verdict),
    }


def unscored(kind: Kind, weights: Weights, why: str) -> dict[str, Any]:
    """What is said of a judge that scored no labelled row: the same fields, and no number."""
    return {
        "kind": kind,
        "weights": None if kind == "binary" else weights,
        "n": 0,
        "cases": 0,
        "agreement": Rate(),
        "kappa": Rate(),
        **_rates(()),
        "confusion": (),
        "verdict": "unusable",
        "reasons": (why,),
        "labels_needed": None,
    }


def agreement_of(pairs: Sequence[Pair]) -> Rate:
    """Raw agreement of some of the pairs."""
    return _agreement(pairs, len({pair.case_id for pair in pairs}))


def _agreement(pairs: Sequence[Pair], cases: int) -> Rate:
    share = raw_agreement([pair.human for pair in pairs], [pair.judge for pair in pairs])
    if share is None:
        return Rate()
    interval = wilson(round(share * cases), cases)
    return Rate(value=share, low=interval.low, high=interval.high, n=len(pairs))


def rate(successes: int, n: int) -> Rate:
    """A share with Wilson's interval; undefined of nothing."""
    if n == 0:
        return Rate()
    interval = wilson(successes, n)
    return Rate(value=successes / n, low=interval.low, high=interval.high, n=n)


def _rates(pairs: Sequence[Pair]) -> dict[str, Rate]:
    counts = Counter((pair.human_passes, pair.judge_passes) for pair in pairs)
    hits, misses = counts[True, True], counts[True, False]
    false, right = counts[False, True], counts[False, False]
    return {
        "true_positive_rate": rate(hits, hits + misses),
        "false_positive_rate": rate(false, false + right),
        "false_pass_rate": rate(false, false + hits),
    }


def _confusion(pairs: Sequence[Pair]) -> tuple[Confusion, ...]:
    counts = Counter((pair.human, pair.judge) for pair in pairs)
    order = [*VERDICTS, *LEVELS]
    placed = sorted(counts.items(), key=lambda item: tuple(map(order.index, item[0])))
    return tuple(Confusion(human=human, judge=judge, n=n) for (human, judge), n in placed)


def trust(
    cases: int,
    agreement: Rate,
    kappa: KappaInterval,
    policy: CalibrationPolicy,
    alone: str = "",
) -> tuple[Trust, tuple[str, ...]]:
    """Whether to believe a judge, and why not.

    Where people ``passed`` everything, or ``failed`` it (``alone``), kappa is 0 or undefined
    whatever the judge does: then raw agreement alone can call it unusable.

    Trusted only where both *lower* bounds reach the policy, unusable only where the *upper* bound
    of kappa does not reach its least: at 30 labels and a true kappa of 0.8, the lower bound would
    call a good judge unusable 18 % of the time.
    """
    if cases < policy.labels:
        return "marginal", (f"{cases} labelled cases; {policy.labels} at least",)
    if alone:
        if agreement.high is not None and agreement.high < policy.agreement:
            why = f"agreement is at most {agreement.high:.2f}, below {policy.agreement:g}"
            return "unusable", (why,)
        lacking = "fail" if alone == "passed" else "pass"
        return "marginal", (f"people {alone} every labelled case: label some that {lacking}",)
    if kappa.kappa is None or kappa.low is None or kappa.high is None:
        return "marginal", ("kappa is undefined: label cases that fail, and cases that pass",)
    if kappa.high < policy.unusable:
        return "unusable", (f"kappa is at most {kappa.high:.2f}, below {policy.unusable:g}",)
    doubts = []
    if kappa.low < policy.kappa:
        doubts.append(f"kappa may be as low as {kappa.low:.2f}, below {policy.kappa:g}")
    if agreement.low is not None and agreement.low < policy.agreement:
        doubts.append(f"agreement may be as low as {agreement.low:.2f}, below {policy.agreement:g}")
    if kappa.undefined > MOST_UNDEFINED:
        doubts.append(f"kappa is undefined in {kappa.undefined:.0%} of the resamples")
    return ("marginal" if doubts else "trusted"), tuple(doubts)


def labels_needed(
    cases: int, agreement: Rate, kappa: KappaInterval, policy: CalibrationPolicy, verdict: Trust
) -> int | None:
    """About how many labelled cases would make a marginal judge trusted, should nothing change.

    Interval widths shrink with the square root of the number of cases. ``None`` where a point value
    is itself below what is asked: more labels would not help.
    """
    if verdict != "marginal":
        return None
    if kappa.kappa is None or kappa.low is None or agreement.value is None or agreement.low is None:
        return policy.labels if cases < policy.labels else None
    asked = (
        (kappa.kappa, kappa.low, policy.kappa),
        (agreement.value, agreement.low, policy.agreement),
    )
    if any(value <= least for value, _, least in asked):
        return None
    shares = [((value - low) / (value - least)) ** 2 for value, low, least in asked]
    return max(policy.labels, math.ceil(cases * max(1.0, *shares)))
