"""Score rows, result files, run directories and verdicts for the tests of the gate."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bridge.files.digest import digest, set_digest
from bridge.gate.baseline import make_baseline
from bridge.gate.decide import decide
from bridge.gate.intake.gather import gather
from bridge.model.baseline import Baseline
from bridge.model.policy import GatePolicy
from bridge.model.verdict import Verdict

Row = dict[str, Any]
OURS: Row = {"scorer": "equals", "scorer_version": "1"}


def row(case_id: str, value: float | None = 1.0, **changes: Any) -> Row:
    """One row of a shared binary check; the status follows from the value."""
    status = "skipped" if value is None else "passed" if value >= 0.5 else "failed"
    return {
        "framework": "core",
        "framework_version": "1.0",
        "metric": "equals",
        **OURS,
        "case_id": case_id,
        "value": value,
        "status": status,
        "threshold": 0.5,
        "reason": f"{case_id} is {value}",
        **changes,
    }


def graded(case_id: str, value: float, **changes: Any) -> Row:
    """One row of a native metric without a threshold."""
    native = {"scorer": "", "scorer_version": "", "threshold": None, "metric": "faithfulness"}
    return row(case_id, value, **{"status": "scored", "framework": "ragas", **native, **changes})


def binary(values: Iterable[float], **changes: Any) -> list[Row]:
    """Rows of cases c000, c001, ... with these values."""
    return [row(f"c{i:03d}", value, **changes) for i, value in enumerate(values)]


def relabelled(name: str, rows: list[Row], **changes: Any) -> list[Row]:
    """The same rows through another framework."""
    return [{**each, "framework": name, **changes} for each in rows]


def falling(lost: int, kept: int, gained: int = 0) -> tuple[list[Row], list[Row]]:
    """Rows before and now in which so many cases were lost, kept and gained."""
    before = [1.0] * (lost + kept) + [0.0] * gained
    now = [0.0] * lost + [1.0] * (kept + gained)
    return binary(before), binary(now)


def write_scores(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """A scores file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in rows), encoding="utf-8")
    return path


def write_run(
    folder: Path,
    rows: Mapping[str, Sequence[Row]],
    *,
    gate: Mapping[str, Any] | None = None,
    judges: Mapping[str, Any] | None = None,
    owed: Sequence[Row] | None = None,
    cases: Mapping[str, Mapping[str, Any]] | None = None,
    checks: Sequence[Any] = ("equals",),
    **record: Any,
) -> Path:
    """A run directory.

    Args:
        folder: Where it goes.
        rows: Those of each framework's scores file, in the suite's order.
        gate: The suite's gate policy.
        judges: The suite's judges.
        owed: The rows owed in every framework; those of the first framework if left out.
        cases: What ``rows.jsonl`` says of a case besides: digest, tags, failure mode.
        checks: The suite's checks.
        record: Changes to ``run.json``.
    """
    expected = owed if owed is not None else next(iter(rows.values()))
    lines = _expected_rows(expected, cases or {})
    digests = {line["case_id"]: line["digest"] for line in lines}
    suite = {
        "name": "small",
        "golden_set": "cases.jsonl",
        "system": {"recorded": "outputs.jsonl"},
        "frameworks": list(rows),
        "checks": list(checks),
        "judges": dict(judges or {}),
        "gate": dict(gate or {}),
    }
    whole = {
        "suite": suite,
        "suite_path": str(folder / "bridge.yaml"),
        "status": "complete",
        "created": "2026-01-01T00:00:00+00:00",
        "bridge_version": "0",
        "python_version": "3.11",
        "golden_digest": set_digest(digests.values()),
        "metrics": {
            each["metric"]: {
                "scorer": each["scorer"],
                "version": each["scorer_version"],
                "threshold": each["threshold"],
                "params_digest": "p",
            }
            for each in expected
        },
        "frameworks": [{"name": name, "version": "1.0"} for name in rows],
        **record,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(whole), encoding="utf-8")
    write_scores(folder / "rows.jsonl", lines)
    for name, own in rows.items():
        write_scores(folder / "scores" / f"{name}.jsonl", own)
    return folder


def _expected_rows(rows: Iterable[Row], cases: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    found: dict[tuple[str, str, int], Row] = {}
    for each in rows:
        system, epoch = each.get("system", "default"), each.get("epoch", 1)
        case_id = each["case_id"]
        line = found.setdefault(
            (system, case_id, epoch),
            {
                "system": system,
                "case_id": case_id,
                "epoch": epoch,
                "digest": digest(case_id),
                "where": f"cases.jsonl:{case_id}",
                "rows": [],
                **cases.get(case_id, {}),
            },
        )
        line["rows"].append([each["metric"], each.get("turn")])
    return list(found.values())


def verdict(
    *sources: Path,
    policy: Mapping[str, Any] | None = None,
    baseline: Baseline | Path | None = None,
    system: str | None = None,
) -> Verdict:
    """The verdict on sources; a baseline given as a path is made of what lies there."""
    evidence = gather(sources)
    if isinstance(baseline, Path):
        baseline = make_baseline(gather([baseline]), system)
    if policy is None and evidence.records:
        decided_by = evidence.records[0].suite.gate
    else:
        decided_by = GatePolicy.model_validate(policy or {})
    suite = evidence.records[0].suite.name if evidence.records else ""
    return decide(evidence, decided_by, baseline, system=system, suite=suite)


def compare(
    folder: Path,
    before: Sequence[Row],
    now: Sequence[Row],
    **policy: Any,
) -> Verdict:
    """The verdict on loose rows against a baseline of loose rows."""
    old, new = folder / "before.jsonl", folder / "now.jsonl"
    return verdict(write_scores(new, now), policy=policy, baseline=write_scores(old, before))


def reasons(found: Verdict) -> str:
    """All reasons as one text."""
    return "\n".join(found.reasons)
