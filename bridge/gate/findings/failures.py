"""The cases behind a verdict, worst first: what became worse, what broke, what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bridge.gate.criteria.regressions import TOLERANCE, Finding
from bridge.gate.intake.align import Series
from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.table import ERROR, FAILED, Floats, Ints, Mask
from bridge.model.policy import GatePolicy
from bridge.model.verdict import NO_MODE, FailedCase, Regression

MOST = 500
"""Most rows listed."""

MODES = 20
"""Most failure modes named in one regression."""

WORST = 50
"""Most cases named in one regression."""

BROKEN, WORSE, FAILING = range(3)
"""Ranks of a row: without a score, worse than in the baseline, failed as before."""


@dataclass(frozen=True, slots=True)
class _Bad:
    """Failed and broken rows as columns of one length.

    Attributes:
        rows: Their numbers in the table.
        owner: The series each is of.
        before: The baseline's mean of its case; NaN where there is none.
        now: Its case's mean; NaN where no row of the case was scored.
    """

    rows: Ints
    owner: Ints
    before: Floats
    now: Floats

    @property
    def drop(self) -> Floats:
        """How much its case fell; 0 where it did not, or that is not known."""
        fell = np.nan_to_num(self.before - self.now)
        return np.where(fell > TOLERANCE, fell, 0.0)


def failed_cases(
    evidence: Evidence,
    series: Sequence[Series],
    findings: Mapping[str, Finding],
    blocking: frozenset[str],
) -> tuple[FailedCase, ...]:
    """Failed and broken rows, worst first.

    Those of the metrics in ``blocking`` come first; within them the errors, then those of the
    cases that fell most, then the others.
    """
    bad = _bad_rows(evidence, series, findings)
    spared = np.array([each.name not in blocking for each in series], bool)[bad.owner]
    worst = [int(index) for index in _worst_first(evidence, bad, spared)[:MOST]]
    reasons = evidence.reasons(int(bad.rows[index]) for index in worst)
    return tuple(
        _failed_case(evidence, series[int(bad.owner[index])].name, bad, index, reasons)
        for index in worst
    )


def _bad_rows(
    evidence: Evidence, series: Sequence[Series], findings: Mapping[str, Finding]
) -> _Bad:
    table = evidence.table
    parts = [each.rows[np.isin(table.status[each.rows], (ERROR, FAILED))] for each in series]
    before: list[Floats] = [np.empty(0)]
    now: list[Floats] = [np.empty(0)]
    for each, rows in zip(series, parts, strict=True):
        means = np.full((2, len(table.case_names)), np.nan)
        means[1, each.codes] = each.values
        if each.name in findings:
            pairing = findings[each.name].pairing
            means[0, pairing.codes] = pairing.before
        before.append(means[0, table.case[rows]])
        now.append(means[1, table.case[rows]])
    return _Bad(
        rows=np.concatenate([np.empty(0, np.int64), *parts]),
        owner=np.repeat(np.arange(len(series)), [len(rows) for rows in parts]),
        before=np.concatenate(before),
        now=np.concatenate(now),
    )


def _worst_first(evidence: Evidence, bad: _Bad, spared: Mask) -> Ints:
    table, rows = evidence.table, bad.rows
    broken = table.status[rows] == ERROR
    rank = np.where(broken, BROKEN, np.where(bad.drop > 0, WORSE, FAILING))
    value = np.nan_to_num(table.value[rows])
    place = (table.turn[rows], table.epoch[rows], bad.owner, table.case[rows])
    return np.lexsort((*place, value, -bad.drop, rank, spared))


def _failed_case(
    evidence: Evidence, name: str, bad: _Bad, index: int, reasons: Mapping[int, str]
) -> FailedCase:
    row = int(bad.rows[index])
    key = evidence.table.key(row)
    known = evidence.cases.get(key.case_id)
    return FailedCase(
        case_id=key.case_id,
        metric=name,
        system=key.system,
        epoch=key.epoch,
        turn=key.turn,
        status="error" if evidence.table.status[row] == ERROR else "failed",
        value=_known(evidence.table.value[row]),
        case_value=_known(bad.now[index]),
        baseline=_known(bad.before[index]),
        reason=reasons.get(row, ""),
        failure_mode=known.failure_mode if known else None,
        where=known.where if known else None,
    )


def _known(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def regressions(
    findings: Mapping[str, Finding], gated: frozenset[str], policy: GatePolicy, evidence: Evidence
) -> Iterator[Regression]:
    """The gated metrics that became worse, with their cases, the largest drops first."""
    for name, finding in findings.items():
        if name in gated and finding.shows_regression(policy):
            yield _regression(name, finding, evidence)


def _regression(name: str, finding: Finding, evidence: Evidence) -> Regression:
    pairing = finding.pairing
    drops = pairing.before - pairing.now
    worse = [pairing.cases[i] for i in np.argsort(-drops, kind="stable") if drops[i] > 0]
    modes = Counter(
        evidence.cases[case].failure_mode or NO_MODE for case in worse if case in evidence.cases
    )
    ordered = sorted(modes.items(), key=lambda item: (-item[1], item[0]))[:MODES]
    return Regression(
        metric=name,
        baseline=pairing.baseline,
        now=pairing.current,
        delta=finding.delta,
        ci_high=finding.interval.high,
        p=finding.p_adjusted,
        cases=tuple(worse[:WORST]),
        failure_modes=dict(ordered),
    )
