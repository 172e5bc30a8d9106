"""Rows of a run beside people's labels: ``bridge calibrate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.files.jsonl import read_models
from bridge.files.labels import read_labels
from bridge.gate.calibration.labelled import Labelled, Numbered, Place, label_rows
from bridge.gate.calibration.observed import Answered, observed, read_answered
from bridge.gate.calibration.probing import ASKING, ask_again, probes_of
from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.gather import gather
from bridge.gate.trust.judged import Judged, judged_metrics
from bridge.judge.trust.biases import Found, find_biases
from bridge.judge.trust.calibration import Pair, Weights, agreement_of, measure, unscored
from bridge.judge.trust.correction import corrected_rates
from bridge.model.calibration import (
    Bias,
    CalibrationEntry,
    CalibrationSlice,
    Label,
    Unmeasured,
)
from bridge.model.errors import InputError
from bridge.model.policy import CalibrationPolicy
from bridge.model.score import Score

POSITION = Unmeasured(
    name="position",
    why="scores of one answer have no position; bridge compare --judge measures it",
)
"""What is asked for by name and cannot be told from pointwise scores."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to calibrate.

    Attributes:
        run: Run directory or scores file.
        labels: The labels file.
        system: The system, where there are several.
        metric: Only this metric; by its own name, or ``framework/metric`` of a framework's own.
        framework: Whose rows to take: of a shared check, the first that has it, ``core`` before
            all others, if left out; of the frameworks' own, every one's, each for itself.
        weights: How kappa counts disagreement between levels.
        probe: Whether the judges in force are asked again, to find what sways them.
    """

    run: Path
    labels: Path
    system: str | None = None
    metric: str | None = None
    framework: str | None = None
    weights: Weights = "quadratic"
    probe: bool = False


def calibrate(request: Request, policy: CalibrationPolicy | None = None) -> list[CalibrationEntry]:
    """Hold every labelled metric of a run against its labels.

    Args:
        request: What to calibrate.
        policy: When a judge is believed; the run's own if left out.

    A metric of which no labelled row was scored, while others' were, is unusable.

    Raises:
        InputError: If a label fits no row, stands twice, or is of another kind than the others;
            if the run has no judged metric, or no labelled row of any was scored.
    """
    evidence = gather([request.run]).of_system(request.system)
    if policy is None:
        suites = [record.suite for record in evidence.records]
        policy = suites[0].gate.calibration if suites else CalibrationPolicy()
    by_metric = _by_metric(request, evidence)
    answered = read_answered(request.run, evidence.table.system_names[0])
    entries = [
        _entry(request, evidence, judged, labels, policy, answered)
        for judged, labels in by_metric.items()
    ]
    if not any(entry.n for entry in entries):
        names = ", ".join(entry.metric for entry in entries)
        what = f"no labelled row of {names} was scored: {entries[0].reasons[0]}"
        raise InputError(what, where=request.run, fix="run again")
    return entries


def _by_metric(request: Request, evidence: Evidence) -> dict[Judged, Numbered]:
    """The labels of each judged metric."""
    every = list(judged_metrics(evidence))
    judged = [each for each in every if _is_asked(request, each)]
    if not judged:
        fix = "name a run whose suite has a check with a judge"
        raise InputError("no judged metric in it", where=request.run, fix=fix)
    found: dict[Judged, Numbered] = {}
    for line, label in read_labels(request.labels):
        name = label.metric or _only([each.metric for each in judged])
        if name is None:
            fix = f"write metric: one of {_listed(judged)}"
            raise InputError("names no metric", where=request.labels, line=line, fix=fix)
        for each in judged:
            if name in each.names:
                found.setdefault(each, []).append((line, label))
        if request.metric is None and not any(name in each.names for each in every):
            fix = f"the judged metrics are: {_listed(judged)}"
            raise InputError(f"no judged metric {name!r}", where=request.labels, line=line, fix=fix)
    if not found:
        fix = "check --metric and --framework"
        raise InputError("no label of that metric", where=request.labels, fix=fix)
    return found


def _is_asked(request: Request, judged: Judged) -> bool:
    """Whether it is a metric, and a framework's, that the request is about."""
    in_framework = request.framework is None or judged.framework in ("", request.framework)
    return in_framework and (request.metric is None or request.metric in judged.names)


def _only(names: Sequence[str]) -> str | None:
    return names[0] if len(set(names)) == 1 else None


def _listed(judged: Sequence[Judged]) -> str:
    return ", ".join(dict.fromkeys(name for each in judged for name in each.names))


def _entry(
    request: Request,
    evidence: Evidence,
    judged: Judged,
    labels: Numbered,
    policy: CalibrationPolicy,
    answered: Answered,
) -> CalibrationEntry:
    rows = _rows(request, evidence, judged)
    found = label_rows(request.labels, labels, rows, evidence.table.system_names[0])
    biases = _biases(request, evidence, judged, found, answered)
    pairs = list(found.pairs.values())
    return CalibrationEntry(
        metric=judged.name,
        judges=judged.judges,
        models=judged.models,
        judge_digest=judged.judge_digest,
        scorer=judged.scorer,
        scorer_version=judged.scorer_version,
        params_digest=judged.params_digest,
        unscored=len(found.placed) - len(found.pairs),
        other_systems=len(labels) - len(found.placed),
        slices=tuple(_slices(found.pairs, evidence)),
        biases=tuple(each for each in biases if isinstance(each, Bias)),
        not_measured=tuple(each for each in biases if isinstance(each, Unmeasured)),
        corrected=corrected_rates(pairs, found.verdicts),
        label_next=_label_next(rows, found.placed),
        **(
            measure(pairs, found.kind, request.weights, policy)
            if pairs
            else unscored(found.kind, request.weights, _why_unscored(found))
        ),
    )


def _why_unscored(found: Labelled) -> str:
    """Why no labelled row has a value: what the first one says."""
    first = found.rows[next(iter(found.placed))]
    return f"none of {len(found.placed)} labelled rows was scored; {first.error or first.reason}"


def _biases(
    request: Request, evidence: Evidence, judged: Judged, found: Labelled, answered: Answered
) -> tuple[Found, ...]:
    observations = [
        observed(found.rows[place], pair, found.values(place), answered, judged.models)
        for place, pair in found.pairs.items()
    ]
    rows = [found.rows[place] for place in found.pairs]
    again = list(_asked_again(request, evidence, judged, rows, answered))
    return (*find_biases(observations), *again, POSITION)


def _asked_again(
    request: Request,
    evidence: Evidence,
    judged: Judged,
    rows: Sequence[Score],
    answered: Answered,
) -> Iterator[Found]:
    """What shows when the judges are asked about rows again, or why they are not asked."""
    checks = [check for record in evidence.records for check in record.suite.checks]
    own = next((check for check in checks if check.metric == judged.metric), None)
    names = {probe.name for probe in probes_of(own)} if own is not None else set()
    for name in ASKING:
        if name not in names:
            yield Unmeasured(name=name, why="nothing of the kind to change in this check")
        elif not request.probe:
            yield Unmeasured(name=name, why="the judge is not asked again without --probe")
    if request.probe and own is not None:
        yield from ask_again(own, rows, answered)


def _rows(request: Request, evidence: Evidence, judged: Judged) -> dict[Place, Score]:
    """The rows of a metric in one framework, by place."""
    found: dict[str, dict[Place, Score]] = {}
    system = evidence.table.system_names[0]
    for source in evidence.sources:
        for _, row in read_models(source.path, Score):
            if row.metric == judged.metric and row.system == system:
                found.setdefault(row.framework, {})[row.case_id, row.epoch, row.turn] = row
    wanted = judged.framework or request.framework
    order = [wanted] if wanted else evidence.order
    rows = next((found[name] for name in order if name in found), None)
    if rows is None:
        fix = f"it was measured in: {', '.join(found) or 'none'}"
        raise InputError(f"no row of {judged.metric!r}", where=request.run, fix=fix)
    return rows


def _slices(pairs: Mapping[Place, Pair], evidence: Evidence) -> Iterator[CalibrationSlice]:
    groups: dict[tuple[str, str], list[Pair]] = {}
    for (case_id, _, _), pair in pairs.items():
        case = evidence.cases.get(case_id)
        for tag in case.tags if case is not None else ():
            groups.setdefault(("tag", tag), []).append(pair)
        if case is not None and case.failure_mode:
            groups.setdefault(("failure_mode", case.failure_mode), []).append(pair)
    for (by, name), own in sorted(groups.items()):
        yield CalibrationSlice(
            by="tag" if by == "tag" else "failure_mode",
            name=name,
            n=len(own),
            agreement=agreement_of(own),
            false_passes=sum(pair.judge_passes and not pair.human_passes for pair in own),
        )


def _label_next(rows: Mapping[Place, Score], placed: Mapping[Place, Label]) -> tuple[str, ...]:
    """The tenth of the unlabelled cases, 20 at most, whose value is nearest to the threshold."""
    near: dict[str, float] = {}
    for place, row in rows.items():
        if place not in placed and row.value is not None:
            gap = abs(row.value - (row.threshold if row.threshold is not None else 0.5))
            near[row.case_id] = min(gap, near.get(row.case_id, gap))
    most = min(20, -(-len(near) // 10))
    return tuple(sorted(near, key=lambda case_id: (near[case_id], case_id))[:most])
