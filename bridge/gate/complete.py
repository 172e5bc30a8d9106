"""Completeness: every reason why rows cannot be trusted. Absent is never 0 and never a pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bridge.gate.evidence import Evidence
from bridge.gate.table import ERROR, SKIPPED, UNSUPPORTED, Ints, Table
from bridge.model.run import ExpectedRows, RunRecord

SHOWN = 3
"""Examples named in a reason."""


def faults(evidence: Evidence) -> list[str]:
    """Why the rows of a body of evidence cannot be trusted; empty if they can."""
    table = evidence.table
    return [
        *_unfinished(evidence.records),
        *_duplicates(table),
        *_not_as_expected(table, evidence.expected),
        *_broken(table),
        *_unscored_cases(table),
    ]


def _unfinished(records: Sequence[RunRecord]) -> Iterator[str]:
    for record in records:
        if record.status != "complete":
            yield f"the run of {record.suite.name} is {record.status}, not complete"


def _duplicates(table: Table) -> Iterator[str]:
    twice = table.same_as_before()
    if twice.any():
        yield f"{_count(int(twice.sum()), 'row')} twice, such as {_examples(table, twice)}"


def _broken(table: Table) -> Iterator[str]:
    broken = table.status == ERROR
    if not broken.any():
        return
    rows = np.flatnonzero(broken)
    first = table.reasons.get(int(rows[0]), "")
    yield (
        f"{_count(len(rows), 'row')} could not be scored, such as {_examples(table, broken)}"
        f"{f': {first}' if first else ''}"
    )


def _unscored_cases(table: Table) -> Iterator[str]:
    """Cases of which every row was skipped or is unsupported, in every framework."""
    if not len(table):
        return
    idle = (table.status == SKIPPED) | (table.status == UNSUPPORTED)
    outputs = _pack([table.system, table.case, table.epoch])
    scored = np.unique(outputs[~idle])
    lost = ~np.isin(outputs, scored)
    if lost.any():
        number = len(np.unique(outputs[lost]))
        yield f"on {_count(number, 'case')} nothing was scored, such as {_examples(table, lost)}"


def _not_as_expected(table: Table, expected: Mapping[str, Sequence[ExpectedRows]]) -> Iterator[str]:
    for framework, owed in expected.items():
        wanted, labels = _wanted_keys(table, owed)
        own = _own_keys(table, framework)
        lacking = np.flatnonzero(~np.isin(wanted, own))
        if len(lacking):
            examples = ", ".join(labels[int(index)] for index in lacking[:SHOWN])
            yield f"{framework}: {_count(len(lacking), 'row')} missing, such as {examples}"
        extra = int((~np.isin(own, wanted)).sum())
        if extra:
            yield f"{framework}: {_count(extra, 'row')} that the run does not expect"


def _own_keys(table: Table, framework: str) -> Ints:
    if framework not in table.framework_names:
        return np.empty(0, np.int64)
    own = table.framework == table.framework_names.index(framework)
    columns = (table.system, table.case, table.metric, table.epoch, table.turn)
    return _pack_with([column[own] for column in columns], _sizes(table))


def _wanted_keys(table: Table, owed: Sequence[ExpectedRows]) -> tuple[Ints, list[str]]:
    """Packed keys of the rows owed; -1 for one whose names the table does not know at all."""
    codes = [
        {name: code for code, name in enumerate(names)}
        for names in (table.system_names, table.case_names, table.metric_names)
    ]
    columns: list[list[int]] = [[], [], [], [], []]
    labels = []
    for each in owed:
        system, case = codes[0].get(each.system, -1), codes[1].get(each.case_id, -1)
        for metric, turn in each.rows:
            row = (system, case, codes[2].get(metric, -1), each.epoch, -1 if turn is None else turn)
            for column, item in zip(columns, row, strict=True):
                column.append(item)
            labels.append(f"{each.case_id}/{metric}")
    arrays = [np.array(column, np.int64) for column in columns]
    keys = _pack_with(arrays, _sizes(table))
    unknown = (arrays[0] < 0) | (arrays[1] < 0) | (arrays[2] < 0)
    keys[unknown] = -1
    return keys, labels


def _sizes(table: Table) -> list[int]:
    epochs = int(table.epoch.max(initial=0)) + 2
    turns = int(table.turn.max(initial=0)) + 3
    return [len(table.case_names) + 1, len(table.metric_names) + 1, epochs, turns]


def _pack_with(columns: Sequence[Ints], sizes: Sequence[int]) -> Ints:
    """Columns as one number a row; ``sizes`` bound all columns but the first."""
    system, case, metric, epoch, turn = columns
    key = system * sizes[0] + case
    key = key * sizes[1] + metric
    key = key * sizes[2] + np.minimum(epoch, sizes[2] - 1)
    packed: Ints = key * sizes[3] + np.minimum(turn + 1, sizes[3] - 1)
    return packed


def _pack(columns: Sequence[Ints]) -> Ints:
    packed = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        packed = packed * (int(column.max(initial=0)) + 1) + column
    return packed


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _examples(table: Table, mask: NDArray[np.bool_]) -> str:
    rows = np.flatnonzero(mask)[:SHOWN]
    keys = [table.key(int(row)) for row in rows]
    return ", ".join(f"{key.framework}/{key.metric} of case {key.case_id!r}" for key in keys)
