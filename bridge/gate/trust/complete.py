"""Completeness: every reason why rows cannot be trusted. Absent is never 0 and never a pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.table import ERROR, SKIPPED, UNSUPPORTED, Ints, Mask, Table, joint_codes
from bridge.gate.trust.owed import not_as_owed
from bridge.gate.trust.parity import parity_faults
from bridge.model.counted import counted
from bridge.model.run import RunRecord

SHOWN = 3
"""Examples named in a reason."""


def faults(evidence: Evidence, *, broken_rows: bool = True) -> list[str]:
    """Why the rows of a body of evidence cannot be trusted; empty if they can.

    Args:
        evidence: Rows and their background.
        broken_rows: Whether a row that could not be scored is a fault.
    """
    table = evidence.table
    broken_frameworks = [
        f"{record.name}: {note}" for record in evidence.frameworks for note in record.notes
    ]
    return [
        *_unfinished(evidence.records),
        *evidence.conflicts,
        *broken_frameworks,
        *_duplicates(table),
        *not_as_owed(table, evidence.owed),
        *_cases_without_rows(evidence),
        *_uneven_epochs(evidence),
        *(_broken(evidence) if broken_rows else ()),
        *_unscored_cases(table),
        *_mixed_stamps(table),
        *parity_faults(table, evidence.order, frozenset(evidence.owed)),
    ]


def _unfinished(records: Sequence[RunRecord]) -> Iterator[str]:
    for record in records:
        if record.status != "complete":
            yield f"the run of {record.suite.name} is {record.status}, not complete"


def _duplicates(table: Table) -> Iterator[str]:
    twice = table.same_as_before()
    if twice.any():
        yield f"{counted(int(twice.sum()), 'row')} twice, such as {_examples(table, twice)}"


def _broken(evidence: Evidence) -> Iterator[str]:
    table = evidence.table
    broken = table.status == ERROR
    if not broken.any():
        return
    rows = np.flatnonzero(broken)
    first = evidence.reasons([int(rows[0])])[int(rows[0])]
    yield (
        f"{counted(len(rows), 'row')} could not be scored, such as {_examples(table, broken)}"
        f"{f': {first}' if first else ''}"
    )


def _unscored_cases(table: Table) -> Iterator[str]:
    """Cases of which every row was skipped or is unsupported, in every framework."""
    if not len(table):
        return
    idle = (table.status == SKIPPED) | (table.status == UNSUPPORTED)
    (outputs,) = joint_codes((table.system, table.case, table.epoch))
    lost = ~np.isin(outputs, outputs[~idle])
    if lost.any():
        number = len(np.unique(table.case[lost]))
        yield f"on {counted(number, 'case')} nothing was scored, such as {_examples(table, lost)}"


def _cases_without_rows(evidence: Evidence) -> Iterator[str]:
    """Cases of the golden set that a framework of a loose file has no row of."""
    table = evidence.table
    if not evidence.owed_cases:
        return
    for name in table.framework_names:
        present = {
            table.case_names[code] for code in np.unique(table.case[table.of_framework(name)])
        }
        lacking = sorted(evidence.owed_cases - present)
        if lacking:
            examples = ", ".join(map(repr, lacking[:SHOWN]))
            cases = counted(len(lacking), "case")
            yield f"{name}: no row of {cases} of the suite, such as {examples}"


def _uneven_epochs(evidence: Evidence) -> Iterator[str]:
    """Loose rows of fewer epochs than others have: rows that a time-out or an error took away."""
    table = evidence.table
    for name in table.framework_names:
        rows = table.of_framework(name)
        if name in evidence.owed:
            continue
        groups, counts = _epochs(table, rows)
        few = counts < counts.max()
        if few.any():
            mask = np.zeros(len(table), bool)
            mask[rows] = few[groups]
            number = counted(int(few.sum()), "result")
            yield (
                f"{name}: {number} of fewer than {counts.max()} epochs, "
                f"such as {_examples(table, mask)}"
            )


def _epochs(table: Table, rows: Ints) -> tuple[Ints, Ints]:
    """The group of each row (those that differ in epoch alone), and the epochs of each group."""
    columns = (table.system, table.metric, table.case, table.turn)
    (keys,) = joint_codes([column[rows] for column in columns])
    groups: Ints = np.unique(keys, return_inverse=True)[1]
    (epochs,) = joint_codes((groups, table.epoch[rows]))
    first = np.unique(epochs, return_index=True)[1]
    return groups, np.bincount(groups[first])


def _mixed_stamps(table: Table) -> Iterator[str]:
    """Metrics of which one scorer's rows come from several versions or judges.

    Several scorers under one name are no fault: cases may carry a check of their own.
    """
    for key in sorted(table.stamps):
        _, framework, metric = key
        by_scorer: dict[str, set[str]] = {}
        for stamp in table.stamps[key]:
            version = f"{stamp.scorer_version or '-'} in {framework} {stamp.framework_version}"
            judge = f" by judge {stamp.judge}" if stamp.judge else ""
            by_scorer.setdefault(stamp.scorer, set()).add(f"{version}{judge}".strip())
        for scorer, versions in sorted(by_scorer.items()):
            if len(versions) > 1:
                what = f"{framework}/{metric}: rows of several versions"
                yield f"{what} of {scorer or 'its scorer'}: {'; '.join(sorted(versions))}"


def _examples(table: Table, mask: Mask) -> str:
    rows = np.flatnonzero(mask)[:SHOWN]
    keys = [table.key(int(row)) for row in rows]
    return ", ".join(f"{key.framework}/{key.metric} of case {key.case_id!r}" for key in keys)
