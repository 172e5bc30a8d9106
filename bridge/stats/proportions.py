"""Confidence intervals for a proportion, and for the difference of two paired proportions."""

import math
from dataclasses import dataclass

from bridge.stats.distributions import beta_quantile, check_level, two_sided_z
from bridge.stats.results import Interval
from bridge.stats.roots import bisect


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """A paired 2 x 2 table.

    Attributes:
        both: Pairs that passed in both runs.
        lost: Pairs that passed in the baseline only.
        gained: Pairs that passed in the current run only.
        neither: Pairs that passed in neither.
    """

    both: int
    lost: int
    gained: int
    neither: int

    def __post_init__(self) -> None:
        if min(self.both, self.lost, self.gained, self.neither) < 0:
            raise ValueError(f"counts cannot be negative: {self}")

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.both + self.lost + self.gained + self.neither

    @property
    def delta(self) -> float:
        """Current minus baseline rate in [-1, 1]; 0.0 when there are no pairs."""
        return (self.gained - self.lost) / self.n if self.n else 0.0


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Return Wilson's score interval of a proportion (Wilson 1927); [0, 1] when n = 0.

    Raises:
        ValueError: Not 0 <= successes <= n, or `level` is not in (0, 1).
    """
    _check_counts(successes, n)
    z = two_sided_z(level)
    if n == 0:
        return Interval(0.0, 1.0, level, "none", "no values")
    rate, shrink = successes / n, z * z / n
    centre = (rate + shrink / 2.0) / (1.0 + shrink)
    half = math.sqrt(rate * (1.0 - rate) * shrink + shrink * shrink / 4.0) / (1.0 + shrink)
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Interval(low, high, level, "Wilson")


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Return the exact interval of a proportion (Clopper and Pearson 1934); [0, 1] when n = 0.

    Raises:
        ValueError: Not 0 <= successes <= n, or `level` is not in (0, 1).
    """
    _check_counts(successes, n)
    check_level(level)
    if n == 0:
        return Interval(0.0, 1.0, level, "none", "no values")
    tail, failures = (1.0 - level) / 2.0, n - successes
    low = beta_quantile(tail, successes, failures + 1) if successes else 0.0
    # Solved for the failures, so that a limit near 1 is as exact as one near 0.
    high = 1.0 - beta_quantile(tail, failures, successes + 1) if failures else 1.0
    return Interval(low, high, level, "Clopper-Pearson")


def rule_of_three(n: int, level: float = 0.95) -> float:
    """Return the upper bound of a rate of which nothing was seen in `n` trials.

    The exact form 1 - (1 - level)^(1/n), of which 3/n is the approximation at 95 %; 1.0 when
    n = 0. It is one-sided at `level`.

    Raises:
        ValueError: `n` is negative, or `level` is not in (0, 1).
    """
    _check_counts(0, n)
    check_level(level)
    return -math.expm1(math.log1p(-level) / n) if n else 1.0


def newcombe_paired(counts: PairedCounts, level: float = 0.95) -> Interval:
    """Return Newcombe's square-and-add interval of the current minus the baseline rate.

    Wilson limits of both rates, combined with the correlation phi, whose numerator is corrected
    towards zero (Newcombe 1998, Statistics in Medicine 17:2635, method 10). [-1, 1] when n = 0.

    Raises:
        ValueError: `level` is not in (0, 1).
    """
    n = counts.n
    if n == 0:
        check_level(level)
        return Interval(-1.0, 1.0, level, "none", "no pairs")
    now, before = counts.both + counts.gained, counts.both + counts.lost
    now_limits, before_limits = wilson(now, n, level), wilson(before, n, level)
    phi, delta = _corrected_phi(counts), counts.delta
    below = _add_squares(now / n - now_limits.low, before_limits.high - before / n, phi)
    above = _add_squares(now_limits.high - now / n, before / n - before_limits.low, phi)
    low, high = max(-1.0, delta - below), min(1.0, delta + above)
    return Interval(low, high, level, "Newcombe-Wilson paired")


def tango(counts: PairedCounts, level: float = 0.95) -> Interval:
    """Return Tango's score interval of the current minus the baseline rate.

    The differences that a two-sided score test does not reject (Tango 1998, Statistics in
    Medicine 17:891). [-1, 1] when n = 0.

    Raises:
        ValueError: `level` is not in (0, 1).
    """
    z = two_sided_z(level)
    if counts.n == 0:
        return Interval(-1.0, 1.0, level, "none", "no pairs")
    low = bisect(lambda delta: z - _tango_score(counts, delta), -1.0, counts.delta)
    high = bisect(lambda delta: -z - _tango_score(counts, delta), counts.delta, 1.0)
    return Interval(low, high, level, "Tango")


def _check_counts(successes: int, n: int) -> None:
    if not 0 <= successes <= n:
        raise ValueError(f"counts must be 0 <= successes <= n, not {successes} of {n}")


def _add_squares(a: float, b: float, phi: float) -> float:
    return math.sqrt(max(0.0, a * a - 2.0 * phi * a * b + b * b))


def _corrected_phi(counts: PairedCounts) -> float:
    passed, before = counts.both + counts.gained, counts.both + counts.lost
    margins = passed * (counts.n - passed) * before * (counts.n - before)
    if margins == 0:
        return 0.0
    numerator: float = counts.both * counts.neither - counts.lost * counts.gained
    if numerator > 0:
        numerator = max(numerator - counts.n / 2.0, 0.0)
    return numerator / math.sqrt(margins)


def _tango_score(counts: PairedCounts, delta: float) -> float:
    """The score statistic for a true difference `delta`; it falls as `delta` rises."""
    n, gained, lost = counts.n, counts.gained, counts.lost
    a = 2.0 * n
    b = (2.0 * n + lost - gained) * delta - gained - lost
    c = -lost * delta * (1.0 - delta)
    root = math.sqrt(max(0.0, b * b - 4.0 * a * c))
    # Both forms are the larger root; each is used where its terms do not cancel.
    lost_share = (root - b) / (2.0 * a) if b <= 0.0 else -2.0 * c / (root + b)
    gap = gained - lost - n * delta
    variance = n * (2.0 * lost_share + delta * (1.0 - delta))
    return gap / math.sqrt(variance) if variance > 0.0 else math.copysign(math.inf, gap)
