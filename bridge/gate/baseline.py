"""A run's accepted values, to be committed and compared with."""

from __future__ import annotations

from datetime import UTC, datetime

from bridge.gate.align import Series, one_system, series_of
from bridge.gate.complete import faults
from bridge.gate.evidence import Evidence
from bridge.model.baseline import Baseline
from bridge.model.errors import InputError
from bridge.model.run import MetricRecord


def make_baseline(evidence: Evidence, system: str | None = None) -> Baseline:
    """The baseline of a body of evidence.

    Raises:
        InputError: If its rows cannot be trusted, for then nothing can be compared with them.
    """
    broken = faults(evidence)
    if broken:
        raise InputError(
            f"no baseline of rows that cannot be trusted: {broken[0]}", fix="run again"
        )
    system = one_system(evidence.table, system)
    series = series_of(evidence.table, system)
    record = evidence.records[0] if evidence.records else None
    return Baseline(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        suite=record.suite.name if record else "",
        system=system,
        golden_digest=record.golden_digest if record else "",
        cases={case_id: row.digest for case_id, row in sorted(evidence.cases.items())},
        metrics={each.name: _metric(evidence, each) for each in series},
        frameworks={each.name: each.version for each in evidence.frameworks if each.version},
        scores={
            each.name: dict(zip(each.cases, each.values.tolist(), strict=True))
            for each in series
            if each.cases
        },
    )


def _metric(evidence: Evidence, series: Series) -> MetricRecord:
    known = evidence.metrics.get(series.metric)
    if known is not None and known.version == series.stamp.scorer_version:
        return known
    stamp = series.stamp
    return MetricRecord(scorer=stamp.scorer, version=stamp.scorer_version, judge=stamp.judge)
