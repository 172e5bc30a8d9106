"""Checked samples: every number that enters this package passes through here."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

# Case means over epochs carry rounding noise of some 1e-16; below this they are equal.
TOLERANCE = 1e-12


def as_values(values: ArrayLike, name: str = "values") -> FloatArray:
    """Return a one-dimensional float64 copy of `values`.

    Args:
        values: Numbers or booleans, shape (n,).
        name: What to call them in an error.

    Raises:
        ValueError: Not one-dimensional, not numeric (numpy would parse text), NaN or infinite.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {array.shape}")
    if array.size and array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, not {array.dtype}")
    result = array.astype(np.float64)
    if not bool(np.isfinite(result).all()):
        raise ValueError(f"{name} must be finite: found NaN or infinity")
    return result


def paired_values(
    first: ArrayLike, second: ArrayLike, names: tuple[str, str] = ("baseline", "current")
) -> tuple[FloatArray, FloatArray]:
    """Return two checked samples of one length; position i of both is the same case.

    Raises:
        ValueError: As `as_values`, or the lengths differ.
    """
    a, b = as_values(first, names[0]), as_values(second, names[1])
    if a.size != b.size:
        raise ValueError(f"{names[0]} has {a.size} values and {names[1]} has {b.size}")
    return a, b


def differences(baseline: FloatArray, current: FloatArray) -> FloatArray:
    """Return current - baseline in ascending order, with rounding noise set to exactly zero.

    Sorting makes everything computed from the result the same for any order of the rows.
    """
    return np.sort(signed_differences(baseline, current))


def signed_differences(baseline: FloatArray, current: FloatArray) -> FloatArray:
    """Return current - baseline in the order given, with rounding noise set to exactly zero."""
    scale = np.abs(np.concatenate([baseline, current])).max(initial=0.0)
    return without_noise(current - baseline, float(scale))


def without_noise(values: FloatArray, scale: float) -> FloatArray:
    """Return `values` with everything within `TOLERANCE * scale` of zero set to zero."""
    return np.where(np.abs(values) <= TOLERANCE * scale, 0.0, values)


def all_equal(values: FloatArray, scale: float) -> bool:
    """Whether `values` differ by rounding noise at most, given their size (true when empty)."""
    return values.size == 0 or bool(np.ptp(values) <= TOLERANCE * scale)


def is_binary(*samples: ArrayLike) -> bool:
    """Whether every value of every sample is 0 or 1; false when there are no values at all.

    Raises:
        ValueError: As `as_values`.
    """
    arrays = [as_values(sample) for sample in samples]
    if not any(array.size for array in arrays):
        return False
    return all(bool(((array == 0.0) | (array == 1.0)).all()) for array in arrays)


def resolve_binary(binary: bool | None, *samples: FloatArray) -> bool:
    """Return `binary`, or detect it when it is None.

    Raises:
        ValueError: `binary` is true and a value is neither 0 nor 1.
    """
    if binary is None:
        return is_binary(*samples)
    if binary and any(sample.size for sample in samples) and not is_binary(*samples):
        raise ValueError("binary values must be 0 or 1")
    return binary


def mean(values: FloatArray) -> float:
    """Return the mean, correctly rounded and so independent of order; 0.0 when empty."""
    return math.fsum(values.tolist()) / values.size if values.size else 0.0
