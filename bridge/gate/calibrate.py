"""Rows of a run beside people's labels: ``bridge calibrate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bridge.files.jsonl import read_models
from bridge.files.labels import read_labels
from bridge.gate.evidence import Evidence
from bridge.gate.gather import gather
from bridge.gate.judged import Judged, judged_metric
from bridge.judge.calibration import Kind, Pair, Weights, agreement_of, measure
from bridge.judge.levels import LEVELS, level_of, middle_of
from bridge.model.calibration import CalibrationEntry, CalibrationSlice, Label
from bridge.model.errors import InputError
from bridge.model.policy import CalibrationPolicy
from bridge.model.score import Score

PASS = frozenset({"pass", "passed", "true", "yes", "correct", "good answer"})
FAIL = frozenset({"fail", "failed", "false", "no", "incorrect", "bad answer"})

Place = tuple[str, int, int | None]
"""(case_id, epoch, turn): one row of one metric and system."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to calibrate.

    Attributes:
        run: Run directory or scores file.
        labels: The labels file.
        system: The system, where there are several.
        metric: Only this metric.
        framework: Whose rows to take; the first that has the metric, ``core`` before all others.
        weights: How kappa counts disagreement between levels.
    """

    run: Path
    labels: Path
    system: str | None = None
    metric: str | None = None
    framework: str | None = None
    weights: Weights = "quadratic"


def calibrate(request: Request, policy: CalibrationPolicy | None = None) -> list[CalibrationEntry]:
    """Hold every labelled metric of a run against its labels.

    Args:
        request: What to calibrate.
        policy: When a judge is believed; the run's own if left out.

    Raises:
        InputError: If a label fits no row, stands twice, or is of another kind than the others;
            or if the run has no judged metric.
    """
    evidence = gather([request.run]).of_system(request.system)
    if policy is None:
        suites = [record.suite for record in evidence.records]
        policy = suites[0].gate.calibration if suites else CalibrationPolicy()
    by_metric = _by_metric(request, evidence)
    return [
        _entry(request, evidence, judged, labels, policy) for judged, labels in by_metric.items()
    ]


Numbered = list[tuple[int, Label]]


def _by_metric(request: Request, evidence: Evidence) -> dict[Judged, Numbered]:
    """The labels of each judged metric."""
    known = {name: judged_metric(evidence, name) for name in evidence.metrics}
    judged = {name: each for name, each in known.items() if each is not None}
    if request.metric is not None:
        judged = {name: each for name, each in judged.items() if name == request.metric}
    if not judged:
        fix = "name a run whose suite has a check with a judge"
        raise InputError("no judged metric in it", where=request.run, fix=fix)
    found: dict[Judged, Numbered] = {}
    for line, label in read_labels(request.labels):
        name = label.metric or (next(iter(judged)) if len(judged) == 1 else None)
        if name is None:
            fix = f"write metric: one of {', '.join(judged)}"
            raise InputError("names no metric", where=request.labels, line=line, fix=fix)
        if name in judged:
            found.setdefault(judged[name], []).append((line, label))
        elif request.metric is None:
            fix = f"the judged metrics are: {', '.join(judged)}"
            raise InputError(f"no judged metric {name!r}", where=request.labels, line=line, fix=fix)
    if not found:
        raise InputError("no label of that metric", where=request.labels, fix="check --metric")
    return found


def _entry(
    request: Request,
    evidence: Evidence,
    judged: Judged,
    labels: Numbered,
    policy: CalibrationPolicy,
) -> CalibrationEntry:
    rows = _rows(request, evidence, judged.metric)
    placed = _placed(request, labels, rows, evidence)
    kind = _kind(request, labels)
    scored = {place: label for place, label in placed.items() if rows[place].value is not None}
    pairs = {place: _pair(label, rows[place], kind) for place, label in scored.items()}
    if not pairs:
        raise InputError(
            f"no labelled row of {judged.metric} was scored", where=request.run, fix="run again"
        )
    return CalibrationEntry(
        metric=judged.metric,
        judges=judged.judges,
        models=judged.models,
        judge_digest=judged.judge_digest,
        scorer=judged.scorer,
        scorer_version=judged.scorer_version,
        params_digest=judged.params_digest,
        unscored=len(placed) - len(pairs),
        slices=tuple(_slices(pairs, evidence)),
        label_next=_label_next(rows, placed),
        **measure(list(pairs.values()), kind, request.weights, policy),
    )


def _rows(request: Request, evidence: Evidence, metric: str) -> dict[Place, Score]:
    """The rows of a metric in one framework, by place."""
    found: dict[str, dict[Place, Score]] = {}
    system = evidence.table.system_names[0]
    for source in evidence.sources:
        for _, row in read_models(source.path, Score):
            if row.metric == metric and row.system == system:
                found.setdefault(row.framework, {})[row.case_id, row.epoch, row.turn] = row
    order = [request.framework] if request.framework else evidence.order
    rows = next((found[name] for name in order if name in found), None)
    if rows is None:
        fix = f"it was measured in: {', '.join(found) or 'none'}"
        raise InputError(f"no row of {metric!r}", where=request.run, fix=fix)
    return rows


def _placed(
    request: Request, labels: Numbered, rows: Mapping[Place, Score], evidence: Evidence
) -> dict[Place, Label]:
    system = evidence.table.system_names[0]
    placed: dict[Place, Label] = {}
    for line, label in labels:
        if label.system not in (None, system):
            continue
        place = (label.case_id, label.epoch, label.turn)
        if place not in rows:
            what = f"no row for case {label.case_id!r}, epoch {label.epoch}, turn {label.turn}"
            raise InputError(what, where=request.labels, line=line, fix="mend it or leave it out")
        if place in placed:
            fix = "settle what people disagree on, and keep one label a row"
            what = f"case {label.case_id!r} is labelled twice"
            raise InputError(what, where=request.labels, line=line, fix=fix)
        placed[place] = label
    return placed


def _kind(request: Request, labels: Numbered) -> Kind:
    """Whether people said pass or fail, or gave levels or values; all of them the same."""
    kinds: set[Kind] = {_kind_of(label, request.labels, line) for line, label in labels}
    if len(kinds) == 1:
        return kinds.pop()
    fix = "label every row by pass or fail, or every row by level or value"
    raise InputError("labels of two kinds", where=request.labels, fix=fix)


def _kind_of(label: Label, path: Path, line: int) -> Kind:
    said = label.label
    word = said.strip().casefold() if isinstance(said, str) else ""
    if isinstance(said, bool) or word in PASS | FAIL:
        return "binary"
    if word in LEVELS or (not isinstance(said, str) and 0.0 <= said <= 1.0):
        return "levels"
    fix = f"write pass, fail, one of {', '.join(LEVELS)}, or a value from 0 to 1"
    raise InputError(f"no label: {said!r}", where=path, line=line, fix=fix)


def _pair(label: Label, row: Score, kind: Kind) -> Pair:
    """A label beside its row; a level passes where its middle does."""
    value = row.value or 0.0
    least = row.threshold if row.threshold is not None else 0.5
    passes = row.status == "passed" or (row.status == "scored" and value >= least)
    said = label.label
    if kind == "binary":
        human = said if isinstance(said, bool) else str(said).strip().casefold() in PASS
        words = {True: "pass", False: "fail"}
        return Pair(row.case_id, words[human], words[passes], human, passes)
    level = said.strip().casefold() if isinstance(said, str) else level_of(float(said))
    exact = middle_of(level) if isinstance(said, str) else float(said)
    return Pair(row.case_id, level, level_of(value), exact >= least, passes)


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
