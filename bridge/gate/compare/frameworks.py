"""Framework against framework: how far they agree, and the rows on which they do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bridge.gate.criteria.regressions import TOLERANCE
from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.table import FAILED, PASSED, Floats, Ints, Mask, joint_codes
from bridge.gate.trust.complete import faults
from bridge.model.comparison import Comparison, Disagreement, MetricAgreement
from bridge.model.errors import InputError
from bridge.model.score import STATUSES
from bridge.stats import bland_altman, cohen_kappa, raw_agreement, spearman

MOST = 200
"""Most disagreements listed."""


@dataclass(frozen=True, slots=True)
class _Common:
    """The rows of one metric that both frameworks scored; columns of one length."""

    metric: str
    rows: tuple[Ints, Ints]
    values: tuple[Floats, Floats]
    statuses: tuple[Ints, Ints]

    @property
    def judged(self) -> Mask:
        """Rows that both passed or failed."""
        first, second = (np.isin(statuses, (PASSED, FAILED)) for statuses in self.statuses)
        both: Mask = first & second
        return both

    @property
    def flipped(self) -> Mask:
        """Rows that one passed and the other failed."""
        flipped: Mask = self.judged & (self.statuses[0] != self.statuses[1])
        return flipped


def compare_frameworks(evidence: Evidence, first: str, second: str) -> Comparison:
    """Hold two frameworks against each other, row by row.

    Args:
        evidence: Rows of one system.
        first: Name of a framework.
        second: Name of the other.

    Raises:
        InputError: If one has no row, or they scored no row of one metric both.
    """
    for name in (first, second):
        if name not in evidence.table.framework_names:
            known = ", ".join(evidence.table.framework_names)
            raise InputError(f"no row of framework {name!r}", fix=f"the frameworks are: {known}")
    common = list(_common(evidence, first, second))
    if not common:
        raise InputError(f"{first} and {second} share no scored row", fix="run both on one suite")
    found = [each for pair in common for each in _disagreements(evidence, pair)]
    found.sort(key=_worst_first)
    return Comparison(
        kind="frameworks",
        names=(first, second),
        notes=tuple(faults(evidence)),
        agreement={pair.metric: _agreement(pair) for pair in common},
        disagreements=tuple(_told(evidence, found[:MOST])),
        more=max(0, len(found) - MOST),
    )


def _common(evidence: Evidence, first: str, second: str) -> Iterator[_Common]:
    table = evidence.table
    sides = [table.of_framework(name) for name in (first, second)]
    for number, metric in enumerate(table.metric_names):
        own = [
            rows[(table.metric[rows] == number) & ~np.isnan(table.value[rows])] for rows in sides
        ]
        columns = (table.case, table.epoch, table.turn)
        first_codes, codes = joint_codes(*[[column[rows] for column in columns] for rows in own])
        _, left, right = np.intersect1d(first_codes, codes, return_indices=True)
        if len(left):
            rows = (own[0][left], own[1][right])
            values = (table.value[rows[0]], table.value[rows[1]])
            yield _Common(metric, rows, values, (table.status[rows[0]], table.status[rows[1]]))


def _agreement(pair: _Common) -> MetricAgreement:
    judged = pair.judged
    verdicts = [(statuses[judged] == PASSED).tolist() for statuses in pair.statuses]
    spread = bland_altman(*pair.values)
    return MetricAgreement(
        n=len(pair.values[0]),
        first=float(np.mean(pair.values[0])),
        second=float(np.mean(pair.values[1])),
        agreement=raw_agreement(*verdicts),
        kappa=cohen_kappa(*verdicts),
        spearman=spearman(*pair.values),
        bias=spread.mean_difference,
        low=spread.low,
        high=spread.high,
        flipped=int(pair.flipped.sum()),
    )


def _disagreements(evidence: Evidence, pair: _Common) -> Iterator[tuple[Disagreement, int, int]]:
    """Rows with another value or verdict, each with its numbers in the table."""
    table = evidence.table
    differ = pair.flipped | (np.abs(pair.values[0] - pair.values[1]) > TOLERANCE)
    for place in np.flatnonzero(differ).tolist():
        rows = (int(pair.rows[0][place]), int(pair.rows[1][place]))
        key = table.key(rows[0])
        known = evidence.cases.get(key.case_id)
        yield (
            Disagreement(
                case_id=key.case_id,
                metric=pair.metric,
                epoch=key.epoch,
                turn=key.turn,
                values=(float(pair.values[0][place]), float(pair.values[1][place])),
                statuses=(STATUSES[table.status[rows[0]]], STATUSES[table.status[rows[1]]]),
                where=known.where if known else None,
            ),
            *rows,
        )


def _worst_first(found: tuple[Disagreement, int, int]) -> tuple[bool, float, int]:
    row = found[0]
    return (row.statuses[0] == row.statuses[1], -abs(row.values[1] - row.values[0]), found[1])


def _told(evidence: Evidence, found: list[tuple[Disagreement, int, int]]) -> Iterator[Disagreement]:
    reasons = evidence.reasons(row for _, *rows in found for row in rows)
    for row, first, second in found:
        told = (reasons.get(first, ""), reasons.get(second, ""))
        yield row.model_copy(update={"reasons": told})
