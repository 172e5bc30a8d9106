"""What the functions of this package return: frozen values without behaviour."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The one-sided answer to "is current worse than baseline?".

    Attributes:
        test: The test that was used, in words.
        p: One-sided p value in [0, 1]; small means that current is worse.
        n: Number of pairs.
        n_nonzero: Pairs (or clusters, where clusters were given) that differ.
        delta: Mean of current - baseline; 0.0 when there are no pairs.
        note: What a reader must know before trusting the p value, or None.
    """

    test: str
    p: float
    n: int
    n_nonzero: int
    delta: float
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence interval.

    Attributes:
        low: Lower limit.
        high: Upper limit.
        level: Nominal coverage in (0, 1), such as 0.95.
        method: The method that was used, in words.
        note: A caveat about the coverage, or None.
    """

    low: float
    high: float
    level: float
    method: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class BlandAltman:
    """Agreement of two measurements of the same things.

    Attributes:
        n: Number of pairs.
        mean_difference: Mean of second - first (the bias); None when n = 0.
        sd: Standard deviation of the differences (n - 1); None when n < 2.
        low: Lower limit of agreement; None when n < 2.
        high: Upper limit of agreement; None when n < 2.
    """

    n: int
    mean_difference: float | None
    sd: float | None
    low: float | None
    high: float | None
