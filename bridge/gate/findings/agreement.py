"""How far the frameworks agree, metric by metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bridge.gate.intake.table import Ints, Table, joint_codes
from bridge.model.verdict import FrameworkMean


def agreement(table: Table, order: Sequence[str]) -> dict[str, dict[str, FrameworkMean]]:
    """Mean value by metric and framework, of metrics that several frameworks scored.

    Args:
        table: Rows of one system.
        order: The frameworks; each is held against the first that scored the metric.
    """
    found = {name: dict(_means(table, order, code)) for code, name in enumerate(table.metric_names)}
    return {name: means for name, means in found.items() if len(means) > 1}


def _means(table: Table, order: Sequence[str], metric: int) -> Iterator[tuple[str, FrameworkMean]]:
    first: Ints | None = None
    for framework in order:
        rows = table.of_framework(framework)
        rows = rows[(table.metric[rows] == metric) & ~np.isnan(table.value[rows])]
        if not len(rows):
            continue
        first = rows if first is None else first
        mean = float(np.mean(table.value[rows]))
        yield framework, FrameworkMean(mean=mean, n=len(rows), agreement=_alike(table, first, rows))


def _alike(table: Table, first: Ints, rows: Ints) -> float | None:
    """1 minus the mean absolute difference of the rows that both have."""
    columns = (table.case, table.epoch, table.turn)
    codes, others = joint_codes(*[[column[side] for column in columns] for side in (first, rows)])
    _, left, right = np.intersect1d(codes, others, return_indices=True)
    if not len(left):
        return None
    return 1.0 - float(np.mean(np.abs(table.value[first[left]] - table.value[rows[right]])))
