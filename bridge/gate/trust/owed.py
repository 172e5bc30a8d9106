"""The rows that a run owes, held against the rows that are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from bridge.gate.intake.table import WHOLE_CASE, Ints, Table, joint_codes
from bridge.model.counted import counted
from bridge.model.run import ExpectedRows

UNKNOWN = -1
"""Code of a name that no row has."""

SHOWN = 3
"""Examples named in a reason."""


def not_as_owed(
    table: Table, owed: Mapping[str, Sequence[Sequence[ExpectedRows]]]
) -> Iterator[str]:
    """Frameworks whose rows are not those that their runs owe: missing, or too many."""
    lists: dict[tuple[int, ...], _Owed] = {}
    for framework, runs in owed.items():
        identity = tuple(id(rows) for rows in runs)
        if identity not in lists:
            lists[identity] = _owed_rows(table, list(chain.from_iterable(runs)))
        yield from _differences(table, framework, lists[identity])


@dataclass(frozen=True, slots=True)
class _Owed:
    """Owed rows as columns (system, case, metric, epoch, turn), and whose they are."""

    outputs: Sequence[ExpectedRows]
    first: Ints
    columns: tuple[Ints, ...]

    def label(self, index: int) -> str:
        place = int(np.searchsorted(self.first, index, side="right")) - 1
        output = self.outputs[place]
        metric, turn = output.rows[index - int(self.first[place])]
        at = "" if turn is None else f" turn {turn}"
        return f"{metric} of case {output.case_id!r}{at}"


def _owed_rows(table: Table, outputs: Sequence[ExpectedRows]) -> _Owed:
    systems, cases, metrics = (
        {name: code for code, name in enumerate(names)}
        for names in (table.system_names, table.case_names, table.metric_names)
    )
    counts = np.array([len(output.rows) for output in outputs], np.int64)
    patterns: dict[tuple[tuple[str, int | None], ...], tuple[list[int], list[int]]] = {}
    for output in outputs:
        if output.rows not in patterns:
            patterns[output.rows] = (
                [metrics.get(metric, UNKNOWN) for metric, _ in output.rows],
                [WHOLE_CASE if turn is None else turn for _, turn in output.rows],
            )
    own = [patterns[output.rows] for output in outputs]
    columns = (
        np.repeat(_ints(systems.get(output.system, UNKNOWN) for output in outputs), counts),
        np.repeat(_ints(cases.get(output.case_id, UNKNOWN) for output in outputs), counts),
        _ints(chain.from_iterable(metric for metric, _ in own)),
        np.repeat(_ints(output.epoch for output in outputs), counts),
        _ints(chain.from_iterable(turn for _, turn in own)),
    )
    return _Owed(outputs, np.cumsum(counts) - counts, columns)


def _ints(values: Iterator[int] | chain[int]) -> Ints:
    return np.fromiter(values, np.int64)


def _differences(table: Table, framework: str, owed: _Owed) -> Iterator[str]:
    rows = table.of_framework(framework)
    own = (table.system, table.case, table.metric, table.epoch, table.turn)
    wanted, there = joint_codes(owed.columns, [column[rows] for column in own])
    lacking = np.flatnonzero(~np.isin(wanted, there))
    if len(lacking):
        examples = ", ".join(owed.label(int(index)) for index in lacking[:SHOWN])
        yield f"{framework}: {counted(len(lacking), 'owed row')} missing, such as {examples}"
    extra = rows[~np.isin(there, wanted)]
    if len(extra):
        keys = [table.key(int(row)) for row in extra[:SHOWN]]
        examples = ", ".join(f"{key.metric} of case {key.case_id!r}" for key in keys)
        rows_not_owed = counted(len(extra), "row")
        yield f"{framework}: {rows_not_owed} that the run does not expect, such as {examples}"
