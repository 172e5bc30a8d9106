"""Finding the root of a monotone function."""

import math
from collections.abc import Callable


def bisect(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where an increasing `function` crosses zero in [low, high], to the last bit or so.

    When it does not cross, the end nearest to a root is returned.

    Args:
        function: Increasing on the interval; it may return infinities, but not NaN.
        low: Lower end.
        high: Upper end.
    """
    middle = low
    while high - low > 2.0 * math.ulp(max(abs(low), abs(high), 1e-300)):
        middle = low + (high - low) / 2.0
        if function(middle) < 0.0:
            low = middle
        else:
            high = middle
    return low + (high - low) / 2.0
