"""Cases that must pass, whatever the means say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bridge.gate.intake.align import Series
from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.table import FAILED, PASSED, Ints
from bridge.model.errors import InputError

TAG = "tag:"


@dataclass(frozen=True, slots=True)
class MustPass:
    """What became of the must-pass cases, one reason a case.

    Attributes:
        failures: Cases with a failed row.
        errors: Cases without any row that passed or failed: nothing says that they pass.
    """

    failures: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


def must_pass(names: Sequence[str], evidence: Evidence, gated: Sequence[Series]) -> MustPass:
    """Hold cases, by id or ``tag:NAME``, to passing in every gated metric.

    Raises:
        InputError: If a name is that of no case.
    """
    wanted = {case: None for name in names for case in sorted(_cases_of(name, evidence))}
    if not wanted:
        return MustPass()
    table = evidence.table
    rows: Ints = np.concatenate([np.empty(0, np.int64), *(each.rows for each in gated)])
    codes = [code for code, case in enumerate(table.case_names) if case in wanted]
    rows = rows[np.isin(table.case[rows], codes)]
    passed = _metrics_by_case(evidence, rows[table.status[rows] == PASSED])
    failed = _metrics_by_case(evidence, rows[table.status[rows] == FAILED])
    return MustPass(
        failures=tuple(
            f"must-pass case {case!r} failed {', '.join(failed[case])}"
            for case in wanted
            if case in failed
        ),
        errors=tuple(
            f"must-pass case {case!r} has no row that passed: nothing decides it"
            for case in wanted
            if case not in failed and case not in passed
        ),
    )


def _cases_of(name: str, evidence: Evidence) -> set[str]:
    known = {*evidence.table.case_names, *evidence.cases}
    found = {name} & known
    if name.startswith(TAG):
        tag = name.removeprefix(TAG)
        found |= {case for case, row in evidence.cases.items() if tag in row.tags}
    if not found:
        raise InputError(
            f"gate: must_pass names {name!r}, and no case has that id or tag",
            fix="mend must_pass, or name the golden set by --suite",
        )
    return found


def _metrics_by_case(evidence: Evidence, rows: Ints) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        key = evidence.table.key(int(row))
        metrics = found.setdefault(key.case_id, [])
        if key.metric not in metrics:
            metrics.append(key.metric)
    return found
