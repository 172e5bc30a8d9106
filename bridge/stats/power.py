"""What a comparison could have seen, and how many cases would settle it."""

import math
from collections.abc import Hashable, Iterable

from numpy.typing import ArrayLike

from bridge.stats.clusters import group, identical, standard_error
from bridge.stats.distributions import check_level, normal_quantile
from bridge.stats.proportions import rule_of_three
from bridge.stats.samples import paired_values, signed_differences


def minimum_detectable_effect(
    sd: float, n: int, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Return the smallest drop that `n` pairs show with the given power, one-sidedly.

    (z_{1-alpha} + z_{power}) sd / sqrt(n); source: Miller (2024), arXiv 2411.00640, section on
    power, one-sided here.

    Args:
        sd: Standard deviation of the paired differences, as from `difference_sd`.
        n: Number of pairs.
        alpha: One-sided level in (0, 1).
        power: Chance of seeing the drop, in (0, 1).

    Returns:
        The drop in units of the score; None when n or sd is 0, where nothing can be said.

    Raises:
        ValueError: `sd` or `n` is negative, sd is not finite, or a level is out of range.
    """
    factor = _factor(sd, alpha, power)
    if n < 0:
        raise ValueError(f"n cannot be negative: {n}")
    return factor / math.sqrt(n) if n and factor else None


def required_n(sd: float, delta: float, *, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """Return how many pairs show a drop of `delta` with the given power, one-sidedly.

    Args:
        sd: Standard deviation of the paired differences, as from `difference_sd`.
        delta: The drop to be seen; its sign does not matter.
        alpha: One-sided level in (0, 1).
        power: Chance of seeing the drop, in (0, 1).

    Returns:
        The number of pairs, rounded up; None when sd or delta is 0 and no number would do.

    Raises:
        ValueError: `sd` is negative, a number is not finite, or a level is out of range.
    """
    factor = _factor(sd, alpha, power)
    if not math.isfinite(delta):
        raise ValueError(f"delta must be finite, not {delta}")
    if not delta or not factor:
        return None
    return math.ceil((factor / delta) ** 2)


def difference_sd(
    baseline: ArrayLike,
    current: ArrayLike,
    *,
    clusters: Iterable[Hashable] | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> float | None:
    """Return the standard deviation of the paired differences, never zero.

    With clusters it is the cluster-robust standard error times sqrt(n), so that it may stand in
    the same formulas. Where all differences are equal, a sample standard deviation of zero would
    promise that any drop is detectable; instead, the share of cases that may differ otherwise (at
    95 %, none of n having done so) is put at the far end of the scale.

    Args:
        baseline: One value a case, shape (n,).
        current: The same cases in the same order, shape (n,).
        clusters: One label a case, or None.
        bounds: The range of the scale.

    Returns:
        The standard deviation, or None when there are no pairs.

    Raises:
        ValueError: NaN or infinite values, text, unequal lengths, or a missing cluster label.
    """
    before, after = paired_values(baseline, current)
    sample = signed_differences(before, after)
    units = group(sample, clusters)
    if not sample.size:
        return None
    width = bounds[1] - bounds[0]
    if identical(units):
        return math.sqrt(rule_of_three(units.sums.size)) * (width + abs(units.mean))
    return standard_error(units) * math.sqrt(sample.size)


def nonzero_needed(alpha: float = 0.05, family: int = 1) -> int:
    """Return how many differences must be non-zero before an exact test can reach the level.

    m differences of one sign have p = 2^-m, which must be below alpha / family for Holm's first
    step over `family` hypotheses to reject.

    Raises:
        ValueError: `alpha` is not in (0, 1), or `family` is below 1.
    """
    check_level(alpha, "alpha")
    if family < 1:
        raise ValueError(f"family must be at least 1, not {family}")
    m = 1
    while 0.5**m * family >= alpha:
        m += 1
    return m


def _factor(sd: float, alpha: float, power: float) -> float:
    check_level(alpha, "alpha")
    check_level(power, "power")
    if not (math.isfinite(sd) and sd >= 0.0):
        raise ValueError(f"sd must be finite and not negative, not {sd}")
    return max(0.0, normal_quantile(1.0 - alpha) + normal_quantile(power)) * sd
