"""Minimising a smooth function of many numbers, the same way every time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Objective = Callable[[Vector], tuple[float, Vector]]

_MEMORY = 10
_ARMIJO = 1e-4
_SMALLEST_STEP = 1e-6
_CURVATURE = 1e-12


def lbfgs(objective: Objective, start: Vector, iterations: int, tolerance: float = 1e-6) -> Vector:
    """Limited-memory BFGS with a backtracking line search (Nocedal and Wright 2006, ch. 7.2).

    Sums are numpy's own, never BLAS, whose result depends on the number of threads.

    Args:
        objective: gives value and gradient; bounded below.
        start: where to begin.
        iterations: at most.
        tolerance: relative decrease of the value at which to stop.
    """
    point, (value, gradient) = start, objective(start)
    pairs: list[tuple[Vector, Vector]] = []
    for _ in range(iterations):
        direction = _direction(gradient, pairs)
        new_point, new_value, new_gradient = _search(objective, point, value, gradient, direction)
        moved, bent = new_point - point, new_gradient - gradient
        if _dot(moved, bent) > _CURVATURE:
            pairs = [*pairs, (moved, bent)][-_MEMORY:]
        done = value - new_value < tolerance * max(1.0, abs(value))
        point, value, gradient = new_point, new_value, new_gradient
        if done:
            break
    return point


def _dot(a: Vector, b: Vector) -> float:
    return float((a * b).sum())


def _direction(gradient: Vector, pairs: list[tuple[Vector, Vector]]) -> Vector:
    """Minus the gradient times the approximate inverse Hessian, by the two-loop recursion."""
    if not pairs:
        return -gradient / max(1.0, math.sqrt(_dot(gradient, gradient)))
    rest = gradient.copy()
    factors = []
    for moved, bent in reversed(pairs):
        factor = _dot(moved, rest) / _dot(moved, bent)
        factors.append(factor)
        rest -= factor * bent
    moved, bent = pairs[-1]
    rest *= _dot(moved, bent) / _dot(bent, bent)
    for (moved, bent), factor in zip(pairs, reversed(factors), strict=True):
        rest += (factor - _dot(bent, rest) / _dot(moved, bent)) * moved
    return -rest


def _search(
    objective: Objective, point: Vector, value: float, gradient: Vector, direction: Vector
) -> tuple[Vector, float, Vector]:
    """Halve the step until the value has gone down enough; the point itself if it never does."""
    slope, step = _dot(gradient, direction), 1.0
    while step > _SMALLEST_STEP:
        new_point = point + step * direction
        new_value, new_gradient = objective(new_point)
        if new_value <= value + _ARMIJO * step * slope:
            return new_point, new_value, new_gradient
        step /= 2.0
    return point, value, gradient
