"""Kappa's interval against a reference written out by the formula, and against known tables."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from bridge.stats import cohen_kappa
from bridge.stats.kappa import kappa_interval

LEVELS = ("poor", "fair", "good", "excellent")


def reference_kappa(table: Sequence[Sequence[float]], power: float) -> float:
    """1 - sum(w o) / sum(w e), as scikit-learn's ``cohen_kappa_score`` has it; nan where 0 / 0."""
    k, n = len(table), math.fsum(map(math.fsum, table))
    rows = [math.fsum(row) for row in table]
    columns = [math.fsum(row[j] for row in table) for j in range(k)]
    cells = [(i, j) for i in range(k) for j in range(k)]
    weight = {(i, j): float(i != j) if power == 0 else abs(i - j) ** power for i, j in cells}
    observed = math.fsum(weight[i, j] * table[i][j] for i, j in cells)
    expected = math.fsum(weight[i, j] * rows[i] * columns[j] / n for i, j in cells)
    return 1 - observed / expected if expected else math.nan


def pairs_of(table: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    cells = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return [i for i, _ in cells], [j for _, j in cells]


@pytest.mark.parametrize(
    ("table", "weights", "kappa"),
    [
        # Wikipedia's two grant readers; Cohen (1960) by hand
        ([[20, 5], [10, 15]], None, 0.4),
        ([[45, 15], [25, 15]], None, 0.1304347826086957),
        ([[25, 35], [5, 35]], None, 0.25925925925925924),
    ],
)
def test_published_tables(table: list[list[int]], weights: None, kappa: float) -> None:
    first, second = pairs_of(table)
    found = kappa_interval(first, second, categories=(0, 1), weights=weights)
    assert found.kappa == pytest.approx(kappa, abs=1e-9)


@pytest.mark.parametrize(("weights", "power"), [(None, 0), ("linear", 1), ("quadratic", 2)])
@pytest.mark.parametrize("clustered", [False, True])
def test_the_interval_is_that_of_the_formula(
    weights: str | None, power: int, clustered: bool
) -> None:
    chance = random.Random(7)
    first = chance.choices(LEVELS, (4, 3, 2, 1), k=60)
    second = [a if chance.random() < 0.6 else chance.choice(LEVELS) for a in first]
    clusters = [i // 2 for i in range(60)] if clustered else list(range(60))
    found = kappa_interval(
        first, second, categories=LEVELS, weights=weights, clusters=clusters, resamples=500, seed=3  # type: ignore[arg-type]
    )  # fmt: skip
    n = len(set(clusters))
    tables: dict[int, list[list[int]]] = {}
    for a, b, cluster in zip(first, second, clusters, strict=True):
        table = tables.setdefault(cluster, [[0] * 4 for _ in range(4)])
        table[LEVELS.index(a)][LEVELS.index(b)] += 1
    alike = Counter(tuple(map(tuple, table)) for table in tables.values())
    kinds = sorted(alike)  # clusters with equal tables are drawn together
    shares = [alike[kind] / n for kind in kinds]
    kappas = []
    for counts in np.random.default_rng(3).multinomial(n, shares, size=500):
        drawn = [[0.0] * 4 for _ in range(4)]
        for kind, count in zip(kinds, counts, strict=True):
            for row, own in zip(drawn, kind, strict=True):
                row[:] = [have + int(count) * more for have, more in zip(row, own, strict=True)]
        kappas.append(reference_kappa(drawn, power))
    whole = [[0.0] * 4 for _ in range(4)]
    for a, b in zip(first, second, strict=True):
        whole[LEVELS.index(a)][LEVELS.index(b)] += 1
    low, high = stats.mstats.mquantiles(kappas, [0.025, 0.975], alphap=1, betap=1)
    assert found.kappa == pytest.approx(reference_kappa(whole, power), abs=1e-9)
    assert found.low == pytest.approx(low, abs=1e-9)
    assert found.high == pytest.approx(high, abs=1e-9)
    assert (found.clusters, found.undefined) == (n, 0.0)


def test_the_interval_is_about_as_wide_as_theory_has_it() -> None:
    """Fleiss's large-sample standard error, at n = 2000."""
    table = [[700, 150], [100, 1050]]
    first, second = pairs_of(table)
    found = kappa_interval(first, second, categories=(0, 1))
    n, p = 2000, np.array(table) / 2000
    rows, columns, k = p.sum(axis=1), p.sum(axis=0), found.kappa or 0.0
    pe = float(rows @ columns)
    a = sum(p[i, i] * (1 - (rows[i] + columns[i]) * (1 - k)) ** 2 for i in range(2))
    b = (1 - k) ** 2 * sum(
        p[i, j] * (columns[i] + rows[j]) ** 2 for i in range(2) for j in range(2) if i != j
    )
    error = math.sqrt(a + b - (k - pe * (1 - k)) ** 2) / ((1 - pe) * math.sqrt(n))
    z = stats.norm.ppf(0.975)
    assert found.low == pytest.approx(k - z * error, abs=0.004)
    assert found.high == pytest.approx(k + z * error, abs=0.004)


def test_rows_of_one_case_are_one_thing() -> None:
    first, second = pairs_of([[20, 5], [10, 15]])
    alone = kappa_interval(first, second, categories=(0, 1))
    thrice = kappa_interval(first * 3, second * 3, categories=(0, 1), clusters=list(range(50)) * 3)
    assert (thrice.low, thrice.high) == (alone.low, alone.high)


def test_the_order_of_cases_does_not_matter() -> None:
    first, second = pairs_of([[20, 5], [10, 15]])
    order = random.Random(1).sample(range(50), 50)
    turned = kappa_interval(
        [first[i] for i in order], [second[i] for i in order], categories=(0, 1), clusters=order
    )
    assert turned == kappa_interval(first, second, categories=(0, 1))


def test_undefined() -> None:
    assert kappa_interval([], [], categories=(0, 1)).kappa is None
    same = kappa_interval([1] * 9, [1] * 9, categories=(0, 1))
    assert (same.kappa, same.low, same.high, same.undefined) == (None, None, None, 1.0)
    first, second = [1] * 30 + [0], [1] * 30 + [0]
    found = kappa_interval(first, second, categories=(0, 1))
    assert found.kappa == 1.0
    assert found.undefined == pytest.approx((30 / 31) ** 31, abs=0.02)


def test_bad_input() -> None:
    for bad in ({"level": 1.0}, {"level": 0.0}, {"categories": (0,)}):
        with pytest.raises(ValueError):  # noqa: PT011
            kappa_interval([0, 1], [0, 1], **{"categories": (0, 1), **bad})  # type: ignore[arg-type]


def test_the_order_of_cases_does_not_matter_to_kappa() -> None:
    first, second = pairs_of([[20, 5], [10, 15]])
    assert cohen_kappa(first, second) == kappa_interval(first, second, categories=(1, 0)).kappa
