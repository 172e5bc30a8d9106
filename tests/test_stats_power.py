"""What a comparison could have seen."""

import math

import numpy as np
import pytest

from bridge.stats import (
    difference_sd,
    minimum_detectable_effect,
    nonzero_needed,
    paired_test,
    required_n,
)


def test_effect_and_n_of_an_example_by_hand() -> None:
    # (1.6449 + 0.8416) * 0.5 / sqrt(100) = 0.1243; the inverse gives 100 again.
    effect = minimum_detectable_effect(0.5, 100)
    assert effect == pytest.approx(0.12432, abs=1e-5)
    assert required_n(0.5, 0.12432) == 101
    assert required_n(0.5, 0.12433) == 100
    assert required_n(0.5, -0.12433) == 100
    # (0.5244 + 0.2533) * 0.5 / 10
    assert minimum_detectable_effect(0.5, 100, alpha=0.3, power=0.6) == pytest.approx(
        0.038887, 1e-4
    )


def test_effect_falls_with_n_and_rises_with_confidence_and_power() -> None:
    base = minimum_detectable_effect(0.3, 50) or 0.0
    assert minimum_detectable_effect(0.3, 200) == pytest.approx(base / 2)
    assert minimum_detectable_effect(0.6, 50) == pytest.approx(base * 2)
    assert (minimum_detectable_effect(0.3, 50, alpha=0.01) or 0.0) > base
    assert (minimum_detectable_effect(0.3, 50, power=0.9) or 0.0) > base


def test_nothing_is_claimed_where_nothing_is_known() -> None:
    assert minimum_detectable_effect(0.3, 0) is None
    assert minimum_detectable_effect(0.0, 50) is None
    assert required_n(0.0, 0.1) is None
    assert required_n(0.3, 0.0) is None
    assert difference_sd([], []) is None


def test_a_drop_of_the_detectable_size_is_found_as_often_as_promised() -> None:
    generator, n, sd = np.random.default_rng(7), 400, 0.2
    drop = minimum_detectable_effect(sd, n, power=0.8)
    assert drop is not None
    runs = generator.normal(-drop, sd, size=(400, n))
    found = sum(paired_test(np.zeros(n), run).p < 0.05 for run in runs) / 400
    assert found == pytest.approx(0.8, abs=3 * math.sqrt(0.8 * 0.2 / 400))


def test_sd_is_that_of_the_differences() -> None:
    before, after = [0.2, 0.4, 0.9, 0.5], [0.1, 0.6, 0.5, 0.5]
    expected = float(np.std(np.subtract(after, before), ddof=1))
    assert difference_sd(before, after) == pytest.approx(expected, abs=1e-12)


def test_sd_of_cases_that_move_together_counts_as_that_of_fewer_cases() -> None:
    generator = np.random.default_rng(3)
    topics = generator.normal(0.0, 0.1, size=50)
    change, labels = np.repeat(topics, 4), np.repeat(np.arange(50), 4).tolist()
    alone = difference_sd(np.zeros(200), change)
    together = difference_sd(np.zeros(200), change, clusters=labels)
    assert alone is not None
    # Four copies of each topic hold the information of one: the standard error doubles.
    assert together == pytest.approx(2 * alone, rel=0.02)


def test_sd_is_not_zero_when_nothing_differed() -> None:
    same = np.ones(50)
    # None of 50 differing, up to 5.8 % may: sqrt(0.058) = 0.24.
    assert difference_sd(same, same) == pytest.approx(math.sqrt(1 - 0.05 ** (1 / 50)))
    assert difference_sd([1.0], [0.0]) == pytest.approx(math.sqrt(0.95) * 2)
    wide = difference_sd(same, same, bounds=(1.0, 11.0))
    assert wide == pytest.approx(10 * math.sqrt(1 - 0.05 ** (1 / 50)))


def test_pairs_needed_by_an_exact_test() -> None:
    assert nonzero_needed() == 5
    assert [nonzero_needed(0.05, family) for family in (3, 5, 15)] == [6, 7, 9]
    assert nonzero_needed(0.6) == 1
    assert nonzero_needed(0.25) == 3  # 2^-2 is not below 0.25
    m = nonzero_needed(0.05, 3)
    assert paired_test([1] * m, [0] * m).p * 3 < 0.05
    assert paired_test([1] * (m - 1), [0] * (m - 1)).p * 3 >= 0.05


def test_impossible_requests_are_refused() -> None:
    with pytest.raises(ValueError, match="sd"):
        minimum_detectable_effect(-0.1, 10)
    with pytest.raises(ValueError, match="sd"):
        required_n(math.nan, 0.1)
    with pytest.raises(ValueError, match="n cannot"):
        minimum_detectable_effect(0.1, -1)
    with pytest.raises(ValueError, match="delta"):
        required_n(0.1, math.inf)
    with pytest.raises(ValueError, match="alpha"):
        minimum_detectable_effect(0.1, 10, alpha=1.0)
    with pytest.raises(ValueError, match="power"):
        minimum_detectable_effect(0.1, 10, power=0.0)
    with pytest.raises(ValueError, match="family"):
        nonzero_needed(0.05, 0)
