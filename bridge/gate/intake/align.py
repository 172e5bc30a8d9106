"""Rows to series: one value a case and gated name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bridge.gate.intake.epochs import case_values
from bridge.gate.intake.table import (
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
from bridge.model.policy import Reducer

Clusters = Mapping[str, str]
"""The cluster of each case, by id; a case that is not there is one of its own."""


@dataclass(frozen=True, slots=True)
class Series:
    """One gated name with its cases.

    Attributes:
        name: ``metric`` for a shared check, ``framework/metric`` for a native one.
        metric: The metric.
        framework: Whose rows these are.
        cases: Ids of the scored cases, sorted.
        codes: Their numbers in the table.
        values: Value of each case: the mean over its turns, reduced over its epochs; shape (n,).
        binary: Whether every row is 0 or 1 and every case has one row.
        passed: Rows passed.
        failed: Rows failed.
        errors: Rows with an error.
        skipped: Rows skipped.
        unsupported: Rows the framework cannot score.
        thresholded: Whether any row has a threshold.
        rows: Numbers of the rows in the table.
        stamp: What the values depend on; of several scorers, all joined by ``+``.
        clusters: The cluster of each case; ``None`` where every case is one of its own.
    """

    name: str
    metric: str
    framework: str
    cases: tuple[str, ...]
    codes: Ints
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
    clusters: tuple[str, ...] | None = None

    @property
    def mean(self) -> float | None:
        """Mean over cases, correctly rounded."""
        return math.fsum(self.values.tolist()) / len(self.values) if len(self.values) else None

    @property
    def decided(self) -> int:
        """Rows that passed or failed."""
        return self.passed + self.failed

    @property
    def pass_rate(self) -> float | None:
        """Share of passed rows, of those with a verdict."""
        return self.passed / self.decided if self.decided else None

    @property
    def idle(self) -> bool:
        """Whether a framework can score none of it."""
        return self.unsupported == len(self.rows)


def series_of(
    table: Table,
    order: Sequence[str],
    *,
    epochs: Reducer = "mean",
    clusters: Clusters | None = None,
) -> list[Series]:
    """The gated names of one system, sorted: a shared check once, a native metric a framework.

    Args:
        table: Rows of one system.
        order: The frameworks; a shared check is taken from the first of them that can score it.
        epochs: How the values of a case over several epochs become one.
        clusters: Cases that belong together.

    Raises:
        InputError: If a shared check bears the name of a native metric.
    """
    found: dict[str, Series] = {}
    for series in _all_series(table, order, epochs, clusters):
        first = found.setdefault(series.name, series)
        if first.metric != series.metric:
            raise InputError(
                f"{series.name!r} is both a shared check and a native metric",
                fix="give the check another name (metric:)",
            )
        if first.idle and not series.idle:
            found[series.name] = series
    return [found[name] for name in sorted(found)]


def _all_series(
    table: Table, order: Sequence[str], epochs: Reducer, clusters: Clusters | None
) -> Iterator[Series]:
    for framework in order:
        rows = table.of_framework(framework)
        for metric in np.unique(table.metric[rows]):
            yield _series(table, rows[table.metric[rows] == metric], epochs, clusters)


def _series(table: Table, rows: Ints, epochs: Reducer, clusters: Clusters | None) -> Series:
    framework = table.framework_names[table.framework[rows[0]]]
    metric = table.metric_names[table.metric[rows[0]]]
    status, value = table.status[rows], table.value[rows]
    valued = ~np.isnan(value)
    codes, values, largest = case_values(table, rows[valued], epochs)
    cases = tuple(map(table.case_names.__getitem__, codes.tolist()))
    return Series(
        name=metric if table.is_shared(framework, metric) else f"{framework}/{metric}",
        metric=metric,
        framework=framework,
        cases=cases,
        codes=codes,
        values=values,
        binary=largest == 1 and bool(np.isin(value[valued], (0.0, 1.0)).all()),
        passed=int((status == PASSED).sum()),
        failed=int((status == FAILED).sum()),
        errors=int((status == ERROR).sum()),
        skipped=int((status == SKIPPED).sum()),
        unsupported=int((status == UNSUPPORTED).sum()),
        thresholded=bool((~np.isnan(table.threshold[rows])).any()),
        rows=rows,
        stamp=_joined(table.stamps_of(framework, metric)),
        clusters=None if clusters is None else tuple(clusters.get(case, case) for case in cases),
    )


def _joined(stamps: frozenset[Stamp]) -> Stamp:
    """Several stamps as one, so that a scorer added, dropped or changed shows."""
    kinds = sorted({(stamp.scorer, stamp.scorer_version) for stamp in stamps})
    judges = sorted({stamp.judge for stamp in stamps if stamp.judge is not None})
    versions = sorted({stamp.framework_version for stamp in stamps})
    return Stamp(
        "+".join(scorer for scorer, _ in kinds),
        "+".join(version for _, version in kinds),
        "+".join(versions),
        "+".join(judges) or None,
    )
