"""The bias-corrected and accelerated bootstrap interval of a mean (Efron 1987)."""

from __future__ import annotations  # else the annotations would load numpy.random on import

import math

import numpy as np
from numpy.typing import ArrayLike

from bridge.stats.distributions import normal_cdf, normal_quantile, two_sided_z
from bridge.stats.results import Interval
from bridge.stats.samples import FloatArray, all_equal, as_values, mean

_CHUNK = 1 << 20  # values held at once
_DRAWS = 20_000_000  # a large sample of many distinct values gets fewer resamples
_LEAST_RESAMPLES = 2_000
# A multinomial count costs about as much as this many plain draws.
_COUNT_COST = 16


def bca_mean(
    values: ArrayLike, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> Interval:
    """Return the BCa bootstrap interval of the mean of `values`.

    The acceleration is the jackknife's in closed form. Values are sorted first: the same seed
    gives the same limits for any order. Where many values are equal (four in five differences
    zero, say) the limits are too narrow below some 200 values; see `difference_interval`.

    Args:
        values: Shape (n,), n >= 2 and not all equal.
        level: Nominal coverage in (0, 1).
        resamples: Number of resamples; for more than 2000 values, of which many are distinct,
            it is lowered to about 20 million draws in all, but not below 2000.
        seed: Seed of the generator, >= 0.

    Raises:
        ValueError: Fewer than two values, or all are equal: a bootstrap interval would then have
            zero width, which claims far too much.
    """
    sample = np.sort(as_values(values))
    z = two_sided_z(level)
    if sample.size < 2 or all_equal(sample, float(np.abs(sample).max())):
        raise ValueError("a bootstrap interval needs at least two different values")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    means = _resampled_means(sample, resamples, np.random.default_rng(seed))
    bias, acceleration = _bias(means, mean(sample)), _acceleration(sample)
    tails = [_adjusted_tail(bias, acceleration, tail) for tail in (-z, z)]
    low, high = (float(limit) for limit in np.quantile(means, tails))
    return Interval(low, high, level, "BCa bootstrap")


def _resampled_means(
    sample: FloatArray, resamples: int, generator: np.random.Generator
) -> FloatArray:
    """Means of resamples drawn with replacement, in bounded memory, shape (resamples,)."""
    n = sample.size
    distinct, counts = np.unique(sample, return_counts=True)
    cost = min(n, distinct.size * _COUNT_COST)
    resamples = min(resamples, max(_LEAST_RESAMPLES, _DRAWS // cost))
    if cost < n or distinct.size <= _COUNT_COST:
        return _multinomial_means(distinct, counts / n, n, resamples, generator)
    rows = max(1, _CHUNK // n)
    return np.concatenate(
        [
            sample[generator.integers(0, n, size=(min(rows, resamples - start), n))].mean(axis=1)
            for start in range(0, resamples, rows)
        ]
    )


def _multinomial_means(
    distinct: FloatArray,
    shares: FloatArray,
    n: int,
    resamples: int,
    generator: np.random.Generator,
) -> FloatArray:
    rows = max(1, _CHUNK // distinct.size)
    sizes = [min(rows, resamples - start) for start in range(0, resamples, rows)]
    return np.concatenate([generator.multinomial(n, shares, size) @ distinct / n for size in sizes])


def _bias(means: FloatArray, observed: float) -> float:
    """The median bias z0, with half of the ties on each side, kept off the infinite ends."""
    tolerance = 1e-12 * float(np.abs(means).max())
    below = np.count_nonzero(means < observed - tolerance)
    at_most = np.count_nonzero(means <= observed + tolerance)
    share = (below + at_most) / (2.0 * means.size)
    return normal_quantile(min(max(share, 0.5 / means.size), 1.0 - 0.5 / means.size))


def _acceleration(sample: FloatArray) -> float:
    """Return sum d^3 / (6 (sum d^2)^1.5): what the jackknife gives for a mean, d = x - mean."""
    centred = sample - mean(sample)
    squares = math.fsum(centred**2)
    return math.fsum(centred**3) / (6.0 * squares * math.sqrt(squares))


def _adjusted_tail(bias: float, acceleration: float, z: float) -> float:
    shifted = bias + z
    denominator = 1.0 - acceleration * shifted
    if denominator <= 0.0:  # beyond the pole of the transformation lies the end of the range
        return 0.0 if shifted < 0.0 else 1.0
    return normal_cdf(bias + shifted / denominator)
