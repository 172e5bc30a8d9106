"""The assignment problem: pair rows with columns for the greatest total weight."""

from __future__ import annotations

import math
from collections.abc import Sequence


def assign(weights: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Pair each row with a column of its own (or each column with a row, where columns are fewer).

    The Hungarian method by successive shortest paths with potentials (Jonker and Volgenant,
    "A shortest augmenting path algorithm for dense and sparse linear assignment problems",
    Computing 38, 1987), in O(rows^2 * columns) at worst. Integer weights keep it exact.

    Args:
        weights: A full matrix; any sign and size.

    Returns:
        (row, column) pairs by row, as many as the shorter side has, of the greatest total weight.
    """
    if not weights or not weights[0]:
        return []
    if len(weights) > len(weights[0]):
        turned = assign([list(column) for column in zip(*weights, strict=True)])
        return sorted((row, column) for column, row in turned)
    row_price: list[float] = [0] * len(weights)
    column_price: list[float] = [0] * len(weights[0])
    owner = [-1] * len(weights[0])
    for row in range(len(weights)):
        _augment(weights, row, row_price, column_price, owner)
    return sorted((row, column) for column, row in enumerate(owner) if row >= 0)


def _augment(
    weights: Sequence[Sequence[int]],
    start: int,
    row_price: list[float],
    column_price: list[float],
    owner: list[int],
) -> None:
    """Give ``start`` a column, moving other rows along the shortest path; update the prices."""
    columns = len(owner)
    distance: list[float] = [math.inf] * columns
    before = [-1] * columns
    open_columns = list(range(columns))
    reached: list[int] = []
    row, column = start, -1
    length: float = 0
    while True:
        line, price = weights[row], row_price[row]
        nearest, shortest = -1, math.inf
        for each in open_columns:
            step = length - line[each] - price - column_price[each]
            if step < distance[each]:
                distance[each], before[each] = step, column
            if distance[each] < shortest:
                nearest, shortest = each, distance[each]
        column, length = nearest, shortest
        open_columns.remove(column)
        if owner[column] < 0:
            break
        reached.append(column)
        row = owner[column]
    row_price[start] += length
    for each in reached:
        row_price[owner[each]] += length - distance[each]
        column_price[each] -= length - distance[each]
    while column >= 0:
        previous = before[column]
        owner[column] = owner[previous] if previous >= 0 else start
        column = previous
