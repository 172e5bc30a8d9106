"""What a run says of itself, for ``run.json``."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from bridge.execution.assemble import Assembly
from bridge.execution.jobs import Ending
from bridge.execution.plan import Plan
from bridge.files.digest import digest, set_digest
from bridge.model.check import Check
from bridge.model.output import Output
from bridge.model.run import (
    ExpectedRows,
    FrameworkRecord,
    GoldenSetRecord,
    MetricRecord,
    RunRecord,
)
from bridge.scorers.evaluate import threshold_of, version_of
from bridge.scorers.registry import judges_of


def opening(plan: Plan) -> RunRecord:
    """The record of a run that has just begun."""
    return RunRecord(
        suite=plan.suite,
        suite_path=str(plan.path),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        bridge_version=metadata.version("bridge-evals"),
        python_version=platform.python_version(),
    )


def known(
    record: RunRecord,
    plan: Plan,
    outputs: Sequence[Output],
    expected: Sequence[ExpectedRows],
    notes: Iterable[str],
) -> RunRecord:
    """The record once outputs are there and the rows owed are known."""
    digests = {rows.case_id: rows.digest for rows in expected}
    sets: dict[Path, list[str]] = {}
    for case in plan.cases:
        sets.setdefault(plan.golden.places[case.id][0], []).append(digests[case.id])
    return record.model_copy(
        update={
            "golden_sets": tuple(
                GoldenSetRecord(path=str(path), cases=len(each), digest=set_digest(each))
                for path, each in sets.items()
            ),
            "golden_digest": set_digest(digests.values()),
            "metrics": metric_records(plan),
            "systems": tuple(dict.fromkeys(output.system for output in outputs)),
            "epochs": max(output.epoch for output in outputs),
            "notes": (*plan.golden.notes(), *notes),
        }
    )


def metric_records(plan: Plan) -> dict[str, MetricRecord]:
    """Every metric; the suite's checks with the digest of what their values depend on.

    Checks that only cases have are part of the case, whose own digest covers them.
    """
    records = {check.metric: _metric(check, _digest(check)) for check in plan.suite.checks}
    for case in plan.cases:
        for check in case.all_checks:
            if check.metric not in records:
                records[check.metric] = _metric(check, "")
    return records


def _metric(check: Check, params_digest: str) -> MetricRecord:
    return MetricRecord(
        scorer=check.scorer,
        version=version_of(check),
        threshold=threshold_of(check),
        gate=check.gate,
        judge=check.judge_name,
        judges=tuple(sorted(judges_of(check))),
        params_digest=params_digest,
    )


def _digest(check: Check) -> str:
    """What the values of a check depend on, beside its scorer's version."""
    members = [
        {
            "scorer": member.scorer,
            "weight": member.weight,
            "threshold": member.threshold,
            "digest": _digest(member),
        }
        for member in check.checks
    ]
    panel = {} if check.judges is None else {"judges": check.judges.model_dump(mode="json")}
    return digest({"params": check.params, "negate": check.negate, "all": members, **panel})


def framework_record(
    name: str,
    times: Sequence[tuple[float, float]],
    endings: Sequence[Ending],
    notes: Iterable[str],
    assembly: Assembly,
) -> FrameworkRecord:
    """What one framework did; ``times`` are (start, end) of its jobs, 0 where it has none."""
    notes = list(notes)
    if assembly.unexpected:
        notes.append(f"{assembly.unexpected} rows that nobody asked for were left out")
    starts = [start for start, _ in times if start]
    ends = [end for _, end in times if end]
    return FrameworkRecord(
        name=name,
        version=next((ending.version for ending in endings if ending.version), ""),
        rows=assembly.rows,
        errors=assembly.errors,
        jobs=len(times),
        cpu_s=round(sum(ending.cpu_s for ending in endings), 3),
        wall_s=round(max(ends) - min(starts), 3) if starts and ends else 0.0,
        peak_rss_mb=max((ending.peak_rss_mb for ending in endings), default=0.0),
        routes=tuple(ending.route for ending in endings if ending.route),
        notes=tuple(dict.fromkeys(notes)),
    )
