"""What people would say of all rows, from what a judge says of them and people of a part."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from bridge.stats.distributions import two_sided_z
from bridge.stats.samples import as_values


@dataclass(frozen=True, slots=True)
class Corrected:
    """A share that people were not asked for.

    Attributes:
        value: The estimate, cut at 0 and 1.
        low: Lower limit of its interval, cut likewise.
        high: Upper limit, likewise.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Share:
    """Successes among n; real numbers, since rows of one case count as less than one each."""

    successes: float
    n: float


def rogan_gladen(
    passed: Share, true_positive: Share, true_negative: Share, *, level: float = 0.95
) -> Corrected | None:
    """Return the true pass rate behind a judge's, from its rates of error.

    (q + TNR - 1) / (TPR + TNR - 1) by Rogan and Gladen (1978, Am J Epidemiol 107:71). The interval
    carries the samples of all three rates, each with a few successes and failures added, by Lang
    and Reiczigel (2014, Prev Vet Med 113:13).

    Args:
        passed: What the judge passed, of all rows.
        true_positive: What the judge passed, of what people passed.
        true_negative: What the judge failed, of what people failed.
        level: Nominal coverage in (0, 1).

    Returns:
        The rate; None where the judge is no better than chance, or a sample is empty.
    """
    if not (passed.n and true_positive.n and true_negative.n):
        return None
    z = two_sided_z(level)
    spread = true_positive.successes / true_positive.n + true_negative.successes / true_negative.n
    if spread <= 1.0:
        return None
    raw = passed.successes / passed.n + true_negative.successes / true_negative.n - 1.0
    q, tpr, tnr = _padded(passed, z * z), _padded(true_positive, 2.0), _padded(true_negative, 2.0)
    gain = _rate(tpr) + _rate(tnr) - 1.0
    if gain <= 0.0:
        return None
    middle = (_rate(q) + _rate(tnr) - 1.0) / gain
    positives = _variance(tpr) * middle**2
    negatives = _variance(tnr) * (1.0 - middle) ** 2
    half = z * math.sqrt(_variance(q) + positives + negatives) / gain
    shift = 2.0 * z * z * (middle * _variance(tpr) - (1.0 - middle) * _variance(tnr))
    return _cut(raw / (spread - 1.0), middle + shift - half, middle + shift + half)


def _padded(share: Share, added: float) -> Share:
    return Share(share.successes + added / 2.0, share.n + added)


def _rate(share: Share) -> float:
    return share.successes / share.n


def _variance(share: Share) -> float:
    rate = _rate(share)
    return rate * (1.0 - rate) / share.n


def prediction_powered(
    judged: ArrayLike, differences: ArrayLike, *, level: float = 0.95
) -> Corrected | None:
    """Return the mean that people would give, by prediction-powered inference.

    mean(judged) + mean(differences): the judge's mean over all cases, set right by how far people
    are from it on the labelled ones (Angelopoulos et al. 2023, Science 382:669). Normal limits,
    with the variances of both samples.

    Args:
        judged: What the judge says, one value a case in [0, 1], of all cases.
        differences: People's value minus the judge's, one a labelled case, in [-1, 1].
        level: Nominal coverage in (0, 1).

    Returns:
        The mean; None with fewer than two values in one of the samples.

    Raises:
        ValueError: NaN or infinite values, or text.
    """
    z = two_sided_z(level)
    all_judged, apart = as_values(judged), as_values(differences)
    if all_judged.size < 2 or apart.size < 2:
        return None
    value = math.fsum(all_judged) / all_judged.size + math.fsum(apart) / apart.size
    variance = all_judged.var(ddof=1) / all_judged.size + apart.var(ddof=1) / apart.size
    half = z * math.sqrt(float(variance))
    return _cut(value, value - half, value + half)


def _cut(value: float, low: float, high: float) -> Corrected:
    inside = (min(1.0, max(0.0, each)) for each in (value, low, high))
    return Corrected(*inside)
