"""People's labels beside the rows of a judge that they are of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bridge.judge.scorers.levels import LEVELS, level_of, middle_of
from bridge.judge.trust.calibration import Kind, Pair
from bridge.model.calibration import Label
from bridge.model.errors import InputError
from bridge.model.score import Score

PASS = frozenset({"pass", "passed", "true", "yes", "correct", "good answer"})
FAIL = frozenset({"fail", "failed", "false", "no", "incorrect", "bad answer"})

Place = tuple[str, int, int | None]
"""(case_id, epoch, turn): one row of one metric and system."""

Numbered = list[tuple[int, Label]]
"""Labels with their lines."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """The rows of one metric, and the labels that are of some of them.

    Attributes:
        rows: Every row of the metric in one framework.
        placed: The labels.
        kind: What people said.
        pairs: People's word beside the judge's, where the judge scored.
    """

    rows: Mapping[Place, Score]
    placed: Mapping[Place, Label]
    kind: Kind
    pairs: Mapping[Place, Pair]

    @property
    def verdicts(self) -> list[tuple[str, bool]]:
        """The case of every scored row, and whether the judge passes it."""
        scored = (row for row in self.rows.values() if row.value is not None)
        return [(row.case_id, _passes(row)) for row in scored]

    def values(self, place: Place) -> tuple[float, float]:
        """People's value and the judge's: verdicts as 0 and 1, or levels as their values."""
        pair = self.pairs[place]
        if self.kind == "binary":
            return float(pair.human_passes), float(pair.judge_passes)
        return _exact(self.placed[place]), self.rows[place].value or 0.0


def label_rows(path: Path, labels: Numbered, rows: Mapping[Place, Score], system: str) -> Labelled:
    """Put labels to the rows that they are of.

    Args:
        path: The labels file, for errors.
        labels: The labels of one metric.
        rows: Its rows.
        system: Whose rows these are; labels of another system are left out.

    Raises:
        InputError: If a label fits no row, stands twice, or is of another kind than the others, or
            if none is of this system.
    """
    placed = _placed(path, labels, rows, system)
    if not placed:
        named = ", ".join(sorted({label.system or system for _, label in labels}))
        fix = f"name another by --system; the labels are of: {named}"
        raise InputError(f"no label is of system {system!r}", where=path, fix=fix)
    kind = _kind(path, [each for each in labels if each[1].system in (None, system)])
    scored = {place: label for place, label in placed.items() if rows[place].value is not None}
    pairs = {place: _pair(label, rows[place], kind) for place, label in scored.items()}
    return Labelled(rows, placed, kind, pairs)


def _placed(
    path: Path, labels: Numbered, rows: Mapping[Place, Score], system: str
) -> dict[Place, Label]:
    placed: dict[Place, Label] = {}
    for line, label in labels:
        if label.system not in (None, system):
            continue
        place = (label.case_id, label.epoch, label.turn)
        if place not in rows:
            what = f"no row for case {label.case_id!r}, epoch {label.epoch}, turn {label.turn}"
            raise InputError(what, where=path, line=line, fix="mend it or leave it out")
        if place in placed:
            fix = "settle what people disagree on, and keep one label a row"
            what = f"case {label.case_id!r} is labelled twice"
            raise InputError(what, where=path, line=line, fix=fix)
        placed[place] = label
    return placed


def _kind(path: Path, labels: Numbered) -> Kind:
    """Whether people said pass or fail, or gave levels or values; all of them the same."""
    kinds: set[Kind] = {kind_of_label(label, path, line) for line, label in labels}
    if len(kinds) == 1:
        return kinds.pop()
    fix = "label every row by pass or fail, or every row by level or value"
    raise InputError("labels of two kinds", where=path, fix=fix)


def kind_of_label(label: Label, path: Path, line: int) -> Kind:
    """Whether a label is a verdict, or a level or value.

    Raises:
        InputError: If it is neither.
    """
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
    passes = _passes(row)
    said = label.label
    if kind == "binary":
        human = said if isinstance(said, bool) else str(said).strip().casefold() in PASS
        words = {True: "pass", False: "fail"}
        return Pair(row.case_id, words[human], words[passes], human, passes)
    level = said.strip().casefold() if isinstance(said, str) else level_of(float(said))
    return Pair(
        row.case_id, level, level_of(row.value or 0.0), _exact(label) >= _least(row), passes
    )


def _least(row: Score) -> float:
    return row.threshold if row.threshold is not None else 0.5


def _passes(row: Score) -> bool:
    scored_high = row.status == "scored" and (row.value or 0.0) >= _least(row)
    return row.status == "passed" or scored_high


def _exact(label: Label) -> float:
    """The value of a label that is a level or a value."""
    said = label.label
    return middle_of(said.strip().casefold()) if isinstance(said, str) else float(said)
