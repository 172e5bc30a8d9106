"""The cases behind a verdict, worst first: what became worse, what broke, what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bridge.gate.align import Series
from bridge.gate.evidence import Evidence
from bridge.gate.regressions import Finding
from bridge.gate.table import ERROR, FAILED
from bridge.model.verdict import FailedCase

MOST = 500
"""Most cases listed."""


def failed_cases(
    evidence: Evidence, series: Sequence[Series], findings: Mapping[str, Finding]
) -> tuple[FailedCase, ...]:
    """Failed and broken rows of the gated series: regressions first, then errors, then others."""
    found = [
        _failed_case(evidence, each, int(row), _before(findings.get(each.name)))
        for each in series
        for row in each.rows[np.isin(evidence.table.status[each.rows], (ERROR, FAILED))]
    ]
    found.sort(key=lambda case: (_rank(case), case.value or 0.0, case.case_id, case.metric))
    return tuple(found[:MOST])


def _rank(case: FailedCase) -> int:
    if case.baseline is not None and (case.value or 0.0) < case.baseline:
        return 0
    return 1 if case.status == "error" else 2


def _before(finding: Finding | None) -> dict[str, float]:
    if finding is None:
        return {}
    return dict(zip(finding.pairing.cases, finding.pairing.before.tolist(), strict=True))


def _failed_case(
    evidence: Evidence, series: Series, row: int, before: Mapping[str, float]
) -> FailedCase:
    table = evidence.table
    key = table.key(row)
    value = float(table.value[row])
    known = evidence.cases.get(key.case_id)
    return FailedCase(
        case_id=key.case_id,
        metric=series.name,
        system=key.system,
        epoch=key.epoch,
        turn=key.turn,
        status="error" if table.status[row] == ERROR else "failed",
        value=None if np.isnan(value) else value,
        baseline=before.get(key.case_id),
        reason=table.reasons.get(row, ""),
        failure_mode=known.failure_mode if known else None,
        where=known.where if known else None,
    )
