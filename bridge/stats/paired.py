"""The decision test of a gate: is current worse than baseline, case by case?"""

from collections.abc import Hashable, Iterable

from numpy.typing import ArrayLike

from bridge.stats.clusters import Units, group, identical, standard_error
from bridge.stats.distributions import check_level, student_t_cdf
from bridge.stats.mcnemar import exact_mcnemar
from bridge.stats.results import PairedTest
from bridge.stats.samples import paired_values, resolve_binary, signed_differences
from bridge.stats.sign_flip import (
    equal_magnitudes,
    exact_sign_flip,
    monte_carlo_sign_flip,
    sign_test,
)

EXACT_LIMIT = 15
"""Up to this many non-zero differences all sign assignments are enumerated."""

MONTE_CARLO_LIMIT = 300
"""Up to this many non-zero differences sign assignments are drawn; above it, a t test."""

SMALL_N = 15
"""Fewer independent units than this are called few."""


def paired_test(
    baseline: ArrayLike,
    current: ArrayLike,
    *,
    binary: bool | None = None,
    clusters: Iterable[Hashable] | None = None,
    mid_p: bool = False,
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 0,
) -> PairedTest:
    """Test one-sidedly whether `current` is worse (lower) than `baseline`.

    Binary values: McNemar's exact test on the discordant pairs. Others (graded values, means over
    epochs): a sign-flip permutation test on the differences, exact for up to `EXACT_LIMIT`
    non-zero ones, by Monte Carlo up to `MONTE_CARLO_LIMIT`, above it a paired t test. Equally
    large differences are tested exactly at any number. With `clusters`, the sums within clusters
    take the place of the differences, and the t test is cluster-robust.

    The non-zero differences count, not n: a t test of 1000 differences of which 4 are not zero
    and equally large calls 4 of 4 negative signs significant, which happens with p = 1/16.

    Args:
        baseline: One value a case (its mean over epochs), shape (n,), higher is better.
        current: The same cases in the same order, shape (n,).
        binary: Whether the values are single outcomes 0 or 1; None detects it.
        clusters: One label a case, for cases that share a document or conversation; or None.
        mid_p: Use the mid-p value of McNemar's test.
        alpha: The level in (0, 1) that the notes speak of; it does not change p.
        resamples: Number of Monte Carlo sign assignments.
        seed: Seed of the Monte Carlo test, >= 0.

    Returns:
        The test; the same for any common order of the rows. With n = 0, p is 1.0.

    Raises:
        ValueError: NaN or infinite values, text, unequal lengths, a missing cluster label, or
            `binary` with values other than 0 and 1.
    """
    check_level(alpha, "alpha")
    before, after = paired_values(baseline, current)
    is_binary = resolve_binary(binary, before, after)
    units = group(signed_differences(before, after), clusters)
    if before.size == 0:
        return PairedTest("none", 1.0, 0, 0, 0.0, "no pairs: nothing can be decided")
    m = int((units.sums != 0.0).sum())
    if is_binary and not units.clustered:
        test = "McNemar mid-p" if mid_p else "McNemar exact"
        p = _mcnemar(units, mid_p)
        smallest = 0.5 ** (m + mid_p)
    else:
        test, p = _difference_test(units, m, resamples, seed)
        smallest = 0.5**m
    notes = _notes(units, m, smallest, alpha, graded=not is_binary or units.clustered)
    return PairedTest(test, p, before.size, m, units.mean, "; ".join(notes) or None)


def _mcnemar(units: Units, mid_p: bool) -> float:
    lost, gained = int((units.sums < 0.0).sum()), int((units.sums > 0.0).sum())
    return exact_mcnemar(lost, gained, mid_p=mid_p)


def _difference_test(units: Units, m: int, resamples: int, seed: int) -> tuple[str, float]:
    if equal_magnitudes(units.sums) or identical(units):
        return "sign-flip exact", sign_test(units.sums)
    if m <= EXACT_LIMIT:
        return "sign-flip exact", exact_sign_flip(units.sums)
    if m <= MONTE_CARLO_LIMIT:
        p = monte_carlo_sign_flip(units.sums, resamples=resamples, seed=seed)
        return "sign-flip Monte Carlo", p
    t = units.mean / standard_error(units)
    name = "cluster-robust t" if units.clustered else "paired t"
    return name, student_t_cdf(t, units.sums.size - 1)


def _notes(units: Units, m: int, smallest: float, alpha: float, *, graded: bool) -> list[str]:
    """What limits the test; `smallest` is the least p value that m differences can give."""
    count = units.sums.size
    what = "clusters" if units.clustered else "pairs"
    notes: list[str] = []
    if units.clustered:
        notes.append(f"{count} clusters are the units of inference")
    if m == 0:
        notes.append(f"none of {count} {what} differs")
    elif smallest >= alpha:
        notes.append(
            f"only {m} of {count} {what} differ{'s' * (m == 1)}: no p below {alpha:g} is possible"
        )
    if m and count > 1 and identical(units):
        notes.append("all differences are equal: their spread cannot be estimated")
    if graded and count < SMALL_N:
        notes.append(f"{count} {what} are few" if count > 1 else f"one {what[:-1]} is not enough")
    return notes
