"""Cohen's kappa with a bootstrap interval: how sure an agreement beyond chance is."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bridge.stats.agreement import cohen_kappa, disagreement_weights
from bridge.stats.samples import FloatArray

RESAMPLES = 10_000
CHUNK = 2_000_000
"""Most counts drawn at a time."""


@dataclass(frozen=True, slots=True)
class KappaInterval:
    """Kappa and its two-sided percentile interval.

    Attributes:
        kappa: The point value in [-1, 1]; None where it is undefined.
        low: Lower limit; None where kappa is undefined in the sample or in every resample.
        high: Upper limit, likewise.
        level: Nominal coverage in (0, 1).
        clusters: Clusters that were resampled.
        undefined: Share of resamples in which kappa was undefined; these are left out.
    """

    kappa: float | None
    low: float | None
    high: float | None
    level: float
    clusters: int
    undefined: float


def kappa_interval(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    *,
    categories: Sequence[Hashable],
    weights: Literal["linear", "quadratic"] | None = None,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> KappaInterval:
    """Return kappa with a percentile interval over resampled clusters.

    A resample draws as many clusters as there are, with replacement; all labels of a cluster go
    together. Source: Efron and Tibshirani (1993), ch. 13; kappa as in
    :func:`~bridge.stats.agreement.cohen_kappa`.

    Args:
        first: Labels of one rater, one a pair.
        second: Labels of the other, same order.
        categories: All categories, in order where `weights` are given.
        weights: How disagreement grows with distance; None counts every one alike.
        clusters: What belongs together (a case over its epochs and turns), one a pair; every pair
            by itself without it.
        level: Nominal coverage.
        resamples: How many are drawn.
        seed: Of the generator: equal input gives an equal interval.

    Raises:
        ValueError: As :func:`~bridge.stats.agreement.cohen_kappa`, or `level` not in (0, 1).
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level {level} is not in (0, 1)")
    kappa = cohen_kappa(first, second, weights=weights, categories=categories)
    tables = _tables(first, second, categories, clusters)
    if kappa is None:
        return KappaInterval(None, None, None, level, len(tables), 1.0)
    drawn = _resampled(tables, disagreement_weights(len(categories), weights), resamples, seed)
    defined = drawn[~np.isnan(drawn)]
    undefined = 1.0 - defined.size / drawn.size
    if not defined.size:
        return KappaInterval(kappa, None, None, level, len(tables), undefined)
    low, high = np.quantile(defined, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return KappaInterval(kappa, float(low), float(high), level, len(tables), undefined)


def _tables(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    categories: Sequence[Hashable],
    clusters: Sequence[Hashable] | None,
) -> FloatArray:
    """Each cluster's pairs counted, one flat table of k x k a row."""
    index = {label: i for i, label in enumerate(categories)}
    names = range(len(first)) if clusters is None else clusters
    rows = {name: i for i, name in enumerate(dict.fromkeys(names))}
    tables = np.zeros((len(rows), len(index) ** 2))
    for a, b, name in zip(first, second, names, strict=True):
        tables[rows[name], index[a] * len(index) + index[b]] += 1.0
    return tables


def _resampled(tables: FloatArray, weights: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Kappa of each resample; NaN where it is undefined.

    Clusters with equal tables are drawn together, as a count: there are few such tables, and which
    of the clusters has which does not matter, nor does their order.
    """
    n, k = len(tables), len(weights)
    tables, alike = np.unique(tables, axis=0, return_counts=True)
    generator = np.random.default_rng(seed)
    found: list[FloatArray] = []
    left = resamples
    while left:
        size = min(left, max(1, CHUNK // len(tables)))
        left -= size
        drawn = generator.multinomial(n, alike / n, size=size) @ tables
        found.append(_kappas(drawn.reshape(size, k, k), weights))
    return np.concatenate(found)


def _kappas(tables: FloatArray, weights: FloatArray) -> FloatArray:
    total = tables.sum(axis=(1, 2))
    chance = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    expected = (weights * chance).sum(axis=(1, 2))
    observed = (weights * tables).sum(axis=(1, 2)) * total
    kappas: FloatArray = np.full(len(tables), np.nan)
    np.divide(observed, expected, out=kappas, where=expected > 0.0)
    return 1.0 - kappas
