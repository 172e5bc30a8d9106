"""How far two raters, judges or frameworks agree on the same cases."""

import math
from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bridge.stats.distributions import two_sided_z
from bridge.stats.results import BlandAltman, Interval
from bridge.stats.samples import (
    FloatArray,
    all_equal,
    differences,
    mean,
    paired_values,
)


def raw_agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Return the share of cases with the same label in [0, 1]; None when there are none.

    Raises:
        ValueError: The lengths differ, or a label is None or NaN.
    """
    _check_labels(first, second)
    if not first:
        return None
    return sum(a == b for a, b in zip(first, second, strict=True)) / len(first)


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    *,
    weights: Literal["linear", "quadratic"] | None = None,
    categories: Sequence[Hashable] | None = None,
) -> float | None:
    """Return Cohen's kappa: agreement beyond chance, 1 - observed / expected disagreement.

    Source: Cohen (1960); weighted: Cohen (1968), with weights |i - j| or (i - j)^2 between the
    positions of two categories.

    Args:
        first: Labels of one rater, one a case.
        second: Labels of the other, same order.
        weights: How disagreement grows with distance; None counts every one alike.
        categories: All categories in order. Without it, those that occur; sorted, when weighted.

    Returns:
        Kappa in [-1, 1]; None where it is undefined: no cases, or both raters used one and the
        same category only, so that chance alone explains everything.

    Raises:
        ValueError: The lengths differ, a label is None, NaN or not among `categories`, or the
            categories of a weighted kappa have no order of their own.
    """
    _check_labels(first, second)
    index = _positions(first, second, weights is not None, categories)
    k = len(index)
    table = np.zeros((k, k))
    rows, columns = ([index[label] for label in labels] for labels in (first, second))
    np.add.at(table, (rows, columns), 1.0)
    disagreement = disagreement_weights(k, weights)
    chance = np.outer(table.sum(axis=1), table.sum(axis=0))
    expected = float((disagreement * chance).sum())
    if expected == 0.0:
        return None
    return 1.0 - float((disagreement * table).sum()) * len(first) / expected


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Spearman's rank correlation in [-1, 1], ties at their average rank.

    Returns:
        The correlation; None where it is undefined (n < 2, or one sample is constant).

    Raises:
        ValueError: NaN or infinite values, text, or unequal lengths.
    """
    a, b = paired_values(first, second, ("first", "second"))
    if a.size < 2 or all_equal(a, 0.0) or all_equal(b, 0.0):
        return None
    x, y = (ranks - ranks.mean() for ranks in (_average_ranks(a), _average_ranks(b)))
    correlation = float(x @ y) / float(np.sqrt((x @ x) * (y @ y)))
    return min(1.0, max(-1.0, correlation))


def spearman_interval(correlation: float, n: int, *, level: float = 0.95) -> Interval | None:
    """Return a two-sided interval of Spearman's correlation.

    Fisher's z with the variance (1 + r^2 / 2) / (n - 3) of Bonett and Wright (2000, Psychometrika
    65:23), who found it to hold its level for correlations up to 0.95.

    Args:
        correlation: The correlation in [-1, 1].
        n: Independent pairs behind it.
        level: Nominal coverage in (0, 1).

    Returns:
        The interval; None for n < 4.
    """
    z = two_sided_z(level)
    if n < 4:
        return None
    inside = min(1.0 - 1e-12, max(-1.0 + 1e-12, correlation))
    middle = math.atanh(inside)
    half = z * math.sqrt((1.0 + correlation**2 / 2.0) / (n - 3))
    low, high = math.tanh(middle - half), math.tanh(middle + half)
    return Interval(low, high, level, "Bonett and Wright")


def bland_altman(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> BlandAltman:
    """Return the mean difference second - first and its limits of agreement.

    Limits: mean +- z sd; `level` of normal differences lie between. Source: Bland and Altman
    (1986), Lancet 327:307.

    Raises:
        ValueError: NaN or infinite values, text, unequal lengths, or `level` not in (0, 1).
    """
    z = two_sided_z(level)
    gaps = differences(*paired_values(first, second, ("first", "second")))
    if gaps.size == 0:
        return BlandAltman(0, None, None, None, None)
    bias = mean(gaps)
    if gaps.size == 1:
        return BlandAltman(1, bias, None, None, None)
    sd = float(gaps.std(ddof=1))
    return BlandAltman(gaps.size, bias, sd, bias - z * sd, bias + z * sd)


def _check_labels(first: Sequence[Hashable], second: Sequence[Hashable]) -> None:
    if len(first) != len(second):
        raise ValueError(f"first has {len(first)} labels and second has {len(second)}")
    if any(label is None or label != label for labels in (first, second) for label in labels):
        raise ValueError("a label is missing (None or NaN)")


def _positions(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    ordered: bool,
    categories: Sequence[Hashable] | None,
) -> dict[Hashable, int]:
    seen: Sequence[Hashable] = list(dict.fromkeys([*first, *second]))
    if categories is None and ordered:
        seen = _sorted(seen)
    index = {label: i for i, label in enumerate(seen if categories is None else categories)}
    unknown = [label for label in seen if label not in index]
    if unknown:
        raise ValueError(f"label {unknown[0]!r} is not among the categories")
    return index


def _sorted(labels: Sequence[Hashable]) -> list[Hashable]:
    try:
        return sorted(labels)  # type: ignore[type-var]
    except TypeError as error:
        raise ValueError("a weighted kappa needs categories that have an order") from error


def disagreement_weights(k: int, weights: Literal["linear", "quadratic"] | None) -> FloatArray:
    """Return how much a disagreement between each two of k categories counts, k x k."""
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(np.float64)
    if weights == "quadratic":
        return distance**2
    return distance if weights == "linear" else np.minimum(distance, 1.0)


def _average_ranks(values: FloatArray) -> FloatArray:
    _, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    last: NDArray[np.intp] = np.cumsum(counts)
    return (last - (counts - 1) / 2.0)[position]
