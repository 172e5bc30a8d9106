"""Agreement between two raters, against scipy, definitions and textbook examples."""

import importlib
import math
import statistics
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.stats import bland_altman, cohen_kappa, raw_agreement, spearman

stats: Any = importlib.import_module("scipy.stats")

ratings = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=40)
scores = st.lists(
    st.tuples(st.floats(0, 1).map(lambda x: round(x, 1)), st.floats(0, 1)), min_size=2, max_size=40
)


def _from_table(table: list[list[int]]) -> tuple[list[int], list[int]]:
    pairs = [
        (i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)
    ]
    return [i for i, _ in pairs], [j for _, j in pairs]


def test_kappa_of_a_textbook_table() -> None:
    # 20 both yes, 15 both no, 5 and 10 apart: agreement 0.7, by chance 0.5, kappa 0.4.
    a, b = _from_table([[20, 5], [10, 15]])
    assert raw_agreement(a, b) == pytest.approx(0.7)
    assert cohen_kappa(a, b) == pytest.approx(0.4)


def _kappa_by_pairs(pairs: list[tuple[int, int]], distance: Any) -> float | None:
    """1 - mean disagreement within cases / mean disagreement over all pairs of cases."""
    observed = statistics.fmean(distance(a, b) for a, b in pairs)
    expected = statistics.fmean(distance(a, b) for a, _ in pairs for _, b in pairs)
    return None if expected == 0 else 1 - observed / expected


@given(ratings)
def test_kappa_is_one_minus_disagreement_over_chance(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    cases: list[tuple[Literal["linear", "quadratic"] | None, Any]] = [
        (None, lambda x, y: x != y),
        ("linear", lambda x, y: abs(x - y)),
        ("quadratic", lambda x, y: (x - y) ** 2),
    ]
    for weights, distance in cases:
        expected = _kappa_by_pairs(pairs, distance)
        found = cohen_kappa(a, b, weights=weights, categories=[1, 2, 3, 4])
        assert found == (expected if expected is None else pytest.approx(expected, abs=1e-12))


def test_weighted_kappa_measures_distance_in_the_order_given() -> None:
    a, b = ["low", "high", "mid", "low"], ["mid", "high", "high", "low"]
    order = ["low", "mid", "high"]
    as_numbers = [[order.index(x) for x in labels] for labels in (a, b)]
    expected = cohen_kappa(as_numbers[0], as_numbers[1], weights="quadratic")
    assert cohen_kappa(a, b, weights="quadratic", categories=order) == expected
    # Alphabetical order (high, low, mid) gives something else.
    assert cohen_kappa(a, b, weights="quadratic") != expected


def test_kappa_knows_its_limits() -> None:
    assert cohen_kappa([], []) is None
    assert cohen_kappa([1, 1, 1], [1, 1, 1]) is None
    assert cohen_kappa([1, 1, 1], [0, 0, 0]) == 0.0
    assert cohen_kappa([0, 1], [0, 1]) == 1.0
    assert cohen_kappa([0, 1], [1, 0]) == -1.0
    assert cohen_kappa(["yes", 1], ["yes", 1]) == 1.0  # no order is needed


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ([1], [1, 2], {}, "labels"),
        ([1, None], [1, 1], {}, "missing"),
        ([1.0, 2.0], [1.0, math.nan], {}, "missing"),
        ([1, 5], [1, 2], {"categories": [1, 2]}, "5 is not among"),
        ([1, "a"], [1, 1], {"weights": "linear"}, "order"),
    ],
)
def test_kappa_refuses_labels_it_cannot_place(
    a: list[Any], b: list[Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        cohen_kappa(a, b, **options)


def test_raw_agreement_counts_equal_labels() -> None:
    assert raw_agreement(["a", "b", "c"], ["a", "x", "c"]) == pytest.approx(2 / 3)
    assert raw_agreement([], []) is None
    with pytest.raises(ValueError, match="labels"):
        raw_agreement([1], [])


@given(scores)
def test_spearman_agrees_with_scipy(pairs: list[tuple[float, float]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert spearman(a, b) is None
    else:
        expected = float(stats.spearmanr(a, b).statistic)
        assert spearman(a, b) == pytest.approx(expected, abs=1e-9)


def test_spearman_without_ties_is_the_rank_difference_formula() -> None:
    # Rank differences 0, -1, -1, 2: rho = 1 - 6 * 6 / (4 * 15) = 0.4.
    assert spearman([1, 2, 3, 4], [10, 30, 40, 20]) == pytest.approx(0.4, abs=1e-15)
    assert spearman([1], [1]) is None
    assert spearman([], []) is None
    with pytest.raises(ValueError, match="NaN"):
        spearman([1, math.nan], [1, 2])


@given(scores)
def test_bland_altman_is_mean_and_spread_of_the_gaps(pairs: list[tuple[float, float]]) -> None:
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    found = bland_altman(a, b)
    bias, sd = float(np.mean(b - a)), float(np.std(b - a, ddof=1))
    z = float(stats.norm.ppf(0.975))
    assert found.n == len(pairs)
    assert found.mean_difference == pytest.approx(bias, abs=1e-9)
    assert found.sd == pytest.approx(sd, abs=1e-9)
    assert found.low == pytest.approx(bias - z * sd, abs=1e-9)
    assert found.high == pytest.approx(bias + z * sd, abs=1e-9)


def test_bland_altman_of_none_and_one() -> None:
    assert bland_altman([], []).mean_difference is None
    one = bland_altman([0.2], [0.5])
    assert one.mean_difference == pytest.approx(0.3)
    assert (one.sd, one.low, one.high) == (None, None, None)
    with pytest.raises(ValueError, match="1 values and second has 2"):
        bland_altman([0.2], [0.5, 0.1])
