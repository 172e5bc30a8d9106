"""Parity: a shared check has the same value and status through every framework."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from bridge.gate.intake.table import ERROR, UNSUPPORTED, Ints, Table, joint_codes
from bridge.model.counted import counted
from bridge.model.score import STATUSES


def parity_faults(
    table: Table, order: Sequence[str], accounted: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Shared checks that differ between frameworks.

    Rows that are errors are counted elsewhere; ``unsupported`` rows never disagree.

    Args:
        table: The rows.
        order: The frameworks; each is held against the first that has the check.
        accounted: Frameworks whose missing rows are counted elsewhere.
    """
    for code, metric in enumerate(table.metric_names):
        sharing = [name for name in order if table.is_shared(name, metric)]
        for other in sharing[1:]:
            pair = [_Side(name, _rows(table, name, code)) for name in (sharing[0], other)]
            fault = _disagreement(table, pair[0], pair[1])
            if fault:
                yield f"{metric} is not the same in {sharing[0]} and {other}: {fault}"
            for own, whole in permutations(pair):
                if own.framework not in accounted:
                    yield from _lacking(table, metric, own, whole)


@dataclass(frozen=True, slots=True)
class _Side:
    framework: str
    rows: Ints


def _rows(table: Table, framework: str, metric: int) -> Ints:
    rows = table.of_framework(framework)
    own: Ints = rows[table.metric[rows] == metric]
    return own


def _keys(table: Table, first: _Side, second: _Side) -> list[Ints]:
    columns = (table.system, table.case, table.epoch, table.turn)
    return joint_codes(*[[column[side.rows] for column in columns] for side in (first, second)])


def _disagreement(table: Table, first: _Side, second: _Side) -> str:
    """How many common rows differ, and one of them; "" if none does."""
    codes, other_codes = _keys(table, first, second)
    _, at_first, at_second = np.intersect1d(codes, other_codes, return_indices=True)
    a, b = first.rows[at_first], second.rows[at_second]
    idle = np.isin(table.status, (ERROR, UNSUPPORTED))
    values = table.value[a], table.value[b]
    equal = (values[0] == values[1]) | (np.isnan(values[0]) & np.isnan(values[1]))
    differ = ~(equal & (table.status[a] == table.status[b])) & ~idle[a] & ~idle[b]
    if not differ.any():
        return ""
    row, other = int(a[differ][0]), int(b[differ][0])
    key = table.key(row)
    turn = "" if key.turn is None else f" turn {key.turn}"
    more = f"; {int(differ.sum())} rows differ" if differ.sum() > 1 else ""
    return f"case {key.case_id!r}{turn} has {_shown(table, row)} and {_shown(table, other)}{more}"


def _lacking(table: Table, metric: str, own: _Side, whole: _Side) -> Iterator[str]:
    """The rows of ``whole`` that ``own`` has not."""
    there, wanted = _keys(table, own, whole)
    lacking = whole.rows[~np.isin(wanted, there)]
    if len(lacking):
        case = table.key(int(lacking[0])).case_id
        yield (
            f"{own.framework}: {counted(len(lacking), 'row')} of {metric} missing that "
            f"{whole.framework} has, such as that of case {case!r}"
        )


def _shown(table: Table, row: int) -> str:
    value = table.value[row]
    status: str = STATUSES[table.status[row]]
    return status if np.isnan(value) else f"{status} {value:.17g}"
