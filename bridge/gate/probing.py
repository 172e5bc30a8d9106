"""Labelled rows asked about once more, with one thing changed that should not matter.

Of a rubric: its criteria in reverse, and the reference out of sight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bridge.gate.observed import Answered
from bridge.judge.biases import LEAST, difference_bias
from bridge.model.calibration import Bias, BiasName
from bridge.model.check import Check
from bridge.model.errors import InfrastructureError
from bridge.model.score import Measurement, Score
from bridge.scorers.evaluate import evaluate

MOST = 100
"""Most rows asked about again."""

RUBRIC = "rubric"
SHOWN = ("input", "conversation", "contexts", "reference")
"""What a rubric shows if it does not say."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One way to ask again.

    Attributes:
        name: Of the bias that it looks for.
        check: The check with one thing changed.
        values: From the row and the new measurement, the value that the change should not lower
            and the one that it should not raise; ``None`` where it cannot be told.
    """

    name: BiasName
    check: Check
    values: Callable[[Score, Measurement], tuple[float, float] | None]


def probes_of(check: Check) -> tuple[Probe, ...]:
    """The probes that fit a check; none where it is no rubric by one judge."""
    if check.scorer != RUBRIC or check.judges is not None:
        return ()
    return tuple(_probes(check))


def _probes(check: Check) -> Iterator[Probe]:
    criteria = check.params.get("criteria")
    together = check.params.get("calls", "together") == "together"
    if isinstance(criteria, Mapping) and len(criteria) > 1 and together:
        names = list(criteria)
        turned = {name: criteria[name] for name in reversed(names)}
        yield Probe("criteria_order", _with(check, criteria=turned), _by_place(names[0], names[-1]))
    shown = check.params.get("show", SHOWN)
    if isinstance(shown, list | tuple) and "reference" in shown:
        rest = [part for part in shown if part != "reference"]
        yield Probe("shown_reference", _with(check, show=rest), _without)


def _with(check: Check, **params: object) -> Check:
    return check.model_copy(update={"params": {**check.params, **params}})


def _by_place(first: str, last: str) -> Callable[[Score, Measurement], tuple[float, float] | None]:
    """The outer criteria's values where they stand last, and where they stand first."""

    def values(row: Score, again: Measurement) -> tuple[float, float] | None:
        before, after = (each.get("criteria", {}) for each in (row.details, again.details))
        if not all(name in side for name in (first, last) for side in (before, after)):
            return None
        at_first = (before[first]["value"] + after[last]["value"]) / 2
        at_last = (before[last]["value"] + after[first]["value"]) / 2
        return at_last, at_first

    return values


def _without(row: Score, again: Measurement) -> tuple[float, float] | None:
    """The value with the reference, and without it."""
    if row.value is None or again.value is None:
        return None
    return row.value, again.value


def ask_again(
    check: Check, rows: Iterable[Score], answered: Answered, threads: int = 4
) -> tuple[Bias, ...]:
    """What changes when the judges in force are asked about some rows once more.

    Args:
        check: The check that the rows are of.
        rows: Labelled rows; the first ``MOST`` are asked about.
        answered: The cases and answers they are of; a row whose answer is gone is left out.
        threads: Rows at a time.

    Raises:
        InfrastructureError: If no judge gave any answer.
    """
    known = [
        row
        for row in rows
        if row.case_id in answered.cases and (row.case_id, row.epoch) in answered.outputs
    ][:MOST]
    found = [_asked(probe, known, answered, threads) for probe in probes_of(check)]
    return tuple(bias for bias in found if bias is not None)


def _asked(probe: Probe, rows: Sequence[Score], answered: Answered, threads: int) -> Bias | None:
    def again(row: Score) -> Measurement:
        case, output = answered.cases[row.case_id], answered.outputs[row.case_id, row.epoch]
        return evaluate(probe.check, case, output, row.turn)

    with ThreadPoolExecutor(threads, thread_name_prefix="probed") as pool:
        measured = list(pool.map(again, rows))
    errors = [found.error for found in measured if found.status == "error"]
    if errors and len(errors) == len(measured):
        raise InfrastructureError(
            f"no row could be asked again: {errors[0]}", fix="see to the judge"
        )
    pairs = [
        (row.case_id, values)
        for row, found in zip(rows, measured, strict=True)
        if found.value is not None and (values := probe.values(row, found)) is not None
    ]
    cases = [case_id for case_id, _ in pairs]
    if len(set(cases)) < LEAST:
        return None
    before, after = ([values[side] for _, values in pairs] for side in (0, 1))
    return difference_bias(probe.name, before, after, cases)
