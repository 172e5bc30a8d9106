"""Sign-flip tests: against full enumeration in integers and against scipy."""

import importlib
import math
import tracemalloc
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.stats import exact_sign_flip, monte_carlo_sign_flip, paired_test

stats: Any = importlib.import_module("scipy.stats")

tenths = st.lists(st.integers(-10, 10), min_size=1, max_size=9)


def _enumerated(tenths_of_points: list[int]) -> float:
    """Every sign assignment, in integers: no rounding decides a tie."""
    sizes, observed = [abs(k) for k in tenths_of_points if k], sum(tenths_of_points)
    sums = [
        sum(s * k for s, k in zip(signs, sizes, strict=True))
        for signs in product((-1, 1), repeat=len(sizes))
    ]
    return sum(total <= observed for total in sums) / len(sums)


@given(tenths)
def test_exact_sign_flip_is_the_full_enumeration(tenths_of_points: list[int]) -> None:
    differences = np.array(tenths_of_points) / 10
    assert exact_sign_flip(differences) == _enumerated(tenths_of_points)
    found = paired_test(np.zeros(differences.size), differences, binary=False)
    assert found.test == "sign-flip exact"
    assert found.p == pytest.approx(_enumerated(tenths_of_points), abs=1e-12)


@given(tenths)
def test_ties_survive_rounding(tenths_of_points: list[int]) -> None:
    # 0.7 + k/10 - 0.7 is not k/10 in floating point.
    before = np.full(len(tenths_of_points), 0.7)
    found = paired_test(before, before + np.array(tenths_of_points) / 10, binary=False)
    assert found.p == pytest.approx(_enumerated(tenths_of_points), abs=1e-12)
    assert found.n_nonzero == sum(k != 0 for k in tenths_of_points)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=10))
def test_exact_sign_flip_agrees_with_scipy(values: list[float]) -> None:
    differences = np.array([round(value, 3) for value in values], dtype=np.float64)
    expected = stats.permutation_test(
        (differences,),
        lambda x, axis: np.round(x, 3).sum(axis=axis).round(6),
        permutation_type="samples",
        n_resamples=2**12,
        alternative="less",
        vectorized=True,
    ).pvalue
    assert exact_sign_flip(differences) == pytest.approx(float(expected), abs=1e-9)


def test_monte_carlo_approaches_the_exact_p() -> None:
    differences = np.array([-0.9, 0.2, -0.4, 0.3, -0.35, 0.11, -0.2, -0.5, 0.6, -0.07])
    exact = exact_sign_flip(differences)
    found = monte_carlo_sign_flip(differences, resamples=40_000, seed=5)
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 40_000))
    assert found != exact


def test_monte_carlo_counts_the_observed_assignment() -> None:
    differences = -np.linspace(0.01, 1.0, 40)
    assert monte_carlo_sign_flip(differences, resamples=999, seed=0) == 1 / 1000
    assert monte_carlo_sign_flip(-differences, resamples=999, seed=0) == 1.0
    assert monte_carlo_sign_flip(np.zeros(5), resamples=9, seed=0) == 1.0
    assert monte_carlo_sign_flip(differences, resamples=1, seed=0) == 1 / 2
    with pytest.raises(ValueError, match="resamples"):
        monte_carlo_sign_flip(differences, resamples=0, seed=0)


def test_monte_carlo_draws_every_chunk_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.stats.sign_flip._CHUNK", 64)
    differences = np.random.default_rng(2).normal(-0.01, 0.1, 30)
    found = monte_carlo_sign_flip(differences, resamples=4001, seed=1)
    t = float(stats.ttest_1samp(differences, 0.0, alternative="less").pvalue)
    assert 0.1 < t < 0.9  # equal chunks would make it 0 or 1
    assert found == pytest.approx(t, abs=0.03)
    assert monte_carlo_sign_flip(np.ones(30), resamples=4001, seed=1) == 1.0


def test_monte_carlo_does_not_hold_all_signs_at_once() -> None:
    differences = np.random.default_rng(0).normal(size=300)
    tracemalloc.start()
    monte_carlo_sign_flip(differences, resamples=30_000, seed=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24e6  # all of them are 72 MB
