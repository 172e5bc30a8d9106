"""Several epochs and turns of a case as one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from bridge.gate.intake.table import Floats, Ints, Table, joint_codes
from bridge.model.policy import Reducer


def case_values(table: Table, rows: Ints, reducer: Reducer) -> tuple[Ints, Floats, int]:
    """The value of each case, and the largest number of rows of one case.

    A mean is over all rows of a case. Any other reducer is over its epochs, each with the mean of
    its turns.

    Args:
        table: The rows.
        rows: Numbers of rows with a value, of one metric, sorted by case.
        reducer: How the values become one.

    Returns:
        Codes of the cases, ascending, their values, and the count.
    """
    cases, values = table.case[rows], table.value[rows]
    if not len(cases):
        return cases, values, 0
    unique, starts, counts = np.unique(cases, return_index=True, return_counts=True)
    largest = int(counts.max())
    if reducer == "mean" or largest == 1:
        return unique, np.add.reduceat(values, starts) / counts, largest
    (answers,) = joint_codes((cases, table.epoch[rows]))
    _, first, sizes = np.unique(answers, return_index=True, return_counts=True)
    means = np.add.reduceat(values, first) / sizes
    parts = np.split(means, np.unique(cases[first], return_index=True)[1][1:])
    return unique, np.array([REDUCERS[reducer](part) for part in parts]), largest


def _mode(values: Floats) -> float:
    """The commonest value; of equally common ones the lowest."""
    found, counts = np.unique(values, return_counts=True)
    return float(found[counts.argmax()])


REDUCERS: Mapping[Reducer, Callable[[Floats], float]] = {
    "mean": lambda values: float(np.mean(values)),
    "median": lambda values: float(np.median(values)),
    "mode": _mode,
    "min": lambda values: float(values.min()),
    "max": lambda values: float(values.max()),
}
"""What each reducer does, as Inspect AI's of the same names do."""
