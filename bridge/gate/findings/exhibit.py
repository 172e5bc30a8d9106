"""The cases behind a verdict, with answers and values, as a report shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from bridge.gate.findings.shown import answers, asked, expected
from bridge.gate.intake.align import Series, series_of
from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.table import ERROR, FAILED, PASSED, SCORED, SKIPPED, UNSUPPORTED, Ints
from bridge.model.baseline import Baseline
from bridge.model.bundle import Bundle
from bridge.model.exhibit import Exhibit, ShownCase, ShownMetric
from bridge.model.score import STATUSES

SEVERITY = (UNSUPPORTED, SKIPPED, SCORED, PASSED, FAILED, ERROR)
"""Statuses, worst last: a case with several rows is shown by its worst."""

MOST_REASONS = 20_000
"""Most reasons of one metric that are looked up."""


def make_exhibit(
    evidence: Evidence,
    baseline: Baseline | None = None,
    now: Bundle | None = None,
    before: Bundle | None = None,
    *,
    system: str | None = None,
) -> Exhibit:
    """What stands behind a verdict on the same evidence.

    Args:
        evidence: Rows and their background.
        baseline: The accepted values.
        now: Cases and answers of the evidence, as far as they are known.
        before: Answers of the run compared with.
        system: The system shown, where the rows hold several.

    Raises:
        InputError: If the system is not clear.
    """
    evidence = evidence.of_system(system)
    series = series_of(evidence.table, evidence.order)
    return Exhibit(
        cases=tuple(_cases(evidence, now or Bundle(), before or Bundle())),
        metrics=tuple(_metric(evidence, each, baseline) for each in series),
    )


def _cases(evidence: Evidence, now: Bundle, before: Bundle) -> Iterator[ShownCase]:
    system = evidence.table.system_names[0]
    by_id = {case.id: case for case in now.cases}
    given = answers(output for output in now.outputs if output.system == system)
    earlier = answers(before.outputs)
    for case_id in evidence.table.case_names:
        case, known = by_id.get(case_id), evidence.cases.get(case_id)
        told = known or case
        yield ShownCase(
            id=case_id,
            input=asked(case) if case else "",
            expected=expected(case) if case else "",
            now=given.get(case_id, ""),
            before=earlier.get(case_id),
            tags=told.tags if told else (),
            failure_mode=told.failure_mode if told else None,
            where=known.where if known else None,
        )


def _metric(evidence: Evidence, series: Series, baseline: Baseline | None) -> ShownMetric:
    size = len(evidence.table.case_names)
    now: list[float | None] = [None] * size
    for code, value in zip(series.codes.tolist(), series.values.tolist(), strict=True):
        now[code] = value
    accepted = baseline.scores.get(series.name) if baseline is not None else None
    per_case = accepted if isinstance(accepted, Mapping) else {}
    return ShownMetric(
        name=series.name,
        framework=series.framework,
        now=now,
        before=[per_case.get(case) for case in evidence.table.case_names],
        status=_worst_statuses(evidence, series.rows, size),
        reasons=_reasons(evidence, series.rows),
    )


def _worst_statuses(evidence: Evidence, rows: Ints, size: int) -> list[str]:
    rank = np.argsort(SEVERITY)
    worst = np.full(size, -1, np.int64)
    np.maximum.at(worst, evidence.table.case[rows], rank[evidence.table.status[rows]])
    return [STATUSES[SEVERITY[each]] if each >= 0 else "" for each in worst.tolist()]


def _reasons(evidence: Evidence, rows: Ints) -> dict[int, str]:
    """The reasons of failed and broken rows, by case; those of several rows on a line each."""
    table = evidence.table
    bad = rows[np.isin(table.status[rows], (ERROR, FAILED))][:MOST_REASONS]
    found: dict[int, str] = {}
    for row, text in evidence.reasons(bad.tolist()).items():
        turn = int(table.turn[row])
        line = text if turn < 0 else f"turn {turn}: {text}"
        case = int(table.case[row])
        found[case] = f"{found[case]}\n{line}" if case in found else line
    return found
