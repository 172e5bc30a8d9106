"""Run against run: paired differences, and every case that changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bridge.gate.criteria.regressions import LEVEL, SEED, TOLERANCE
from bridge.gate.findings.shown import answers
from bridge.gate.intake.align import Series, series_of
from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.table import ERROR, FAILED, Floats
from bridge.gate.trust.complete import faults
from bridge.model.bundle import Bundle
from bridge.model.comparison import CaseChange, ComparedMetric, Comparison
from bridge.model.counted import counted
from bridge.model.errors import InputError
from bridge.stats import PairedTest, difference_interval, holm, paired_test

MOST = 200
"""Most changed cases listed."""


@dataclass(frozen=True, slots=True)
class Side:
    """One run of one system.

    Attributes:
        name: What it is called in the report.
        answered: Its answers, as far as they are known.
    """

    name: str
    evidence: Evidence
    answered: Bundle = field(default_factory=Bundle)


@dataclass(frozen=True, slots=True)
class _Paired:
    """One gated name of both runs on the cases that both scored; columns of one length."""

    sides: tuple[Series, Series]
    cases: tuple[str, ...]
    first: Floats
    second: Floats

    @property
    def binary(self) -> bool:
        return self.sides[0].binary and self.sides[1].binary


def compare_runs(first: Side, second: Side) -> Comparison:
    """Hold two runs against each other, case by case.

    Args:
        first: The earlier run, or the one to compare with.
        second: The other.

    Raises:
        InputError: If they have no scored case of any metric in common.
    """
    named = [{each.name: each for each in _series(side)} for side in (first, second)]
    pairs = {name: _pair(named[0][name], named[1][name]) for name in named[0] if name in named[1]}
    pairs = {name: pair for name, pair in pairs.items() if pair.cases}
    if not pairs:
        fix = "compare runs over the same golden set and checks"
        raise InputError(f"{first.name} and {second.name} share no scored case", fix=fix)
    changes = sorted(
        _changes(pairs), key=lambda each: (-abs(each.delta), each.metric, each.case_id)
    )
    return Comparison(
        kind="runs",
        names=(first.name, second.name),
        notes=tuple(_notes(first, second, named, pairs)),
        metrics=_compared(pairs),
        changes=tuple(_told(changes[:MOST], first, second, pairs)),
        more=max(0, len(changes) - MOST),
    )


def _series(side: Side) -> Sequence[Series]:
    return series_of(side.evidence.table, side.evidence.order)


def _pair(first: Series, second: Series) -> _Paired:
    common = sorted(set(first.cases) & set(second.cases))
    values = []
    for series in (first, second):
        places = {case: place for place, case in enumerate(series.cases)}
        values.append(series.values[[places[case] for case in common]])
    return _Paired((first, second), tuple(common), values[0], values[1])


def _compared(pairs: Mapping[str, _Paired]) -> dict[str, ComparedMetric]:
    tests = {name: _two_sided(pair) for name, pair in pairs.items()}
    adjusted = holm([p for _, p in tests.values()])
    return {
        name: _metric(pair, tests[name][0], p)
        for (name, pair), p in zip(pairs.items(), adjusted, strict=True)
    }


def _two_sided(pair: _Paired) -> tuple[PairedTest, float]:
    """The paired test, and twice the smaller of its one-sided p values."""
    worse = paired_test(pair.first, pair.second, binary=pair.binary, seed=SEED)
    better = paired_test(pair.second, pair.first, binary=pair.binary, seed=SEED)
    return worse, min(1.0, 2.0 * min(worse.p, better.p))


def _metric(pair: _Paired, test: PairedTest, p: float) -> ComparedMetric:
    interval = difference_interval(
        pair.first, pair.second, binary=pair.binary, level=LEVEL, seed=SEED
    )
    change = pair.second - pair.first
    return ComparedMetric(
        n=len(pair.cases),
        first=float(np.mean(pair.first)),
        second=float(np.mean(pair.second)),
        delta=test.delta,
        low=interval.low,
        high=interval.high,
        p=p,
        test=test.test,
        better=int((change > TOLERANCE).sum()),
        worse=int((change < -TOLERANCE).sum()),
        note=test.note,
    )


def _changes(pairs: Mapping[str, _Paired]) -> Iterator[CaseChange]:
    for name, pair in pairs.items():
        for place in np.flatnonzero(np.abs(pair.second - pair.first) > TOLERANCE).tolist():
            values = (float(pair.first[place]), float(pair.second[place]))
            yield CaseChange(case_id=pair.cases[place], metric=name, values=values)


def _told(
    changes: Sequence[CaseChange], first: Side, second: Side, pairs: Mapping[str, _Paired]
) -> Iterator[CaseChange]:
    """Changes with reasons, answers, and where the case stands."""
    given = [answers(side.answered.outputs) for side in (first, second)]
    reasons = [
        _reasons(side.evidence, [pair.sides[number] for pair in pairs.values()], changes)
        for number, side in enumerate((first, second))
    ]
    for change in changes:
        key = (change.metric, change.case_id)
        known = second.evidence.cases.get(change.case_id) or first.evidence.cases.get(
            change.case_id
        )
        told = {
            "reasons": (reasons[0].get(key, ""), reasons[1].get(key, "")),
            "answers": (given[0].get(change.case_id), given[1].get(change.case_id)),
            "failure_mode": known.failure_mode if known else None,
            "where": known.where if known else None,
        }
        yield change.model_copy(update=told)


def _reasons(
    evidence: Evidence, series: Sequence[Series], changes: Sequence[CaseChange]
) -> dict[tuple[str, str], str]:
    """The reason of the first failed or broken row of each changed case."""
    wanted = {(change.metric, change.case_id) for change in changes}
    table = evidence.table
    rows: dict[tuple[str, str], int] = {}
    for each in series:
        bad = each.rows[np.isin(table.status[each.rows], (ERROR, FAILED))]
        for row in bad.tolist():
            key = (each.name, table.case_names[table.case[row]])
            if key in wanted:
                rows.setdefault(key, row)
    found = evidence.reasons(rows.values())
    return {key: found.get(row, "") for key, row in rows.items()}


def _notes(
    first: Side,
    second: Side,
    named: Sequence[Mapping[str, Series]],
    pairs: Mapping[str, _Paired],
) -> Iterator[str]:
    for side in (first, second):
        yield from (f"{side.name}: {fault}" for fault in faults(side.evidence))
    for own, other, side in ((0, 1, first), (1, 0, second)):
        alone = sorted(set(named[own]) - set(named[other]))
        if alone:
            yield f"only in {side.name}: {', '.join(alone)}"
    for name, pair in pairs.items():
        left = [len(series.cases) - len(pair.cases) for series in pair.sides]
        if any(left):
            first_left, second_left = counted(left[0], "case"), left[1]
            yield f"{name}: {first_left} of the first and {second_left} of the second unpaired"
        stamps = [(series.stamp.scorer, series.stamp.scorer_version) for series in pair.sides]
        if stamps[0] != stamps[1]:
            yield f"{name}: scored by {' '.join(stamps[0])}, then by {' '.join(stamps[1])}"
    yield from _changed_cases(first.evidence, second.evidence)


def _changed_cases(first: Evidence, second: Evidence) -> Iterator[str]:
    both = [case for case in first.cases if case in second.cases]
    changed = [case for case in both if first.cases[case].digest != second.cases[case].digest]
    if changed:
        yield f"{counted(len(changed), 'case')} changed between the runs, such as {changed[0]!r}"
