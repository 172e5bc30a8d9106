"""The decision test: against scipy, brute force, simulation, and the edges."""

import importlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from bridge.stats import exact_mcnemar, is_binary, paired_test

stats: Any = importlib.import_module("scipy.stats")

Floats = NDArray[np.float64]


def _graded(seed: int, n: int, drop: float = 0.0) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(seed)
    before = generator.beta(6, 3, n)
    return before, np.clip(before - drop + generator.normal(0, 0.1, n), 0, 1)


def _clustered(seed: int, groups: int, size: int) -> tuple[Floats, list[int]]:
    """Differences without a drop whose noise is shared within each cluster."""
    generator = np.random.default_rng(seed)
    shared = np.repeat(generator.normal(0, 0.1, groups), size)
    noise = generator.normal(0, 0.02, groups * size)
    return shared + noise, np.repeat(np.arange(groups), size).tolist()


def test_binary_outcomes_go_to_mcnemar() -> None:
    before = [1] * 8 + [0] * 2 + [1] * 10
    after = [0] * 8 + [1] * 2 + [1] * 10
    found = paired_test(before, after)
    assert found.test == "McNemar exact"
    assert (found.n, found.n_nonzero) == (20, 10)
    assert found.delta == pytest.approx(-0.3)
    assert found.p == pytest.approx(stats.binomtest(8, 10, 0.5, alternative="greater").pvalue)
    assert found.note is None
    mid = paired_test(before, after, mid_p=True)
    assert mid.test == "McNemar mid-p"
    assert mid.p == exact_mcnemar(8, 2, mid_p=True)


def test_a_gain_is_not_a_regression() -> None:
    assert paired_test([0] * 12, [1] * 12).p == 1.0
    assert paired_test([0] * 12, [1] * 12).delta == 1.0
    assert paired_test([0.2, 0.4, 0.3, 0.1], [0.3, 0.6, 0.5, 0.4]).p == 1.0


def test_booleans_are_outcomes() -> None:
    assert paired_test([True] * 6, [False] * 6).p == pytest.approx(1 / 64)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40))
def test_binary_values_give_the_same_p_as_graded_ones(pairs: list[tuple[int, int]]) -> None:
    before, after = [a for a, _ in pairs], [b for _, b in pairs]
    graded = paired_test(before, after, binary=False)
    assert graded.test == "sign-flip exact"
    assert graded.p == pytest.approx(paired_test(before, after, binary=True).p, abs=1e-12)


def test_mcnemar_keeps_its_level_when_nothing_changed() -> None:
    generator, runs, n = np.random.default_rng(11), 1500, 60
    rates = generator.beta(8, 2, size=(runs, n))
    before, after = (generator.random((runs, n)) < rates for _ in range(2))
    rejected = sum(paired_test(b, a).p < 0.05 for b, a in zip(before, after, strict=True)) / runs
    assert rejected <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert rejected > 0.005  # a test that never rejects keeps its level too


def test_mcnemar_finds_a_drop_of_ten_points() -> None:
    generator, runs, n = np.random.default_rng(12), 400, 200
    rates = generator.beta(8, 2, size=(runs, n))
    before = generator.random((runs, n)) < rates
    after = generator.random((runs, n)) < np.clip(rates - 0.1, 0, 1)
    found = sum(paired_test(b, a).p < 0.05 for b, a in zip(before, after, strict=True)) / runs
    assert found == pytest.approx(0.72, abs=0.1)


def test_graded_scores_choose_the_test_by_the_number_of_differences() -> None:
    names = {}
    for n in (5, 15, 16, 300, 301):
        before, after = _graded(n, n)
        names[n] = paired_test(before, after, resamples=99).test
    assert names == {
        5: "sign-flip exact",
        15: "sign-flip exact",
        16: "sign-flip Monte Carlo",
        300: "sign-flip Monte Carlo",
        301: "paired t",
    }


def test_a_seed_repeats_the_p_and_another_moves_it() -> None:
    before, after = _graded(8, 100, drop=0.01)
    first, again, other = (paired_test(before, after, seed=seed).p for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first == pytest.approx(other, abs=0.02)


@given(st.integers(301, 900), st.floats(-0.02, 0.02), st.integers(0, 10**6))
def test_many_graded_scores_get_a_paired_t_test(n: int, drop: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    before = generator.random(n)
    after = before - drop + generator.normal(0, 0.1, n)
    found = paired_test(before, after)
    assert found.test == "paired t"
    expected = stats.ttest_rel(after, before, alternative="less").pvalue
    assert found.p == pytest.approx(float(expected), abs=1e-9)
    assert found.delta == pytest.approx(float(np.mean(after - before)), abs=1e-12)


@pytest.mark.parametrize("size", [0.25, 1.0])
def test_few_differences_among_many_cases_do_not_pass_for_evidence(size: float) -> None:
    # Four equal drops in 1000 cases: t calls them significant, and so it would call 1 of 16
    # random sign patterns.
    before, after = np.full(1000, 1.0), np.full(1000, 1.0)
    after[:4] -= size
    assert float(stats.ttest_rel(after, before, alternative="less").pvalue) < 0.05
    found = paired_test(before, after, binary=False)
    assert found.p == pytest.approx(1 / 16)
    assert found.note == "only 4 of 1000 pairs differ: no p below 0.05 is possible"


def test_clusters_of_one_change_nothing() -> None:
    before, after = _graded(4, 320)
    alone = paired_test(before, after)
    assert paired_test(before, after, clusters=[f"doc{i}" for i in range(320)]) == alone


def test_cluster_robust_t_is_a_t_test_on_equal_sized_clusters() -> None:
    differences, labels = _clustered(5, 350, 3)
    found = paired_test(np.zeros(differences.size), differences, clusters=labels)
    assert found.test == "cluster-robust t"
    means = differences.reshape(350, 3).mean(axis=1)
    expected = stats.ttest_1samp(means, 0.0, alternative="less").pvalue
    assert found.p == pytest.approx(float(expected), abs=1e-9)
    assert (found.n, found.n_nonzero) == (1050, 350)
    assert found.note == "350 clusters are the units of inference"


def test_cluster_robust_t_by_its_formula_for_unequal_clusters() -> None:
    generator = np.random.default_rng(6)
    labels = np.sort(generator.integers(0, 330, 1200))
    differences = generator.normal(-0.004, 0.1, 1200) + generator.normal(0, 0.1, 330)[labels]
    used = np.unique(labels)
    mean, groups = differences.mean(), used.size
    residuals = np.array([(differences[labels == g] - mean).sum() for g in used])
    error = math.sqrt(groups / (groups - 1) * (residuals**2).sum()) / differences.size
    expected = float(stats.t.cdf(mean / error, groups - 1))
    found = paired_test(np.zeros(1200), differences, clusters=labels.tolist())
    assert found.p == pytest.approx(expected, abs=1e-9)


def test_clusters_keep_the_level_that_pooled_rows_break() -> None:
    runs = 300
    pooled = clustered = 0
    for seed in range(runs):
        differences, labels = _clustered(seed, 12, 5)
        zero = np.zeros(differences.size)
        pooled += paired_test(zero, differences, resamples=400).p < 0.05
        clustered += paired_test(zero, differences, clusters=labels).p < 0.05
    limit = 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert clustered / runs <= limit
    assert pooled / runs > limit


def test_binary_outcomes_in_clusters_flip_signs_cluster_by_cluster() -> None:
    # Six lost pairs in two documents are two facts, not six.
    found = paired_test([1] * 6, [0] * 6, clusters=["a", "a", "a", "b", "b", "b"])
    assert found.test == "sign-flip exact"
    assert found.p == pytest.approx(1 / 4)
    assert found.n_nonzero == 2
    assert found.note is not None
    assert "2 clusters are the units of inference" in found.note
    assert "only 2 of 2 clusters differ" in found.note


def test_a_cluster_whose_changes_cancel_does_not_count() -> None:
    before, after = [0.1, 0.3, 0.5], [0.4, 0.0, 0.4]
    found = paired_test(before, after, clusters=["a", "a", "b"])
    assert found.n_nonzero == 1
    assert found.p == pytest.approx(1 / 2)


def test_no_pairs_decide_nothing() -> None:
    found = paired_test([], [])
    assert (found.test, found.p, found.n, found.n_nonzero, found.delta) == ("none", 1.0, 0, 0, 0.0)
    assert found.note == "no pairs: nothing can be decided"


@pytest.mark.parametrize(
    ("before", "after", "p", "note"),
    [
        (1.0, 0.0, 0.5, "only 1 of 1 pairs differs: no p below 0.05 is possible"),
        (0.0, 1.0, 1.0, "only 1 of 1 pairs differs: no p below 0.05 is possible"),
        (
            0.9,
            0.2,
            0.5,
            "only 1 of 1 pairs differs: no p below 0.05 is possible; one pair is not enough",
        ),
        (0.4, 0.4, 1.0, "none of 1 pairs differs; one pair is not enough"),
    ],
)
def test_one_pair_decides_nothing(before: float, after: float, p: float, note: str) -> None:
    found = paired_test([before], [after])
    assert found.p == p
    assert found.note == note


@pytest.mark.parametrize("n", [3, 40, 1000])
@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_identical_runs_show_no_regression(n: int, value: float) -> None:
    found = paired_test([value] * n, [value] * n)
    assert (found.p, found.n_nonzero, found.delta) == (1.0, 0, 0.0)
    assert found.note is not None
    assert f"none of {n} pairs differs" in found.note


@pytest.mark.parametrize(("n", "sign"), [(6, -1), (40, -1), (1000, -1), (40, 1), (1000, 1)])
def test_equal_differences_get_an_exact_p_and_a_warning(n: int, sign: int) -> None:
    found = paired_test([0.5] * n, [0.5 + 0.1 * sign] * n)
    assert found.p == pytest.approx(0.5**n if sign < 0 else 1.0, rel=1e-9, abs=1e-300)
    assert found.note is not None
    assert "all differences are equal" in found.note


def test_equal_differences_in_unequal_clusters_have_no_spread_either() -> None:
    labels = [i // 2 if i < 400 else 200 + i // 3 for i in range(1000)]
    for drop, sign in ((0.1, -1), (-0.1, 1)):
        found = paired_test([0.5] * 1000, [0.5 - drop] * 1000, clusters=labels)
        assert found.p == pytest.approx(0.5 ** len(set(labels)) if sign < 0 else 1.0, rel=1e-9)
        assert found.note is not None
        assert "all differences are equal" in found.note


def test_rounding_noise_is_no_difference() -> None:
    found = paired_test([0.3, 0.3, 0.7], [0.1 + 0.2, 0.3, 0.7 - 1e-16])
    assert (found.n_nonzero, found.delta, found.p) == (0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("lost", "options", "impossible"),
    [
        (4, {}, True),
        (5, {}, False),
        (3, {"mid_p": True}, True),
        (4, {"mid_p": True}, False),
        (5, {"alpha": 0.01}, True),
        (7, {"alpha": 0.01}, False),
        (4, {"alpha": 0.0625}, True),
    ],
)
def test_too_few_discordant_pairs_are_said_to_be_too_few(
    lost: int, options: dict[str, Any], impossible: bool
) -> None:
    found = paired_test([1] * 30, [0] * lost + [1] * (30 - lost), **options)
    alpha = options.get("alpha", 0.05)
    assert (found.p >= alpha) is impossible
    assert (found.note == f"only {lost} of 30 pairs differ: no p below {alpha} is possible") is (
        impossible
    )


def test_a_single_difference_is_written_in_the_singular() -> None:
    assert paired_test([1, 1], [0, 1]).note == (
        "only 1 of 2 pairs differs: no p below 0.05 is possible"
    )


def test_few_graded_pairs_are_said_to_be_few() -> None:
    before, after = _graded(1, 14)
    assert paired_test(before, after).note == "14 pairs are few"
    before, after = _graded(1, 15)
    assert paired_test(before, after).note is None


@pytest.mark.parametrize("kind", ["binary", "exact", "monte carlo", "t", "clusters"])
def test_the_order_of_cases_does_not_matter(kind: str) -> None:
    n = {"binary": 60, "exact": 12, "monte carlo": 120, "t": 500, "clusters": 900}[kind]
    before, after = _graded(9, n, drop=0.02)
    if kind == "binary":
        before, after = (before > 0.6).astype(float), (after > 0.6).astype(float)
    labels = [i % 310 for i in range(n)] if kind == "clusters" else None
    found = paired_test(before, after, clusters=labels)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(n)
        shuffled = [labels[i] for i in order] if labels else None
        assert paired_test(before[order], after[order], clusters=shuffled) == found


@pytest.mark.parametrize(
    ("before", "after", "options", "message"),
    [
        ([1.0, math.nan], [1.0, 1.0], {}, "baseline must be finite"),
        ([1.0, 1.0], [1.0, math.inf], {}, "current must be finite"),
        ([1.0, None], [1.0, 1.0], {}, "must be numbers"),
        (["1", "0"], [1.0, 1.0], {}, "must be numbers"),
        ([1.0], [1.0, 0.0], {}, "1 values and current has 2"),
        ([[1.0]], [[1.0]], {}, "one-dimensional"),
        ([0.5], [1.0], {"binary": True}, "0 or 1"),
        ([1.0], [0.0], {"clusters": ["a", "b"]}, "2 cluster labels for 1"),
        ([1.0, 1.0], [0.0, 0.0], {"clusters": ["a", None]}, "missing"),
        ([1.0, 1.0], [0.0, 0.0], {"clusters": ["a", math.nan]}, "missing"),
        ([1.0], [0.0], {"alpha": 0.0}, "alpha"),
    ],
)
def test_what_cannot_be_trusted_is_refused(
    before: Any, after: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        paired_test(before, after, **options)


def test_binary_values_are_zeros_and_ones_alone() -> None:
    assert is_binary([0, 1, 1.0], [True])
    assert not is_binary([0, 1], [0.5])
    assert not is_binary([], [])
    with pytest.raises(ValueError, match="NaN"):
        is_binary([0, math.nan])
