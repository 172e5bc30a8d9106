"""Cases grouped into clusters, whose differences are not independent."""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bridge.stats.samples import TOLERANCE, FloatArray, mean, without_noise


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Independent units of inference: one a cluster, or one a case where there are no clusters.

    Attributes:
        sums: Sum of the values of each unit, ascending, shape (units,).
        sizes: Number of values in each unit, shape (units,).
        mean: Mean over all values (not over units).
        scale: The largest absolute value, by which rounding noise is judged.
        clustered: Whether any unit holds more than one value.
    """

    sums: FloatArray
    sizes: FloatArray
    mean: float
    scale: float
    clustered: bool


def group(values: FloatArray, clusters: Iterable[Hashable] | None) -> Units:
    """Sum `values`, shape (n,), within `clusters`; the result does not depend on row order.

    Args:
        values: One value a case.
        clusters: One label a case (strings or integers), or None when each case is its own.

    Raises:
        ValueError: There is not one label a value, or a label is None or NaN.
    """
    scale, average = float(np.abs(values).max(initial=0.0)), mean(values)
    if abs(average) <= TOLERANCE * scale:
        average = 0.0
    if clusters is None:
        sums = without_noise(np.sort(values), scale)
        return Units(sums, np.ones_like(sums), average, scale, clustered=False)
    codes = _codes(clusters, values.size)
    order = np.lexsort((values, codes))
    sizes = np.bincount(codes).astype(np.float64)
    sums = np.zeros_like(sizes)
    np.add.at(sums, codes[order], values[order])
    sums = without_noise(sums, scale)
    by_sum = np.lexsort((sizes, sums))
    return Units(sums[by_sum], sizes[by_sum], average, scale, bool((sizes > 1).any()))


def identical(units: Units) -> bool:
    """Whether every unit has the same mean, up to rounding noise: no spread can be estimated."""
    noise = TOLERANCE * units.scale * float(units.sizes.max(initial=0.0))
    return float(np.abs(_residuals(units)).max(initial=0.0)) <= noise


def standard_error(units: Units) -> float:
    """Return the cluster-robust standard error of the mean over all values.

    With one value a unit it is s / sqrt(n). The estimator is that of Miller (2024), arXiv
    2411.00640, with the usual small-sample factor G / (G - 1) for G clusters.

    Raises:
        ValueError: Fewer than two units.
    """
    count = units.sums.size
    if count < 2:
        raise ValueError("a standard error needs at least two units")
    squares = math.fsum((_residuals(units) ** 2).tolist())
    return math.sqrt(squares * count / (count - 1)) / float(units.sizes.sum())


def _residuals(units: Units) -> FloatArray:
    return units.sums - units.sizes * units.mean


def _codes(clusters: Iterable[Hashable], n: int) -> NDArray[np.intp]:
    labels = list(clusters)
    if len(labels) != n:
        raise ValueError(f"there are {len(labels)} cluster labels for {n} values")
    if any(label is None or label != label for label in labels):
        raise ValueError("a cluster label is missing (None or NaN)")
    numbers = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return np.array([numbers[label] for label in labels], dtype=np.intp)
