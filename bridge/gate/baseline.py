"""A run's accepted values, to be committed and compared with."""

from __future__ import annotations

from bridge.gate.criteria.budgets import READ, spent_by_case
from bridge.gate.intake.align import Series, series_of
from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.table import Table
from bridge.gate.trust.complete import faults
from bridge.model.baseline import Baseline
from bridge.model.errors import InputError
from bridge.model.policy import Reducer
from bridge.model.run import MetricRecord


def make_baseline(
    evidence: Evidence,
    system: str | None = None,
    created: str = "",
    epochs: Reducer | None = None,
) -> Baseline:
    """The baseline of a body of evidence.

    Args:
        evidence: Rows and their background.
        system: The system to take, where the rows hold several.
        created: The time, ISO 8601 in UTC.
        epochs: How several epochs become one value; as the run's own policy says if left out.

    Raises:
        InputError: If its rows cannot be trusted, for then nothing can be compared with them.
    """
    evidence = evidence.of_system(system)
    broken = faults(evidence)
    if broken:
        raise InputError(
            f"no baseline of rows that cannot be trusted: {broken[0]}", fix="run again"
        )
    record = evidence.records[0] if len(evidence.records) == 1 else None
    reducer = epochs or (record.suite.gate.epochs if record else "mean")
    found = series_of(evidence.table, evidence.order, epochs=reducer)
    series = [each for each in found if each.cases]
    return Baseline(
        created=created,
        suite=record.suite.name if record else "",
        system=evidence.table.system_names[0],
        golden_digest=record.golden_digest if record else "",
        cases={case: row.digest for case, row in sorted(evidence.cases.items()) if row.digest},
        metrics={each.name: _metric(evidence, each) for each in series},
        frameworks=_versions(evidence.table),
        judges=dict(sorted(evidence.judges.items())),
        epochs=reducer,
        spent=_spent(evidence),
        scores={
            each.name: dict(zip(each.cases, each.values.tolist(), strict=True)) for each in series
        },
    )


def _spent(evidence: Evidence) -> dict[str, dict[str, float]]:
    answers = evidence.spent.get(evidence.table.system_names[0], {})
    found: dict[str, dict[str, float]] = {name: spent_by_case(answers, name) for name in READ}
    return {name: values for name, values in found.items() if values}


def _metric(evidence: Evidence, series: Series) -> MetricRecord:
    """What scored a metric: its rows say so; the run adds what they do not hold."""
    stamp = series.stamp
    scored = {"scorer": stamp.scorer, "version": stamp.scorer_version, "judge": stamp.judge}
    known = evidence.metrics.get(series.metric)
    return known.model_copy(update=scored) if known is not None else MetricRecord(**scored)


def _versions(table: Table) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for (_, framework, _), stamps in table.stamps.items():
        found.setdefault(framework, set()).update(stamp.framework_version for stamp in stamps)
    return {name: "+".join(sorted(versions)) for name, versions in sorted(found.items())}
