"""Intervals of proportions: against scipy, published examples, definitions, the edges."""

import importlib
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.stats import (
    Interval,
    PairedCounts,
    clopper_pearson,
    newcombe_paired,
    rule_of_three,
    tango,
    wilson,
)

stats: Any = importlib.import_module("scipy.stats")
optimize: Any = importlib.import_module("scipy.optimize")

levels = st.sampled_from([0.8, 0.9, 0.95, 0.99])
tables = st.builds(PairedCounts, *(st.integers(0, 60) for _ in range(4))).filter(lambda t: t.n > 0)
# Complete response before and after therapy (Cavo et al. 2012), as worked through in Fagerland,
# Lydersen, Laake, Statistical Analysis of Contingency Tables, chapter 8.
CAVO = PairedCounts(both=59, lost=16, gained=6, neither=80)


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


@given(st.integers(1, 2000), st.floats(0, 1), levels)
def test_wilson_and_clopper_pearson_agree_with_scipy(n: int, rate: float, level: float) -> None:
    k = round(n * rate)
    reference = stats.binomtest(k, n)
    for method, ours in (("wilson", wilson), ("exact", clopper_pearson)):
        expected = reference.proportion_ci(level, method=method)
        assert _ends(ours(k, n, level)) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_proportions_of_a_published_example() -> None:
    # Newcombe (1998), Statistics in Medicine 17:857, table I: 81 of 263 at 95 %.
    assert _ends(wilson(81, 263)) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert _ends(clopper_pearson(81, 263)) == pytest.approx((0.2527, 0.3676), abs=5e-5)


def test_clopper_pearson_at_the_ends_is_closed_form() -> None:
    assert _ends(clopper_pearson(0, 20)) == pytest.approx((0.0, 1 - 0.025 ** (1 / 20)))
    assert _ends(clopper_pearson(20, 20)) == pytest.approx((0.025 ** (1 / 20), 1.0))


def test_rule_of_three_is_about_three_over_n() -> None:
    assert rule_of_three(300) == pytest.approx(3 / 300, rel=0.01)
    assert (1 - rule_of_three(7, 0.9)) ** 7 == pytest.approx(0.1)
    assert rule_of_three(1) == pytest.approx(0.95)
    assert rule_of_three(0) == 1.0


@pytest.mark.parametrize("method", [wilson, clopper_pearson])
def test_proportions_of_nothing_and_nonsense(method: Any) -> None:
    assert _ends(method(0, 0)) == (0.0, 1.0)
    for k, n in ((3, 2), (-1, 2)):
        with pytest.raises(ValueError, match="counts"):
            method(k, n)
    for level in (0.0, 1.0, 95.0, math.nan):
        with pytest.raises(ValueError, match="level"):
            method(1, 2, level)


def test_paired_proportions_of_a_published_example() -> None:
    assert CAVO.delta == pytest.approx(-0.0621, abs=5e-5)
    assert _ends(newcombe_paired(CAVO)) == pytest.approx((-0.1186, -0.0046), abs=5e-5)
    assert _ends(tango(CAVO)) == pytest.approx((-0.1240, -0.0054), abs=5e-5)


def _newcombe(table: PairedCounts, level: float) -> tuple[float, float]:
    """Method 10 of Newcombe (1998), with Wilson limits from scipy."""
    a, b, c, d, n = table.both, table.gained, table.lost, table.neither, table.n
    now, before = (
        stats.binomtest(k, n).proportion_ci(level, method="wilson") for k in (a + b, a + c)
    )
    p1, p2 = (a + b) / n, (a + c) / n
    product = math.sqrt((a + b) * (c + d) * (a + c) * (b + d))
    cross = a * d - b * c
    phi = (max(cross - n / 2, 0) if cross > 0 else cross) / product if product else 0.0
    down, up = p1 - now.low, before.high - p2
    rise, fall = now.high - p1, p2 - before.low
    low = p1 - p2 - math.sqrt(max(0, down**2 - 2 * phi * down * up + up**2))
    high = p1 - p2 + math.sqrt(max(0, rise**2 - 2 * phi * rise * fall + fall**2))
    return max(low, -1), min(high, 1)


@given(tables, levels)
def test_newcombe_is_square_and_add(table: PairedCounts, level: float) -> None:
    assert _ends(newcombe_paired(table, level)) == pytest.approx(_newcombe(table, level), abs=1e-9)


def _score(table: PairedCounts, delta: float) -> float:
    """Tango's statistic, its nuisance parameter maximising the likelihood numerically."""
    n, b, c = table.n, table.gained, table.lost

    def loss(q: float) -> float:
        agree = 1 - 2 * q - delta
        terms = ((b, q + delta), (c, q), (n - b - c, agree))
        return -sum(count * math.log(max(share, 1e-300)) for count, share in terms if count)

    low, high = max(0.0, -delta), (1 - delta) / 2
    q = optimize.minimize_scalar(
        loss, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
    ).x
    return (b - c - n * delta) / math.sqrt(n * (2 * q + delta * (1 - delta)))


@settings(max_examples=40)
@given(st.builds(PairedCounts, *(st.integers(1, 60) for _ in range(4))), levels)
def test_tango_limits_are_where_the_score_test_turns(table: PairedCounts, level: float) -> None:
    interval, z = tango(table, level), float(stats.norm.ppf(0.5 + level / 2))
    assert _score(table, interval.low) == pytest.approx(z, rel=1e-4)
    assert _score(table, interval.high) == pytest.approx(-z, rel=1e-4)


def test_tango_without_discordant_pairs_is_closed_form() -> None:
    # n delta^2 = z^2 delta (1 - delta): delta = z^2 / (n + z^2).
    z2 = float(stats.norm.ppf(0.975)) ** 2
    limit = z2 / (30 + z2)
    assert _ends(tango(PairedCounts(20, 0, 0, 10))) == pytest.approx((-limit, limit), abs=1e-9)


@pytest.mark.parametrize("method", [newcombe_paired, tango])
@given(table=tables)
def test_paired_intervals_hold_the_estimate_and_mirror(method: Any, table: PairedCounts) -> None:
    interval = method(table)
    assert -1 <= interval.low <= table.delta + 1e-12
    assert table.delta - 1e-12 <= interval.high <= 1
    assert interval.low < interval.high
    mirrored = method(PairedCounts(table.both, table.gained, table.lost, table.neither))
    assert _ends(mirrored) == pytest.approx((-interval.high, -interval.low), abs=1e-9)


@pytest.mark.parametrize("method", [newcombe_paired, tango])
def test_paired_intervals_of_nothing_and_everything(method: Any) -> None:
    assert _ends(method(PairedCounts(0, 0, 0, 0))) == (-1.0, 1.0)
    low, high = _ends(method(PairedCounts(0, 20, 0, 0)))
    assert low == pytest.approx(-1.0)
    assert -0.9 < high < -0.5
    with pytest.raises(ValueError, match="level"):
        method(CAVO, 1.0)
    with pytest.raises(ValueError, match="negative"):
        PairedCounts(1, -1, 0, 0)
