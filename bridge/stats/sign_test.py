"""The exact sign test on what is preferred to what."""

from bridge.stats.mcnemar import exact_mcnemar


def exact_sign_test(first: int, second: int) -> float:
    """Return the two-sided exact p value that one side wins more often than the other.

    Ties are left out beforehand (Dixon and Mood 1946): p is twice the smaller tail of
    Binomial(first + second, 1/2), 1 at most.

    Args:
        first: Wins of the first side, >= 0.
        second: Wins of the second side, >= 0.

    Returns:
        The p value in (0, 1]; 1.0 when nobody wins.

    Raises:
        ValueError: A count is negative.
    """
    return min(1.0, 2.0 * exact_mcnemar(max(first, second), min(first, second)))
