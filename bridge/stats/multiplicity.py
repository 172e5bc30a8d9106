"""Many p values at once: adjusted so that each can be compared with the level alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bridge.stats.samples import FloatArray, as_values


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjusted p values, in the order given.

    Rejecting where the adjusted value is below alpha keeps the chance of any false rejection
    below alpha, whatever the dependence (Holm 1979).

    Args:
        p_values: p values in [0, 1], one a hypothesis; may be empty.

    Raises:
        ValueError: A value is NaN or outside [0, 1].
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return _restored(np.minimum(raised, 1.0), order)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return Benjamini and Hochberg's step-up adjusted p values, in the order given.

    Rejecting where the adjusted value is at most q keeps the expected share of false rejections
    at most q, for independent or positively dependent tests (Benjamini and Hochberg 1995).

    Args:
        p_values: p values in [0, 1], one a hypothesis; may be empty.

    Raises:
        ValueError: A value is NaN or outside [0, 1].
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")
    raised = p[order] * p.size / np.arange(1, p.size + 1)
    lowered = np.minimum.accumulate(raised[::-1])[::-1]
    return _restored(lowered, order)


def _checked(p_values: Sequence[float]) -> FloatArray:
    p = as_values(p_values, "p values")
    if bool(((p < 0.0) | (p > 1.0)).any()):
        raise ValueError("p values must be between 0 and 1")
    return p


def _restored(ordered: FloatArray, order: NDArray[np.intp]) -> list[float]:
    result = np.empty_like(ordered)
    result[order] = ordered
    return [float(value) for value in result]
