"""McNemar's exact test on discordant pairs."""

import math

from bridge.stats.distributions import binomial_survival

_SUMMED_UP_TO = 200


def exact_mcnemar(lost: int, gained: int, *, mid_p: bool = False) -> float:
    """Return the one-sided exact p value that more pairs were lost than gained.

    Under the null hypothesis each discordant pair is lost or gained with probability 1/2, so
    p = P(X >= lost) for X ~ Binomial(lost + gained, 1/2). The mid-p counts half of the observed
    point: more power, and a level that is kept on average only (Fagerland, Lydersen, Laake 2013).

    Args:
        lost: Pairs that passed in the baseline and fail now, >= 0.
        gained: Pairs that failed in the baseline and pass now, >= 0.
        mid_p: Return the mid-p value instead.

    Returns:
        The p value in (0, 1]; 1.0 when no pair is discordant, with mid-p as well.

    Raises:
        ValueError: A count is negative.
    """
    if lost < 0 or gained < 0:
        raise ValueError(f"counts cannot be negative: {lost}, {gained}")
    n = lost + gained
    at_least = _heads(lost, n)
    if not mid_p or n == 0:
        return at_least
    return 0.5 * (at_least + _heads(lost + 1, n))


def _heads(k: int, n: int) -> float:
    """P(at least k heads in n tosses)."""
    if n > _SUMMED_UP_TO:
        return binomial_survival(k, n, 0.5)
    # In integers: 4 of 4 has p = 0.0625, and is not to fall below that level by rounding.
    return sum(math.comb(n, i) for i in range(k, n + 1)) / (1 << n)
