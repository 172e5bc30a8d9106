"""Labelled rows asked about once more, with one thing changed that should not matter.

Of a rubric: its criteria in reverse, and the reference out of sight. Of all that sees retrieved
contexts: these in reverse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bridge.gate.calibration.observed import Answered
from bridge.judge.trust.biases import LEAST, Found, difference_bias
from bridge.model.calibration import BiasName, Unmeasured
from bridge.model.check import Check
from bridge.model.errors import InfrastructureError
from bridge.model.output import Output
from bridge.model.score import Measurement, Score
from bridge.scorers.evaluate import evaluate

MOST = 100
"""Most rows asked about again."""

MOST_ALIKE = 2
"""Contexts of which there is another order."""

ASKING: tuple[BiasName, ...] = ("criteria_order", "shown_reference", "contexts_order")
"""The biases that show when a judge is asked again."""

RUBRIC = "rubric"
SEE_CONTEXTS = {RUBRIC: "show", "groundedness": "against", "decision_graph": "show"}
"""Scorers that show retrieved contexts, with the parameter that says whether they do."""
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
        shows: The answer as it is shown again; ``None`` where there is nothing to change.
    """

    name: BiasName
    check: Check
    values: Callable[[Score, Measurement], tuple[float, float] | None]
    shows: Callable[[Output], Output | None] = lambda output: output


def probes_of(check: Check) -> tuple[Probe, ...]:
    """The probes that fit a check; none where it is by several judges, or no scorer of ours."""
    if check.judges is not None:
        return ()
    return tuple(_probes(check))


def _probes(check: Check) -> Iterator[Probe]:
    if check.scorer == RUBRIC:
        yield from _probes_of_rubric(check)
    if check.scorer in SEE_CONTEXTS and "contexts" in check.params.get(
        SEE_CONTEXTS[check.scorer], SHOWN
    ):
        yield Probe("contexts_order", check, _before, _turned)


def _probes_of_rubric(check: Check) -> Iterator[Probe]:
    criteria = check.params.get("criteria")
    together = check.params.get("calls", "together") == "together"
    if isinstance(criteria, Mapping) and len(criteria) > 1 and together:
        names = list(criteria)
        turned = {name: criteria[name] for name in reversed(names)}
        yield Probe("criteria_order", _with(check, criteria=turned), _by_place(names[0], names[-1]))
    shown = check.params.get("show", SHOWN)
    if isinstance(shown, list | tuple) and "reference" in shown:
        rest = [part for part in shown if part != "reference"]
        yield Probe("shown_reference", _with(check, show=rest), _after)


def _turned(output: Output) -> Output | None:
    """An answer with its retrieved contexts in reverse, of each turn too."""
    turns = output.turns
    held = [output.retrieved_contexts, *(turn.retrieved_contexts for turn in turns or ())]
    if max(map(len, held)) < MOST_ALIKE:
        return None
    changed = {"retrieved_contexts": output.retrieved_contexts[::-1]}
    if turns is None:
        return output.model_copy(update=changed)
    each = [
        turn.model_copy(update={"retrieved_contexts": turn.retrieved_contexts[::-1]})
        for turn in turns
    ]
    return output.model_copy(update={**changed, "turns": tuple(each)})


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


def _after(row: Score, again: Measurement) -> tuple[float, float] | None:
    """The value as it was, and as it is now."""
    if row.value is None or again.value is None:
        return None
    return row.value, again.value


def _before(row: Score, again: Measurement) -> tuple[float, float] | None:
    """The value as it is now, and as it was: what the first order earns."""
    values = _after(row, again)
    return None if values is None else (values[1], values[0])


def ask_again(
    check: Check, rows: Iterable[Score], answered: Answered, threads: int = 4
) -> tuple[Found, ...]:
    """What changes when the judges in force are asked about some rows once more.

    Args:
        check: The check that the rows are of.
        rows: Labelled rows; the first ``MOST`` are asked about, once for each probe.
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
    return tuple(_asked(probe, known, answered, threads) for probe in probes_of(check))


def _asked(probe: Probe, rows: Sequence[Score], answered: Answered, threads: int) -> Found:
    shown = [
        (row, output)
        for row in rows
        if (output := probe.shows(answered.outputs[row.case_id, row.epoch])) is not None
    ]
    cases = len({row.case_id for row, _ in shown})
    if cases < LEAST:
        return Unmeasured(name=probe.name, why=_too_few(cases))
    measured = _measured(probe, shown, answered, threads)
    pairs = [
        (row.case_id, values)
        for (row, _), found in zip(shown, measured, strict=True)
        if found.value is not None and (values := probe.values(row, found)) is not None
    ]
    scored = [case_id for case_id, _ in pairs]
    if len(set(scored)) < LEAST:
        return Unmeasured(name=probe.name, why=_too_few(len(set(scored))))
    before, after = ([values[side] for _, values in pairs] for side in (0, 1))
    return difference_bias(probe.name, before, after, scored)


def _measured(
    probe: Probe, shown: Sequence[tuple[Score, Output]], answered: Answered, threads: int
) -> list[Measurement]:
    def again(asked: tuple[Score, Output]) -> Measurement:
        row, output = asked
        return evaluate(probe.check, answered.cases[row.case_id], output, row.turn)

    with ThreadPoolExecutor(threads, thread_name_prefix="probed") as pool:
        measured = list(pool.map(again, shown))
    errors = [found.error for found in measured if found.status == "error"]
    if errors and len(errors) == len(measured):
        raise InfrastructureError(
            f"no row could be asked again: {errors[0]}", fix="see to the judge"
        )
    return measured


def _too_few(cases: int) -> str:
    return f"it can be changed in {cases} labelled cases; {LEAST} at least"
