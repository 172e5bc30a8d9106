"""Metrics of a framework's own, and the checks that say the same.

A results file names its metrics. Where a shared scorer says the same, a case read from the file
gets it as a check: what is migrated goes on being measured, and ``bridge convert --verify`` scores
the recorded answers by it and holds it against the recorded verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from bridge.files.scores import ScoreRow
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.score import Score

JUDGED = "asks a judge: its verdicts are read, and not made again"
STRANGER = "a metric of the source's own, which no check stands for"
UNSAID = "no scorer of ours says it"
UNFIT = "with its options no scorer of ours says the same"
"""Why a metric is not scored again."""


@dataclass(frozen=True, slots=True)
class Counterpart:
    """One metric of a framework's own.

    Attributes:
        name: As the framework's users write it (``ExactMatchMetric``).
        recorded: Its names in results files.
        check: The check that says the same with the metric's defaults, as it is written in a suite;
            ``None`` where there is none.
        judged: Neutral name of what a judge measures; "" where none is asked.
        note: Where the two differ, or else why no check says the same.
        digits: Decimals that the framework rounds its score to; ``None`` where it does not.
    """

    name: str
    recorded: tuple[str, ...] = ()
    check: Any = None
    judged: str = ""
    note: str = ""
    digits: int | None = None


@runtime_checkable
class HasCounterparts(Protocol):
    """A framework that says which of its metrics the shared scorers stand for."""

    def counterparts(self) -> Sequence[Counterpart]:
        """Its metrics, those without a model first."""
        ...


def by_recorded_name(metrics: Iterable[Counterpart]) -> dict[str, Counterpart]:
    """Each metric by its names in results files."""
    return {name: each for each in metrics for name in each.recorded}


def recorded_as(metrics: Mapping[str, Counterpart], name: str) -> Counterpart | None:
    """The metric that has a name in a results file, where a number may tell two of it apart.

    Example:
        >>> recorded_as({"f1": Counterpart("f1()")}, "f12").name
        'f1()'
    """
    found = metrics.get(name)
    while found is None and name[-1:].isdecimal():
        name = name[:-1]
        found = metrics.get(name)
    return found


class StandIns:
    """The checks that stand for the metrics of one file, each made once.

    Args:
        find: The check that says the same as a metric with that name in the file, if any.
    """

    def __init__(self, find: Callable[[str], Check | None]) -> None:
        self._find = find
        self._known: dict[tuple[str, str, float | None], Check | None] = {}

    def put(self, case: Case, rows: Iterable[Score | ScoreRow]) -> Case:
        """A case with the checks that stand for its rows, under their metrics and thresholds.

        Rows that are ours have checks of their own, and a case that has checks keeps them.
        """
        checks = {} if case.checks else {each.metric: each for each in self._of(rows)}
        return case.model_copy(update={"checks": tuple(checks.values())}) if checks else case

    def _of(self, rows: Iterable[Score | ScoreRow]) -> Iterator[Check]:
        for row in rows:
            if isinstance(row, ScoreRow) and row.turn is None:
                check = self._check(str(row.metric), str(row.scorer or row.metric), row.threshold)
                if check is not None:
                    yield check

    def _check(self, metric: str, scorer: str, threshold: float | None) -> Check | None:
        key = (metric, scorer, threshold)
        if key not in self._known:
            found = self._find(metric) or self._find(scorer)
            fits = threshold is not None and 0 <= threshold <= 1
            update = {"metric": metric, **({"threshold": threshold} if fits else {})}
            self._known[key] = None if found is None else found.model_copy(update=update)
        return self._known[key]


def check_of(metric: Counterpart | None) -> Check | None:
    """The check that says the same as a metric with its defaults."""
    written = None if metric is None else metric.check
    return None if written is None else Check.model_validate(written)


def why_none(metric: Counterpart | None) -> str:
    """Why no check stands for a recorded metric."""
    if metric is None:
        return STRANGER
    if metric.check is not None:
        return UNFIT
    return metric.note or UNSAID
