"""Rows that could not be scored, and rows that were skipped: what the policy makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bridge.gate.intake.table import COLUMNS, ERROR, FAILED, SCORED, SKIPPED, Ints, Mask, Table
from bridge.model.counted import counted
from bridge.model.policy import BrokenRows, GatePolicy

Excused = frozenset[tuple[str, str, str]]
"""Left out on purpose: (framework, metric, case)."""


@dataclass(frozen=True, slots=True)
class Treated:
    """Rows after the policy.

    Attributes:
        table: The rows to decide on.
        errors: Metrics with more broken or skipped rows than the policy allows.
        notes: What was done, metric by metric.
        excused: What was left out.
    """

    table: Table
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    excused: Excused = frozenset()


def treat(table: Table, policy: GatePolicy) -> Treated:
    """Count broken rows as 0, or leave them out, as far as the policy allows either."""
    errors = list(_too_many_skipped(table, policy.max_skipped))
    asked = policy.errors
    broken = table.status == ERROR
    if asked.treat == "refuse" or not broken.any():
        return Treated(table, tuple(errors))
    notes: list[str] = []
    for name, rows in _metrics(table):
        bad = int(broken[rows].sum())
        if bad:
            share = f"{counted(bad, 'row')} of {len(rows)} could not be scored"
            if bad > asked.max_share * len(rows):
                errors.append(f"{name}: {share}, more than max_share {asked.max_share:g}")
            notes.append(f"{name}: {share}: {_done(asked)}")
    if asked.treat == "worst":
        return Treated(_as_worst(table, broken), tuple(errors), tuple(notes))
    return Treated(_without(table, broken), tuple(errors), tuple(notes), _keys(table, broken))


def _too_many_skipped(table: Table, most: float | None) -> Iterator[str]:
    if most is None:
        return
    for name, rows in _metrics(table):
        skipped = int((table.status[rows] == SKIPPED).sum())
        if skipped > most * len(rows):
            share = f"{counted(skipped, 'row')} of {len(rows)} skipped"
            yield f"{name}: {share}, more than max_skipped {most:g}"


def _metrics(table: Table) -> Iterator[tuple[str, Ints]]:
    for framework in table.framework_names:
        rows = table.of_framework(framework)
        for code in np.unique(table.metric[rows]):
            own = rows[table.metric[rows] == code]
            yield f"{framework}/{table.metric_names[code]}", own


def _done(asked: BrokenRows) -> str:
    return "counted as 0" if asked.treat == "worst" else "left out"


def _as_worst(table: Table, broken: Mask) -> Table:
    lowest = np.where(np.isnan(table.threshold), SCORED, FAILED)
    return replace(
        table,
        value=np.where(broken, 0.0, table.value),
        status=np.where(broken, lowest, table.status),
    )


def _without(table: Table, broken: Mask) -> Table:
    kept: dict[str, Any] = {name: getattr(table, name)[~broken] for name in COLUMNS}
    return replace(table, **kept)


def _keys(table: Table, broken: Mask) -> Excused:
    keys = [table.key(int(row)) for row in np.flatnonzero(broken)]
    return frozenset((key.framework, key.metric, key.case_id) for key in keys)
