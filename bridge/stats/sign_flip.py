"""Sign-flip permutation tests of paired differences.

If baseline and current are exchangeable within a pair, every assignment of signs to the absolute
differences is equally likely. The statistic is the sum of differences; the p value is the share
of assignments whose sum is as low as the observed one. Zero differences do not matter.
"""

from __future__ import annotations  # else the annotations would load numpy.random on import

import math

import numpy as np

from bridge.stats.mcnemar import exact_mcnemar
from bridge.stats.samples import TOLERANCE, FloatArray, all_equal

_CHUNK = 1 << 20  # signs held at once, as float64: 8 MB


def equal_magnitudes(differences: FloatArray) -> bool:
    """Whether all non-zero differences are equally large, so that only their signs matter."""
    sizes = np.abs(differences[differences != 0.0])
    return all_equal(sizes, float(sizes.max(initial=0.0)))


def sign_test(differences: FloatArray) -> float:
    """Return the exact p value where all magnitudes are equal: the sign-flip null is binomial."""
    return exact_mcnemar(int((differences < 0.0).sum()), int((differences > 0.0).sum()))


def exact_sign_flip(differences: FloatArray) -> float:
    """Return the exact one-sided p value over all 2^m signs of the m non-zero differences.

    Args:
        differences: current - baseline, shape (n,). Memory is 8 * 2^m bytes.

    Returns:
        P(sum of flipped differences <= observed sum), at least 2^-m; 1.0 when all are zero.
    """
    sizes = _magnitudes(differences)
    flipped = np.zeros(1)
    for size in sizes:
        flipped = np.concatenate([flipped, flipped + size])
    return float(np.count_nonzero(flipped >= _threshold(differences, sizes))) / flipped.size


def monte_carlo_sign_flip(differences: FloatArray, *, resamples: int, seed: int) -> float:
    """Return the one-sided Monte Carlo p value (1 + #) / (resamples + 1).

    Counting the observed assignment itself keeps the level (Phipson and Smyth 2010). The signs
    are drawn for sorted magnitudes: the same seed gives the same p for any order of the rows.

    Args:
        differences: current - baseline, shape (n,).
        resamples: Number of random sign assignments, >= 1.
        seed: Seed of the generator, >= 0.

    Raises:
        ValueError: `resamples` is below 1.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    sizes = _magnitudes(differences)
    if sizes.size == 0:
        return 1.0
    threshold = _threshold(differences, sizes)
    generator = np.random.default_rng(seed)
    rows = max(1, _CHUNK // sizes.size)
    hits = 0
    for start in range(0, resamples, rows):
        signs = _random_bits(generator, min(rows, resamples - start), sizes.size)
        hits += int(np.count_nonzero(signs @ sizes >= threshold))
    return (1 + hits) / (resamples + 1)


def _magnitudes(differences: FloatArray) -> FloatArray:
    return np.sort(np.abs(differences[differences != 0.0]))


def _threshold(differences: FloatArray, sizes: FloatArray) -> float:
    """The observed sum of the negative magnitudes, less a margin so that ties count as ties."""
    return math.fsum(-differences[differences < 0.0]) - TOLERANCE * math.fsum(sizes)


def _random_bits(generator: np.random.Generator, rows: int, columns: int) -> FloatArray:
    packed = generator.integers(0, 256, size=(rows, (columns + 7) // 8), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=columns).astype(np.float64)
