"""Shared checks inside a native metric: what all adapters have in common.

A framework has one metric per metric *name*; which check stands behind it is the case's own
where it has one, else the suite's. What the framework records of a metric is one value; where a
check has several rows (one a turn), the rows travel beside that value in a field of the
framework's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.output import Output
from bridge.model.score import Measurement, Score, Status, error_measurement
from bridge.plugin.framework import FrameworkInfo
from bridge.scorers.evaluate import (
    checks_with_turns,
    evaluate,
    native_version,
    shared_with_turns,
    threshold_of,
    version_of,
)
from bridge.scorers.registry import is_native

Answer = tuple[Check, Measurement]
"""A check with what it found: one row."""


@dataclass(frozen=True, slots=True)
class SharedMetric:
    """A metric name with the suite's check behind it, if the suite has one.

    Attributes:
        metric: The metric's name.
        scorer: Name of the scorer, of the first case's where the suite has no such check.
        check: The suite's check, or null where only cases have it.
        stamp: What stands for the version of a framework's own metric; "" of a shared scorer.
    """

    metric: str
    scorer: str
    check: Check | None = None
    stamp: str = ""

    @property
    def threshold(self) -> float | None:
        """The threshold of the suite's check; ``None`` where only cases have it."""
        return None if self.check is None else threshold_of(self.check)

    def measure(self, case: Case, output: Output) -> tuple[Answer, ...]:
        """One answer a row; none where the case has no such check."""
        if not case.checks and not case.turns:  # nothing to resolve
            return () if self.check is None else ((self.check, evaluate(self.check, case, output)),)
        suite = () if self.check is None else (self.check,)
        return tuple(
            (check, evaluate(check, case, output, turn))
            for check, turn in shared_with_turns(suite, case)
            if check.metric == self.metric
        )

    def measure_native(self, read: Callable[[], tuple[Case, Output]]) -> tuple[Answer, ...]:
        """Like :meth:`measure`, on what ``read`` finds in a native object; never raises."""
        try:
            case, output = read()
            return self.measure(case, output)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - scorers never raise natively
            check = self.check or Check(scorer=self.scorer, metric=self.metric)
            reason = f"the native case cannot be read ({type(error).__name__}: {error})"
            return ((check, error_measurement(reason, metric=self.metric)),)


def shared_metrics(checks: Sequence[Check], cases: Iterable[Case]) -> list[SharedMetric]:
    """Every shared metric of a job, the suite's first, then those that only cases have."""
    found = {
        check.metric: SharedMetric(check.metric, check.scorer, check)
        for check in checks
        if not is_native(check)
    }
    for case in cases:
        for check in case.all_checks:
            if not is_native(check):
                found.setdefault(check.metric, SharedMetric(check.metric, check.scorer))
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Summary:
    """The rows of one metric on one case as the single value that a framework records."""

    value: float | None
    status: Status
    reason: str
    error: str | None


_WORST_FIRST: tuple[Status, ...] = (
    "error",
    "failed",
    "passed",
    "scored",
    "unsupported",
    "skipped",
)


def summarise(rows: Sequence[Measurement | Score]) -> Summary:
    """One row is itself; of several, the mean value, the worst status and all reasons."""
    if len(rows) == 1:
        row = rows[0]
        return Summary(row.value, row.status, row.reason, row.error)
    statuses: list[Status] = [row.status for row in rows]
    worst = min(statuses, key=_WORST_FIRST.index) if statuses else _WORST_FIRST[-1]
    values = [row.value for row in rows if row.value is not None]
    mean = math.fsum(values) / len(values) if values and worst != "error" else None
    reason = "; ".join(f"turn {row.turn}: {row.reason}" for row in rows)
    error = next((f"turn {row.turn}: {row.error}" for row in rows if row.error), None)
    return Summary(mean, worst, reason, error)


def encode(answers: Iterable[Answer], native: str = "") -> list[dict[str, Any]]:
    """Rows as plain JSON, for a field of the framework's own: a score without its key.

    Args:
        answers: The rows.
        native: What stands for the version of a metric of the framework's own.
    """
    return [_encode(check, found, native) for check, found in answers]


_DEFAULTS = {name: field.default for name, field in Measurement.model_fields.items()}


def _encode(check: Check, found: Measurement, native: str) -> dict[str, Any]:
    """By hand, since a dump copies ``details``, which is plain JSON and read-only already."""
    row: dict[str, Any] = {"scorer": check.scorer, "scorer_version": version_of(check, native)}
    threshold = threshold_of(check)
    if threshold is not None:
        row["threshold"] = threshold
    if check.weight != 1.0:
        row["weight"] = check.weight
    if check.judge_name is not None:
        row["judge"] = check.judge_name
    fields = found.__dict__.items()
    row |= {name: value for name, value in fields if value != _DEFAULTS[name]}
    row["status"] = found.status  # for which a score has no default
    if found.raw is not None:
        row["raw"] = found.raw.model_dump(mode="json", exclude_defaults=True)
    if found.usage is not None:
        row["usage"] = found.usage.model_dump(mode="json", exclude_defaults=True)
    return row


def decode(rows: Iterable[Mapping[str, Any]], key: Mapping[str, Any]) -> list[Score]:
    """Score rows from what :func:`encode` wrote.

    Args:
        rows: The encoded rows.
        key: What they leave out: ``framework``, ``framework_version``, ``system``, ``case_id``
            and ``epoch``.

    Raises:
        ValueError: If they are not such rows.
    """
    return [Score.model_validate({**row, **key}) for row in rows]


def recorded(rows: object, key: Mapping[str, Any], value: object) -> list[Score] | None:
    """The rows that :func:`encode` left beside a native value.

    Args:
        rows: What stands there.
        key: As of :func:`decode`.
        value: The native value, ``None`` where there is none.

    Returns:
        Empty for a case that has no such check. ``None`` if there are no such rows, or the value
        is not theirs: it was edited since.
    """
    if not isinstance(rows, list | tuple):
        return None
    try:
        found = decode(rows, key)
    except (TypeError, ValueError):
        return None
    return found if summarise(found).value == value else None


class Rows:
    """Turns measurements into score rows of one framework.

    Attributes:
        native: What stands for the version of a metric of the framework's own.
        suite: The suite's checks.
    """

    def __init__(self, info: FrameworkInfo, version: str, checks: Sequence[Check]) -> None:
        self._stamp: dict[str, Any] = {"framework": info.name, "framework_version": version}
        self.native = native_version(info.name, version)
        self.suite = tuple(checks)

    def of(self, case: Case, output: Output, found: Iterable[Measurement]) -> list[Score]:
        """Score rows of one output, in the order of the case's checks.

        A row that no measurement answers is left out: the driver, which wrote the expected rows
        first, turns it into an error.
        """
        by_row = {(row.metric, row.turn): row for row in found}
        scores = []
        for check, turn in checks_with_turns(self.suite, case):
            measurement = by_row.get((check.metric, turn))
            if measurement is not None:
                scores.append(self.score(check, output, measurement))
        return scores

    def score(self, check: Check, output: Output, found: Measurement) -> Score:
        """The row of one check on one output."""
        return Score(
            **self._stamp,
            system=output.system,
            case_id=output.case_id,
            epoch=output.epoch,
            metric=check.metric,
            scorer=check.scorer,
            scorer_version=version_of(check, self.native),
            threshold=threshold_of(check),
            weight=check.weight,
            judge=check.judge_name,
            turn=found.turn,
            value=found.value,
            label=found.label,
            status=found.status,
            reason=found.reason,
            error=found.error,
            raw=found.raw,
            usage=found.usage,
            cost_usd=found.cost_usd,
            details=found.details,
        )
