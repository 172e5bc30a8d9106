"""The BCa bootstrap interval: against scipy, and the edges."""

import importlib
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bridge.stats import Interval, bca_mean
from bridge.stats.bootstrap import _adjusted_tail, _bias, _resampled_means

stats: Any = importlib.import_module("scipy.stats")


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def _skewed(kind: str) -> NDArray[np.float64]:
    generator = np.random.default_rng(21)
    if kind == "dense":
        return generator.gamma(0.7, 0.2, 40)
    if kind == "few distinct":
        return generator.choice([-1.0, -0.5, 0.0, 0.5], p=[0.1, 0.3, 0.4, 0.2], size=400)
    return np.round(generator.gamma(0.7, 0.2, 3000), 2)


@pytest.mark.parametrize("kind", ["dense", "few distinct", "rounded"])
def test_bca_agrees_with_scipy_within_monte_carlo_error(kind: str) -> None:
    values = _skewed(kind)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=9999, method="BCa", rng=np.random.default_rng(0), batch=500
    ).confidence_interval
    found = bca_mean(values, seed=3)
    # A 2.5 % quantile of 10,000 draws has a standard error of some 0.027 sd; two are compared.
    error = 4 * math.sqrt(2) * 0.027 * values.std() / math.sqrt(values.size)
    assert _ends(found) == pytest.approx((expected.low, expected.high), abs=error)


@pytest.mark.parametrize("kind", ["dense", "few distinct"])
def test_bca_draws_every_chunk_anew(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = _skewed(kind)
    whole = bca_mean(values, seed=3)
    monkeypatch.setattr("bridge.stats.bootstrap._CHUNK", 10 * len(np.unique(values)))
    found = bca_mean(values, seed=3)
    error = 4 * math.sqrt(2) * 0.027 * values.std() / math.sqrt(values.size)
    assert _ends(found) == pytest.approx(_ends(whole), abs=error)


def test_bca_leans_towards_the_long_tail() -> None:
    values = _skewed("dense")
    found, centre = bca_mean(values), float(values.mean())
    assert found.high - centre > 1.15 * (centre - found.low)
    mirrored = bca_mean(-values)
    assert centre - mirrored.low - 2 * centre > 1.15 * (mirrored.high + centre)


@pytest.mark.parametrize("kind", ["dense", "few distinct", "rounded"])
def test_bca_is_seeded_and_blind_to_order(kind: str) -> None:
    values = _skewed(kind)
    found = bca_mean(values, resamples=2000, seed=4)
    shuffled = np.random.default_rng(1).permutation(values)
    assert bca_mean(shuffled, resamples=2000, seed=4) == found
    assert bca_mean(values, resamples=2000, seed=5) != found


def test_bca_level_and_arguments() -> None:
    values = _skewed("dense")
    narrow, wide = bca_mean(values, level=0.8), bca_mean(values, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high
    with pytest.raises(ValueError, match="resamples"):
        bca_mean(values, resamples=0)
    once = bca_mean(values, resamples=1)
    assert once.low == once.high
    assert _ends(bca_mean([0.2, 0.6])) == pytest.approx((0.2, 0.6))
    with pytest.raises(ValueError, match="level"):
        bca_mean(values, level=0.0)


@pytest.mark.parametrize("values", [[], [0.4], [0.4, 0.4], [0.1 + 0.2, 0.3, 0.3]])
def test_no_spread_gets_no_bootstrap_interval(values: list[float]) -> None:
    with pytest.raises(ValueError, match="two different values"):
        bca_mean(values)


def test_bca_of_one_odd_value_stays_finite() -> None:
    values = np.zeros(200)
    values[0] = -1.0
    found = bca_mean(values)
    assert -1.0 <= found.low <= -0.005 <= found.high <= 0.0


@pytest.mark.parametrize(
    ("n", "distinct", "asked", "drawn"),
    [
        (40, 40, 777, 777),
        (2000, 2000, 10_000, 10_000),
        (4000, 4000, 10_000, 5000),
        (10_000, 10_000, 10_000, 2000),
        (10_000, 10_000, 500, 500),
        (10_000, 5, 10_000, 10_000),
        (10_000, 250, 10_000, 5000),
    ],
)
def test_large_samples_get_fewer_resamples(n: int, distinct: int, asked: int, drawn: int) -> None:
    sample = np.sort(np.arange(n) % distinct) / distinct
    means = _resampled_means(sample, asked, np.random.default_rng(0))
    assert means.size == drawn
    error = sample.std() / math.sqrt(n)
    assert means.mean() == pytest.approx(sample.mean(), abs=5 * error / math.sqrt(drawn))
    assert means.std() == pytest.approx(error, rel=5 / math.sqrt(2 * drawn))


@pytest.mark.parametrize("distinct", [7, 45])
def test_chunks_add_up_to_the_resamples_asked_for(
    distinct: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.stats.bootstrap._CHUNK", 100)
    sample = np.sort(np.arange(45) % distinct) / distinct
    assert _resampled_means(sample, 101, np.random.default_rng(0)).size == 101


def test_resamples_are_not_all_held_at_once() -> None:
    sample = np.random.default_rng(0).random(1000)
    tracemalloc.start()
    _resampled_means(sample, 10_000, np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30e6  # all of them are 160 MB


def test_bias_halves_ties_and_stays_finite() -> None:
    quantile = stats.norm.ppf
    assert _bias(np.array([0.1, 0.2, 0.2, 0.2, 0.3, 0.4]), 0.2) == pytest.approx(quantile(2.5 / 6))
    # 0.1 + 0.2 is not 0.3, but a tie all the same.
    assert _bias(np.array([0.1 + 0.2, 0.3 - 1e-16, 0.5, 0.9]), 0.3) == pytest.approx(quantile(0.25))
    assert _bias(np.full(100, 0.1), 0.2) == pytest.approx(quantile(1 - 0.005))
    assert _bias(np.full(100, 0.3), 0.2) == pytest.approx(quantile(0.005))


def test_tails_are_moved_by_bias_and_acceleration() -> None:
    cdf = stats.norm.cdf
    assert _adjusted_tail(0.0, 0.0, -1.96) == pytest.approx(cdf(-1.96))
    assert _adjusted_tail(0.1, 0.05, 1.96) == pytest.approx(cdf(0.1 + 2.06 / (1 - 0.05 * 2.06)))
    # Beyond the pole of the transformation the limit is the end of the range.
    assert _adjusted_tail(0.0, 0.5, 2.0) == 1.0
    assert _adjusted_tail(0.0, -0.5, -2.0) == 0.0
    assert _adjusted_tail(0.0, 0.6, 2.0) == 1.0
