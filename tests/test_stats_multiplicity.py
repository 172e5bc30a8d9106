"""Adjusted p values, against their definitions and against scipy."""

import importlib
import math
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.stats import benjamini_hochberg, holm

stats: Any = importlib.import_module("scipy.stats")

p_values = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6)


def _closed_bonferroni(p: list[float], i: int) -> float:
    """Holm is the closure of Bonferroni tests: the worst of all subsets that hold i."""
    others = [j for j in range(len(p)) if j != i]
    families = ([i, *rest] for size in range(len(p)) for rest in combinations(others, size))
    return max(min(1.0, len(family) * min(p[j] for j in family)) for family in families)


@given(p_values)
def test_holm_is_the_closed_bonferroni_test(p: list[float]) -> None:
    assert holm(p) == pytest.approx([_closed_bonferroni(p, i) for i in range(len(p))], abs=1e-15)


def test_holm_of_an_example_by_hand() -> None:
    # Sorted .005 .01 .03 .04, times 4 3 2 1: .02 .03 .06 .04, and never falling.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=50))
def test_benjamini_hochberg_agrees_with_scipy(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(list(stats.false_discovery_control(p)), abs=1e-12)


def test_benjamini_hochberg_rejects_what_the_1995_paper_rejects() -> None:
    # The 15 p values of the paper's example (thrombolysis); at q = 0.05 the first four.
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    p += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000]
    assert [q <= 0.05 for q in benjamini_hochberg(p)] == [True] * 4 + [False] * 11
    assert [q < 0.05 for q in holm(p)] == [True] * 3 + [False] * 12


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_adjusting_keeps_order_and_handles_none_and_one(adjust: Any) -> None:
    assert adjust([]) == []
    assert adjust([0.2]) == [0.2]
    assert adjust([0.9, 0.9, 0.9]) == pytest.approx([1.0] * 3 if adjust is holm else [0.9] * 3)
    up, down = adjust([0.01, 0.2, 0.03]), adjust([0.03, 0.2, 0.01])
    assert up == down[::-1]


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize("bad", [[math.nan, 0.1], [-0.1], [1.1], ["0.1"]])
def test_adjusting_refuses_what_is_no_probability(adjust: Any, bad: list[Any]) -> None:
    with pytest.raises(ValueError, match="p values"):
        adjust(bad)
