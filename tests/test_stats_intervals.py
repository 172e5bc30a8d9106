"""Intervals of means and differences, and the choice among them."""

import importlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from bridge.stats import (
    Interval,
    PairedCounts,
    bca_mean,
    clopper_pearson,
    difference_interval,
    mean_interval,
    newcombe_paired,
    t_interval,
    wilson,
)

stats: Any = importlib.import_module("scipy.stats")

levels = st.sampled_from([0.8, 0.9, 0.95, 0.99])
# Complete response before and after therapy (Cavo et al. 2012), as worked through in Fagerland,
# Lydersen, Laake, Statistical Analysis of Contingency Tables, chapter 8.
CAVO = PairedCounts(both=59, lost=16, gained=6, neither=80)


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


samples = st.lists(st.floats(0, 1), min_size=2, max_size=60).filter(lambda v: np.ptp(v) > 1e-6)


@given(samples, levels)
def test_t_interval_agrees_with_scipy(values: list[float], level: float) -> None:
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(level)
    found = t_interval(values, level=level)
    assert _ends(found) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert found.method == "t"


def test_t_interval_of_clusters_is_that_of_their_means() -> None:
    means = np.random.default_rng(0).random(20)
    expected = stats.ttest_1samp(means, 0.0).confidence_interval(0.95)
    found = t_interval(np.repeat(means, 5), clusters=np.repeat(np.arange(20), 5).tolist())
    assert _ends(found) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert found.method == "cluster-robust t"
    assert found.note == "20 clusters: coverage is approximate"


@pytest.mark.parametrize("values", [[], [0.4], [0.4, 0.4], [0.1 + 0.2, 0.3, 0.3]])
def test_no_interval_is_made_from_no_spread(values: list[float]) -> None:
    with pytest.raises(ValueError, match="two different values"):
        t_interval(values)


def _pair(n: int, zero: float = 0.0, seed: int = 0) -> tuple[NDArray[np.float64], ...]:
    generator = np.random.default_rng(seed)
    before = generator.uniform(0.3, 0.7, n)
    change = generator.uniform(-0.3, 0.25, n) * (np.arange(n) >= round(zero * n))
    return before, before + change


@pytest.mark.parametrize(
    ("n", "zero", "method", "note"),
    [
        (2, 0.0, "t", "2 values: coverage is approximate"),
        (14, 0.0, "t", "14 values: coverage is approximate"),
        (15, 0.0, "BCa bootstrap", "15 values: coverage is approximate"),
        (100, 0.45, "BCa bootstrap", "100 values: coverage is approximate"),
        (100, 0.5, "t", "100 values: coverage is approximate"),
        (118, 0.5, "t", "118 values: coverage is approximate"),
        (120, 0.5, "BCa bootstrap", "120 values: coverage is approximate"),
        (199, 0.0, "BCa bootstrap", "199 values: coverage is approximate"),
        (200, 0.0, "BCa bootstrap", None),
        (199, 0.8, "t", "199 values: coverage is approximate"),
        (200, 0.8, "t", None),
        (250, 0.5, "BCa bootstrap", None),
        (250, 0.8, "t", None),
        (500, 0.8, "BCa bootstrap", None),
    ],
)
def test_graded_differences_choose_by_number_and_sparsity(
    n: int, zero: float, method: str, note: str | None
) -> None:
    before, after = _pair(n, zero)
    found = difference_interval(before, after)
    assert (found.method, found.note, found.level) == (method, note, 0.95)
    assert found.low < float(np.mean(after - before)) < found.high


def test_the_chosen_methods_are_the_methods_themselves() -> None:
    before, after = _pair(10)
    assert _ends(difference_interval(before, after)) == pytest.approx(
        _ends(t_interval(after - before)), abs=1e-12
    )
    before, after = _pair(60)
    assert _ends(difference_interval(before, after, seed=2, level=0.9)) == pytest.approx(
        _ends(bca_mean(after - before, seed=2, level=0.9)), abs=1e-12
    )
    labels = [i // 3 for i in range(60)]
    assert _ends(difference_interval(before, after, clusters=labels)) == pytest.approx(
        _ends(t_interval(after - before, clusters=labels)), abs=1e-12
    )


def test_binary_differences_get_newcombe() -> None:
    cells = [(1, 1)] * 59 + [(1, 0)] * 16 + [(0, 1)] * 6 + [(0, 0)] * 80
    before, after = [a for a, _ in cells], [b for _, b in cells]
    assert difference_interval(before, after) == newcombe_paired(CAVO)
    assert difference_interval(before, after, binary=False).method == "t"
    clustered = difference_interval(before, after, clusters=[i % 50 for i in range(161)])
    assert clustered.method == "cluster-robust t"


@pytest.mark.parametrize("values", [[1.0] * 40, [0.0, 1.0] * 20, [0.37] * 40])
def test_identical_runs_do_not_get_a_width_of_zero(values: list[float]) -> None:
    found = difference_interval(values, values)
    assert found.method == "rule of three"
    limit = 1 - 0.05 ** (1 / 40)
    assert _ends(found) == pytest.approx((-limit, limit))
    assert found.note == "all 40 values are equal: the width allows for values not seen"


def test_equal_differences_allow_for_cases_not_seen() -> None:
    found = difference_interval([0.6] * 20, [0.4] * 20)
    share = 1 - 0.05 ** (1 / 20)
    assert _ends(found) == pytest.approx((-0.2 - 0.8 * share, -0.2 + 1.2 * share))
    in_clusters = difference_interval([0.6] * 20, [0.4] * 20, clusters=[i // 5 for i in range(20)])
    assert in_clusters.low < found.low
    one = difference_interval([0.9, 0.8], [0.3, 0.7], clusters=["a", "a"])
    assert one.method == "rule of three"
    assert one.low < -0.9


def test_clusters_that_moved_alike_have_no_spread() -> None:
    before, after = [0.5, 0.5] * 6, [0.4, 0.3] * 6
    labels = [i // 2 for i in range(12)]
    found = difference_interval(before, after, clusters=labels)
    assert found.method == "rule of three"
    assert found.high - found.low > 0.3


def test_no_pairs_leave_everything_open() -> None:
    found = difference_interval([], [])
    assert (_ends(found), found.method, found.note) == ((-1.0, 1.0), "none", "no pairs")
    assert _ends(difference_interval([], [], bounds=(1, 5))) == (-4.0, 4.0)
    one = difference_interval([1], [0])
    assert _ends(one) == pytest.approx((-1.0, -1 + 2 * 0.95))


def test_limits_stay_within_the_scale() -> None:
    found = difference_interval([1.0, 0.9, 1.0], [0.0, 0.9, 0.1])
    assert found.low == -1.0
    wide = difference_interval([1.0, 0.9, 1.0], [0.0, 0.9, 0.1], bounds=(0, 10))
    assert -10 < wide.low < -1.0
    with pytest.raises(ValueError, match=r"lie in \[0, 1\]"):
        difference_interval([0.5, 5.0], [0.5, 0.5])
    with pytest.raises(ValueError, match="bounds"):
        difference_interval([0.5], [0.5], bounds=(1.0, 1.0))


@pytest.mark.parametrize("n", [10, 60, 100])
def test_the_order_of_cases_does_not_move_an_interval(n: int) -> None:
    before, after = _pair(n, zero=0.3)
    order = np.random.default_rng(2).permutation(n)
    assert difference_interval(before[order], after[order]) == difference_interval(before, after)
    assert mean_interval(after[order]) == mean_interval(after)


def test_sparse_differences_are_covered_as_claimed() -> None:
    generator, runs, n = np.random.default_rng(17), 400, 40
    size = generator.beta(2, 2, (runs, n)) * generator.choice([-1, 1], (runs, n))
    changes = np.where(generator.random((runs, n)) < 0.8, 0.0, size)
    covered = chosen = narrow = 0
    for change in changes:
        found = difference_interval(np.full(n, 0.5), 0.5 + change / 2, resamples=500)
        covered += found.low <= 0 <= found.high
        chosen += found.method == "t"
        bootstrap = bca_mean(change, resamples=500)
        narrow += bootstrap.low <= 0 <= bootstrap.high
    assert chosen / runs > 0.95
    assert covered / runs > 0.93
    assert narrow / runs < 0.91  # why the choice is made


def test_binary_runs_get_wilson_or_the_exact_interval() -> None:
    ten = [1] * 7 + [0] * 3
    assert mean_interval(ten) == wilson(7, 10)
    assert mean_interval(ten[:9]) == clopper_pearson(7, 9)
    assert mean_interval([True] * 12) == wilson(12, 12)
    assert mean_interval(ten, level=0.9) == wilson(7, 10, 0.9)


def test_graded_runs_choose_by_number() -> None:
    values = np.random.default_rng(5).beta(5, 2, 250)
    assert mean_interval(values[:14]).method == "t"
    assert mean_interval(values[:15]).method == "BCa bootstrap"
    assert mean_interval(values[:15]).note == "15 values: coverage is approximate"
    assert mean_interval(values).note is None
    assert _ends(mean_interval(values, seed=3)) == _ends(bca_mean(values, seed=3))
    assert mean_interval(values, clusters=[i % 30 for i in range(250)]) == t_interval(
        values, clusters=[i % 30 for i in range(250)]
    )


def test_a_run_of_equal_values_allows_for_values_not_seen() -> None:
    share = 1 - 0.05 ** (1 / 25)
    found = mean_interval([0.8] * 25)
    assert found.method == "rule of three"
    assert _ends(found) == pytest.approx((0.8 - 0.8 * share, 0.8 + 0.2 * share))
    perfect = mean_interval([1.0] * 25, binary=False)
    assert _ends(perfect) == pytest.approx((1 - share, 1.0))


def test_a_run_stays_within_its_scale() -> None:
    assert mean_interval([0.2, 1.0, 0.9]).high == 1.0
    assert mean_interval([2, 10, 9], bounds=(0, 10)).high == 10.0
    assert _ends(mean_interval([], bounds=(1, 5))) == (1, 5)
    with pytest.raises(ValueError, match="lie in"):
        mean_interval([0.2, 1.2])
    with pytest.raises(ValueError, match="NaN"):
        mean_interval([0.2, math.nan])
    with pytest.raises(ValueError, match="0 or 1"):
        mean_interval([0.2, 0.4], binary=True)
