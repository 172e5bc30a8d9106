"""McNemar's exact test: against scipy, a published table, and by hand."""

import importlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.stats import exact_mcnemar

stats: Any = importlib.import_module("scipy.stats")


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_the_one_sided_binomial_test(lost: int, gained: int) -> None:
    if lost + gained == 0:
        assert exact_mcnemar(lost, gained) == 1.0
        return
    expected = stats.binomtest(lost, lost + gained, 0.5, alternative="greater").pvalue
    assert exact_mcnemar(lost, gained) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_mcnemar_of_a_published_table() -> None:
    # Fagerland, Lydersen, Laake, Statistical Analysis of Contingency Tables, ch. 8 (Cavo et al.
    # 2012): 16 and 6 discordant pairs, two-sided exact P = 0.052479 and mid-P = 0.034690.
    assert 2 * exact_mcnemar(16, 6) == pytest.approx(0.052479, abs=5e-7)
    assert 2 * exact_mcnemar(16, 6, mid_p=True) == pytest.approx(0.034690, abs=5e-7)


@pytest.mark.parametrize("n", [1, 5, 40, 200])
def test_mcnemar_of_losses_alone_is_a_power_of_two_to_the_last_bit(n: int) -> None:
    assert exact_mcnemar(n, 0) == 0.5**n
    assert exact_mcnemar(0, n) == 1.0


def test_mcnemar_mid_p_counts_half_of_the_observed_point() -> None:
    assert exact_mcnemar(3, 0, mid_p=True) == pytest.approx(1 / 16)
    assert exact_mcnemar(0, 3, mid_p=True) == pytest.approx(15 / 16)
    assert exact_mcnemar(0, 0, mid_p=True) == 1.0
    with pytest.raises(ValueError, match="negative"):
        exact_mcnemar(-1, 2)
