"""Flakiness: what epochs show of cases that pass once and fail the next time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bridge.gate.intake.align import Series
from bridge.gate.intake.table import PASSED, Floats, Ints, Mask, Table, joint_codes
from bridge.model.verdict import Flakiness

MOST = 50
"""Most cases named."""


def flakiness(table: Table, series: Sequence[Series]) -> dict[str, Flakiness]:
    """By gated name, of metrics whose cases were answered several times."""
    found = {each.name: _flakiness(table, each) for each in series}
    return {name: each for name, each in found.items() if each is not None}


def _flakiness(table: Table, series: Series) -> Flakiness | None:
    rows = series.rows[~np.isnan(table.value[series.rows])]
    if not len(rows):
        return None
    (answers,) = joint_codes((table.case[rows], table.epoch[rows]))
    _, first, group = np.unique(answers, return_index=True, return_inverse=True)
    cases: Ints = table.case[rows[first]]
    values = np.bincount(group, table.value[rows]) / np.bincount(group)
    whole: Mask = np.bincount(group, table.status[rows] != PASSED) == 0
    unique, starts, counts = np.unique(cases, return_index=True, return_counts=True)
    if int(counts.min()) < 2:
        return None
    passed = np.add.reduceat(whole.astype(np.int64), starts)
    changing = (passed > 0) & (passed < counts)
    decided = series.decided > 0
    return Flakiness(
        epochs=int(counts.min()),
        pass_all=float(np.mean(passed == counts)) if decided else None,
        pass_any=float(np.mean(passed > 0)) if decided else None,
        within_variance=_within(values, starts, counts),
        between_variance=float(np.var(np.add.reduceat(values, starts) / counts)),
        changing=int(changing.sum()) if decided else 0,
        cases=tuple(table.case_names[code] for code in unique[changing][:MOST]) if decided else (),
    )


def _within(values: Floats, starts: Ints, counts: Ints) -> float:
    """Mean variance (n - 1) of the values of a case over its epochs."""
    means = np.repeat(np.add.reduceat(values, starts) / counts, counts)
    squares = np.add.reduceat((values - means) ** 2, starts)
    return float(np.mean(squares / (counts - 1)))
