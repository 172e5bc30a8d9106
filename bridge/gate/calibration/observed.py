"""Labelled rows beside the answers they are of: what a judge may go by instead of their worth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.judge.prompts.shown import answer_of
from bridge.judge.trust.biases import Observation
from bridge.judge.trust.calibration import Pair
from bridge.judge.trust.family import family_of
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import detect_format
from bridge.scorers.reference import reference_texts
from bridge.scorers.text.words import word_f1

LONGEST = 100_000
"""Most characters of a text whose words are compared."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The cases of a run and one system's answers, as far as they are still there."""

    cases: Mapping[str, Case] = field(default_factory=dict)
    outputs: Mapping[tuple[str, int], Output] = field(default_factory=dict)

    def at(self, row: Score) -> tuple[Case | None, Output | None]:
        """The case and the answer that a row is of; of a row of a turn, that turn's."""
        case, output = self.cases.get(row.case_id), self.outputs.get((row.case_id, row.epoch))
        if row.turn is None:
            return case, output
        turns = case.turns if case is not None else ()
        inside = case is not None and row.turn < len(turns)
        return (
            case.at_turn(row.turn) if case is not None and inside else None,
            output.at_turn(row.turn) if output is not None else None,
        )


def read_answered(run: Path, system: str) -> Answered:
    """What a run or result file holds of one system's answers."""
    options = ReadOptions(parts=frozenset({"cases", "outputs"}))
    bundle, _ = detect_format(run, "scores").read(run, options)
    own = [output for output in bundle.outputs if output.system == system]
    return Answered(
        {case.id: case for case in bundle.cases},
        {(output.case_id, output.epoch): output for output in own},
    )


def observed(
    row: Score, pair: Pair, values: tuple[float, float], answered: Answered, models: Sequence[str]
) -> Observation:
    """A labelled row as an observation.

    Args:
        row: The judge's row.
        pair: What people and the judge say of it.
        values: People's value and the judge's.
        answered: The answers.
        models: The judges' models.
    """
    case, output = answered.at(row)
    answer = None if output is None or output.error is not None else answer_of(output)
    wrote = None if output is None else output.model
    return Observation(
        case_id=row.case_id,
        human=values[0],
        judge=values[1],
        levels=None if pair.human in ("pass", "fail") else (pair.human, pair.judge),
        length=None if answer is None else len(answer),
        overlap=_overlap(case, answer),
        rationale=sum(map(len, _rationales(row.details))) or None,
        akin=family_of(wrote) in map(family_of, models) if wrote and models else None,
    )


def _overlap(case: Case | None, answer: str | None) -> float | None:
    """Word F1 with the closest reference."""
    texts = reference_texts(case) if case is not None else ()
    if answer is None or not texts:
        return None
    return max(word_f1(answer[:LONGEST], text[:LONGEST]) for text in texts)


def _rationales(details: Any) -> Iterator[str]:
    """Every rationale in a score's details, of votes too."""
    if isinstance(details, Mapping):
        for name, value in details.items():
            if name == "rationale" and isinstance(value, str):
                yield value
            else:
                yield from _rationales(value)
    elif isinstance(details, list | tuple):
        for value in details:
            yield from _rationales(value)
