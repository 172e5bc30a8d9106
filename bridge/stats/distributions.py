"""Beta, Student t and binomial distribution functions from the standard library alone.

Everything rests on the regularised incomplete beta function, evaluated by a continued fraction
(Didonato and Morris 1992, ACM TOMS algorithm 708: the even part of DLMF 8.17.22, whose own terms
cancel for large parameters) behind a prefactor in the saddle-point form of Loader (2000), "Fast
and accurate computation of binomial probabilities", which does not lose digits to differences of
large log-gammas.
"""

import math
from statistics import NormalDist

from bridge.stats.roots import bisect

_TINY = 1e-300
_CONVERGED = 4e-16
_MAX_TERMS = 100_000
_STANDARD_NORMAL = NormalDist()


def normal_cdf(z: float) -> float:
    """Return P(Z <= z) of the standard normal distribution."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def normal_quantile(p: float) -> float:
    """Return the standard normal quantile of `p` in (0, 1)."""
    return _STANDARD_NORMAL.inv_cdf(p)


def two_sided_z(level: float) -> float:
    """Return z such that P(|Z| <= z) = `level`.

    Raises:
        ValueError: `level` is not in (0, 1).
    """
    check_level(level)
    return normal_quantile(0.5 + level / 2.0)


def check_level(level: float, name: str = "level") -> None:
    """Refuse a probability that is not strictly between 0 and 1.

    Raises:
        ValueError: `level` is not in (0, 1).
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"{name} must be between 0 and 1, not {level}")


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b), for a, b > 0 and x in [0, 1].

    Raises:
        ValueError: An argument is out of range.
    """
    if not (a > 0.0 and b > 0.0 and 0.0 <= x <= 1.0):
        raise ValueError(f"beta_cdf needs a, b > 0 and 0 <= x <= 1, not {x}, {a}, {b}")
    return _regularised_beta(a, b, x, 1.0 - x)


def beta_quantile(p: float, a: float, b: float) -> float:
    """Return x with I_x(a, b) = `p`, for a, b > 0 and p in [0, 1].

    Raises:
        ValueError: An argument is out of range.
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"a probability is between 0 and 1, not {p}")
    if p in (0.0, 1.0):
        return p
    return bisect(lambda x: beta_cdf(x, a, b) - p, 0.0, 1.0)


def student_t_cdf(t: float, df: float) -> float:
    """Return P(T <= t) of Student's distribution with `df` > 0 degrees of freedom.

    Raises:
        ValueError: `df` is not positive or `t` is NaN.
    """
    if not df > 0.0 or math.isnan(t):
        raise ValueError(f"student_t_cdf needs a number and df > 0, not {t}, {df}")
    if math.isinf(t):
        return 1.0 if t > 0 else 0.0
    square = t * t
    tail = 0.5 * _regularised_beta(df / 2.0, 0.5, df / (df + square), square / (df + square))
    return tail if t < 0.0 else 1.0 - tail


def student_t_quantile(p: float, df: float) -> float:
    """Return t with P(T <= t) = `p`, for p in (0, 1) and `df` > 0.

    Raises:
        ValueError: An argument is out of range.
    """
    check_level(p, "p")
    # The share t^2 / (df + t^2) stays exact for a large df, where its complement is near 1.
    share = beta_quantile(abs(2.0 * p - 1.0), 0.5, df / 2.0)
    return math.copysign(math.sqrt(df * share / (1.0 - share)), p - 0.5)


def binomial_survival(k: int, n: int, p: float) -> float:
    """Return P(X >= k) for X binomial with `n` >= 0 trials of probability `p`."""
    if k <= 0:
        return 1.0
    return 0.0 if k > n else beta_cdf(p, float(k), float(n - k + 1))


def _regularised_beta(a: float, b: float, x: float, y: float) -> float:
    """I_x(a, b) with y = 1 - x given apart, so that neither loses digits."""
    if x <= 0.0 or y <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    # The fraction converges fast on this side of the mean only.
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _prefactor(b, a, y, x) / _continued_fraction(b, a, y, x)
    return _prefactor(a, b, x, y) / _continued_fraction(a, b, x, y)


def _prefactor(a: float, b: float, x: float, y: float) -> float:
    """x^a y^b / B(a, b) by the saddle-point expansion."""
    n = a + b
    exponent = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    exponent -= _deviance(a, n * x) + _deviance(b, n * y)
    return math.sqrt(a / n * b / math.tau) * math.exp(exponent)


def _stirling_error(z: float) -> float:
    """Return log Gamma(z) minus Stirling's approximation (z - 1/2) log z - z + log(2 pi) / 2."""
    if z < 16.0:
        return math.lgamma(z) - (z - 0.5) * math.log(z) + z - 0.5 * math.log(math.tau)
    w = 1.0 / (z * z)
    series = 1 / 1260 - w * (1 / 1680 - w * (1 / 1188 - w * (691 / 360360 - w / 156)))
    return (1 / 12 - w * (1 / 360 - w * series)) / z


def _deviance(observed: float, expected: float) -> float:
    """Return o log(o / e) + e - o, by a series where o is near e and the terms would cancel."""
    gap = observed - expected
    total = observed + expected
    if abs(gap) >= 0.1 * total:
        return observed * math.log(observed / expected) - gap
    v = gap / total
    result, term, k = gap * v, 2.0 * observed * v, 1
    while True:
        term *= v * v
        k += 2
        following = result + term / k
        if following == result:
            return result
        result = following


def _continued_fraction(a: float, b: float, x: float, y: float) -> float:
    """The denominator q of I_x(a, b) = x^a y^b / (B(a, b) q), by the modified Lentz algorithm."""
    gap = a * y - b * x + 1.0
    result = c = _not_zero(a * gap / (a + 1.0))
    d = 0.0
    for m in range(1, _MAX_TERMS):
        step = m * (b - m) * x / (a + 2 * m - 1.0)
        numerator = step * (a + m - 1.0) * (a + b + m - 1.0) * x / (a + 2 * m - 1.0)
        denominator = m + step + (a + m) * (gap + m * (1.0 + y)) / (a + 2 * m + 1.0)
        d = 1.0 / _not_zero(denominator + numerator * d)
        c = _not_zero(denominator + numerator / c)
        result *= c * d
        if abs(c * d - 1.0) <= _CONVERGED:
            return result
    raise ArithmeticError(f"the incomplete beta fraction did not converge at {x}, {a}, {b}")


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
