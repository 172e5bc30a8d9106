"""Rows to series: one value a case and gated name, and parity between frameworks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bridge.gate.table import (
    ERROR,
    FAILED,
    PASSED,
    SKIPPED,
    UNSUPPORTED,
    Floats,
    Ints,
    Stamp,
    Table,
)
from bridge.model.errors import InputError
from bridge.model.score import STATUSES

CORE = "core"
"""The framework whose rows of a shared check are gated, where it ran."""


@dataclass(frozen=True, slots=True)
class Series:
    """One gated name with its cases.

    Attributes:
        name: ``metric`` for a shared check, ``framework/metric`` for a native one.
        framework: Whose rows these are.
        cases: Ids of the scored cases, sorted.
        values: Mean value of each case over its epochs and turns; shape (n,).
        binary: Whether every row is 0 or 1 and every case has one row.
        passed: Rows passed.
        failed: Rows failed.
        errors: Rows with an error.
        skipped: Rows skipped.
        unsupported: Rows the framework cannot score.
        thresholded: Whether any row has a threshold.
        rows: Numbers of the rows in the table.
        stamp: What the values depend on.
    """

    name: str
    metric: str
    framework: str
    cases: tuple[str, ...]
    values: Floats
    binary: bool
    passed: int
    failed: int
    errors: int
    skipped: int
    unsupported: int
    thresholded: bool
    rows: Ints
    stamp: Stamp

    @property
    def mean(self) -> float | None:
        """Mean over cases."""
        return float(self.values.mean()) if len(self.values) else None

    @property
    def pass_rate(self) -> float | None:
        """Share of passed rows, of those with a verdict."""
        decided = self.passed + self.failed
        return self.passed / decided if decided else None


def is_shared(stamp: Stamp) -> bool:
    """Whether a metric is a shared check: its scorer is ours and carries a version."""
    return bool(stamp.scorer_version)


def one_system(table: Table, system: str | None) -> str:
    """The system to decide on.

    Raises:
        InputError: If there are several and none is named, or the named one is not there.
    """
    names = list(table.system_names)
    if system is not None:
        if system not in names:
            raise InputError(f"no system {system!r}", fix=f"use one of {', '.join(names)}")
        return system
    if len(names) > 1:
        raise InputError(
            f"several systems in one result: {', '.join(names)}", fix="name one with --system"
        )
    return names[0]


def series_of(table: Table, system: str) -> list[Series]:
    """The gated names of a system: a shared check once, a native metric a framework."""
    own = table.system == table.system_names.index(system)
    found: dict[str, Series] = {}
    for series in _all_series(table, own):
        first = found.get(series.name)
        if first is None or (series.framework == CORE and first.framework != CORE):
            found[series.name] = series
    return [found[name] for name in sorted(found)]


def _all_series(table: Table, own: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Iterator[Series]:
    rows = np.flatnonzero(own)
    for framework in np.unique(table.framework[rows]):
        of_framework = rows[table.framework[rows] == framework]
        for metric in np.unique(table.metric[of_framework]):
            yield _series(table, of_framework[table.metric[of_framework] == metric])


def _series(table: Table, rows: Ints) -> Series:
    framework = table.framework_names[table.framework[rows[0]]]
    metric = table.metric_names[table.metric[rows[0]]]
    stamp = min(table.stamps[framework, metric], key=str)
    status, value = table.status[rows], table.value[rows]
    valued = ~np.isnan(value)
    cases, values, largest = _case_means(table.case[rows][valued], value[valued])
    return Series(
        name=metric if is_shared(stamp) else f"{framework}/{metric}",
        metric=metric,
        framework=framework,
        cases=tuple(table.case_names[code] for code in cases),
        values=values,
        binary=largest == 1 and bool(np.isin(value[valued], (0.0, 1.0)).all()),
        passed=int((status == PASSED).sum()),
        failed=int((status == FAILED).sum()),
        errors=int((status == ERROR).sum()),
        skipped=int((status == SKIPPED).sum()),
        unsupported=int((status == UNSUPPORTED).sum()),
        thresholded=bool((~np.isnan(table.threshold[rows])).any()),
        rows=rows,
        stamp=stamp,
    )


def _case_means(cases: Ints, values: Floats) -> tuple[Ints, Floats, int]:
    """Mean value of each case, and the largest number of rows of one case."""
    if not len(cases):
        return cases, values, 0
    unique, starts, counts = np.unique(cases, return_index=True, return_counts=True)
    return unique, np.add.reduceat(values, starts) / counts, int(counts.max())


def mixed_stamps(table: Table) -> list[str]:
    """Metrics whose rows come from several versions of a scorer, framework or judge."""
    return [
        f"{framework}/{metric}: rows of several versions ({', '.join(sorted(map(str, stamps)))})"
        for (framework, metric), stamps in sorted(table.stamps.items())
        if len(stamps) > 1
    ]


def parity_faults(table: Table, names: Sequence[str] = ()) -> list[str]:
    """Shared checks that differ between frameworks in value or status.

    Rows that are errors are counted elsewhere; ``unsupported`` rows never disagree.
    """
    frameworks = list(names or table.framework_names)
    faults = []
    for metric_code, metric in enumerate(table.metric_names):
        sharing = [f for f in frameworks if _is_shared_in(table, f, metric)]
        for other in sharing[1:]:
            fault = _disagreement(table, metric_code, sharing[0], other)
            if fault:
                faults.append(f"{metric} is not the same in {sharing[0]} and {other}: {fault}")
    return faults


def _is_shared_in(table: Table, framework: str, metric: str) -> bool:
    return any(is_shared(stamp) for stamp in table.stamps.get((framework, metric), ()))


def _disagreement(table: Table, metric: int, first: str, second: str) -> str:
    sides = []
    for framework in (first, second):
        rows = np.flatnonzero(
            (table.framework == table.framework_names.index(framework))
            & (table.metric == metric)
            & (table.status != ERROR)
            & (table.status != UNSUPPORTED)
        )
        keys = zip(
            table.system[rows], table.case[rows], table.epoch[rows], table.turn[rows], strict=True
        )
        sides.append(dict(zip(keys, rows, strict=True)))
    for key, row in sides[0].items():
        other = sides[1].get(key)
        if other is not None and not _same(table, int(row), int(other)):
            case = table.case_names[key[1]]
            return f"case {case!r} has {_shown(table, int(row))} and {_shown(table, int(other))}"
    return ""


def _same(table: Table, row: int, other: int) -> bool:
    values = table.value[row], table.value[other]
    equal = values[0] == values[1] or (np.isnan(values[0]) and np.isnan(values[1]))
    return bool(equal and table.status[row] == table.status[other])


def _shown(table: Table, row: int) -> str:
    value = table.value[row]
    status: str = STATUSES[table.status[row]]
    return status if np.isnan(value) else f"{status} {value:g}"
