"""The distribution functions, against scipy and against exact values."""

import importlib
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.stats import (
    beta_cdf,
    beta_quantile,
    binomial_survival,
    normal_cdf,
    normal_quantile,
    student_t_cdf,
    student_t_quantile,
)

stats: Any = importlib.import_module("scipy.stats")
special: Any = importlib.import_module("scipy.special")

parameters = st.floats(-1.0, 5.0).map(lambda e: 10.0**e)


@given(parameters, parameters, st.floats(1e-9, 1.0))
def test_beta_cdf_agrees_with_scipy_over_the_bulk(a: float, b: float, p: float) -> None:
    x = float(special.betaincinv(a, b, p))
    assert beta_cdf(x, a, b) == pytest.approx(float(special.betainc(a, b, x)), rel=0, abs=1e-12)


@pytest.mark.parametrize(
    ("x", "a", "b"),
    [
        # Where DLMF 8.17.22 term by term loses five digits to cancellation.
        (0.9998413394572095, 70916.5502092072, 9.886974579388028),
        (0.00011092199889274221, 6.218597563395296, 65389.73724977375),
        (4e-6, 0.5, 494119.0),
        (0.5, 1e5, 1e5),
        (1e-300, 0.5, 0.5),
        (0.999999999, 0.1, 1e4),
    ],
)
def test_beta_cdf_keeps_its_digits_for_unequal_parameters(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(float(special.betainc(a, b, x)), rel=1e-13, abs=0)


def test_beta_cdf_keeps_relative_accuracy_in_a_far_tail() -> None:
    # I_x(n, 1) = x^n exactly.
    assert beta_cdf(0.5, 200.0, 1.0) == pytest.approx(0.5**200, rel=1e-12, abs=0)


def test_beta_cdf_reaches_its_ends() -> None:
    assert beta_cdf(0.0, 2.0, 3.0) == 0.0
    assert beta_cdf(1.0, 2.0, 3.0) == 1.0


@pytest.mark.parametrize(
    ("x", "a", "b"),
    [(-0.1, 1.0, 1.0), (1.1, 1.0, 1.0), (0.5, 0.0, 1.0), (0.5, 1.0, -1.0), (math.nan, 1.0, 1.0)],
)
def test_beta_cdf_refuses_what_has_no_value(x: float, a: float, b: float) -> None:
    with pytest.raises(ValueError, match="beta_cdf"):
        beta_cdf(x, a, b)


@given(st.floats(0.5, 1e4), st.floats(0.5, 1e4), st.floats(0.001, 0.999))
def test_beta_quantile_inverts_the_cdf(a: float, b: float, p: float) -> None:
    x = beta_quantile(p, a, b)
    assert x == pytest.approx(float(stats.beta.ppf(p, a, b)), rel=1e-9, abs=0)


def test_beta_quantile_reaches_its_ends_and_refuses_the_rest() -> None:
    assert beta_quantile(0.0, 2.0, 3.0) == 0.0
    assert beta_quantile(1.0, 2.0, 3.0) == 1.0
    with pytest.raises(ValueError, match="probability"):
        beta_quantile(1.5, 2.0, 3.0)


@given(st.floats(-40.0, 40.0), st.floats(0.0, 6.0).map(lambda e: 10.0**e))
def test_student_t_cdf_agrees_with_scipy(t: float, df: float) -> None:
    inside = float(special.betainc(0.5, df / 2, t * t / (df + t * t)))
    assert student_t_cdf(t, df) == pytest.approx(0.5 + math.copysign(inside / 2, t), abs=1e-12)
    if abs(t) > 0.01:  # nearer to zero scipy's own function is off by more than that
        assert student_t_cdf(t, df) == pytest.approx(float(stats.t.cdf(t, df)), rel=0, abs=1e-12)


def test_student_t_cdf_in_closed_form() -> None:
    # df = 1 is Cauchy, df = 2 is 1/2 + t / (2 sqrt(2 + t^2)).
    assert student_t_cdf(1.0, 1) == pytest.approx(0.75, abs=1e-15)
    assert student_t_cdf(-3.0, 2) == pytest.approx(0.5 - 3 / (2 * math.sqrt(11)), abs=1e-15)
    assert student_t_cdf(0.0, 7) == 0.5
    assert student_t_cdf(-math.inf, 7) == 0.0
    assert student_t_cdf(math.inf, 7) == 1.0


@pytest.mark.parametrize(("t", "df"), [(math.nan, 3.0), (1.0, 0.0), (1.0, -1.0), (1.0, math.nan)])
def test_student_t_cdf_refuses_what_has_no_value(t: float, df: float) -> None:
    with pytest.raises(ValueError, match="df > 0"):
        student_t_cdf(t, df)


@given(st.floats(0.0005, 0.9995), st.integers(1, 1_000_000))
def test_student_t_quantile_agrees_with_scipy(p: float, df: int) -> None:
    expected = float(stats.t.ppf(p, df))
    assert student_t_quantile(p, df) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_student_t_quantile_of_a_printed_table() -> None:
    assert student_t_quantile(0.975, 10) == pytest.approx(2.228, abs=5e-4)
    assert student_t_quantile(0.025, 10) == pytest.approx(-2.228, abs=5e-4)
    assert student_t_quantile(0.95, 1) == pytest.approx(6.314, abs=5e-4)
    assert student_t_quantile(0.5, 3) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match="between 0 and 1"):
        student_t_quantile(1.0, 3)


@given(st.integers(1, 60), st.data())
def test_binomial_survival_is_the_exact_sum(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(-1, n + 1))
    exact = sum(Fraction(math.comb(n, i), 2**n) for i in range(max(k, 0), n + 1))
    assert binomial_survival(k, n, 0.5) == pytest.approx(float(exact), rel=1e-12, abs=0)


def test_normal_functions_are_inverse_and_keep_the_tail() -> None:
    assert normal_quantile(0.975) == pytest.approx(1.959963984540054, abs=1e-14)
    assert normal_cdf(normal_quantile(0.2)) == pytest.approx(0.2, abs=1e-15)
    assert normal_cdf(-10.0) == pytest.approx(float(stats.norm.cdf(-10.0)), rel=1e-12, abs=0)
