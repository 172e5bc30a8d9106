"""Rows of two sides held against each other, verdict by verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isclose
from types import MappingProxyType
from typing import Literal, NamedTuple

from bridge.model.score import VALUED, Score
from bridge.model.verification import Agreement, Disagreement, LeftOut, Ruling

CLOSE = 1e-6
"""Most by which scores that are the same differ."""
LONGEST_REASON = 500
NOT_ROUNDED: Mapping[str, int] = MappingProxyType({})


class Key(NamedTuple):
    """What rows of two frameworks are joined by."""

    system: str
    case_id: str
    epoch: int
    turn: int | None
    metric: str


@dataclass(frozen=True, slots=True)
class Compared:
    """What the comparison of two sides found."""

    agreements: tuple[Agreement, ...]
    disagreements: tuple[Disagreement, ...]
    undecided: tuple[LeftOut, ...]


@dataclass(slots=True)
class _Count:
    compared: int = 0
    agreed: int = 0
    scores_differ: int = 0


@dataclass(slots=True)
class _Comparing:
    digits: Mapping[str, int]
    counts: dict[str, _Count] = field(default_factory=dict)
    differences: list[Disagreement] = field(default_factory=list)
    undecided: list[LeftOut] = field(default_factory=list)

    def add(self, key: Key, kind: str, source: Score | None, target: Score | None) -> None:
        why = None if source is None or target is None else _why_not(source, target)
        if why is not None:
            self.undecided.append(LeftOut(type=kind, reason=why[:LONGEST_REASON]))
            return
        count = self.counts.setdefault(kind, _Count())
        count.compared += 1
        what = _difference(source, target, self.digits.get(kind))
        count.agreed += what in (None, "score")
        count.scores_differ += what == "score"
        if what is not None:
            self.differences.append(
                Disagreement(
                    **key._asdict(),
                    type=kind,
                    what=what,
                    source=_ruling(source),
                    target=_ruling(target),
                )
            )


def compare_rows(
    source: Iterable[Score],
    target: Iterable[Score],
    *,
    only_source: bool = False,
    digits: Mapping[str, int] = NOT_ROUNDED,
) -> Compared:
    """Hold the rows of two sides against each other.

    Verdicts agree where both passed or both failed. Where a side has no threshold, its score has to
    be the other's. A side that could not decide what the other decided disagrees with it; what
    neither could decide is no disagreement, and not compared.

    Args:
        source: Rows of the source; their scorer is the type that they are counted under.
        target: Rows of the target.
        only_source: Whether rows that only the target has are left alone.
        digits: Decimals that the source rounds its scores to, by type.
    """
    first, second = _by_key(source), _by_key(target)
    comparing = _Comparing(digits)
    for key, row in first.items():
        comparing.add(key, row.scorer or row.metric, row, second.get(key))
    for key, row in second.items():
        if key not in first and not only_source:
            comparing.add(key, row.scorer or row.metric, None, row)
    agreements = (
        Agreement(type=kind, compared=n.compared, agreed=n.agreed, scores_differ=n.scores_differ)
        for kind, n in comparing.counts.items()
    )
    return Compared(tuple(agreements), tuple(comparing.differences), tuple(comparing.undecided))


def _by_key(rows: Iterable[Score]) -> dict[Key, Score]:
    return {Key(row.system, row.case_id, row.epoch, row.turn, row.metric): row for row in rows}


def _why_not(source: Score, target: Score) -> str | None:
    """Why two rows cannot be compared: a framework cannot, or neither side could decide."""
    for row in (source, target):
        if row.status == "unsupported":
            return row.reason
    if source.status in VALUED or target.status in VALUED:
        return None
    return source.error or source.reason or target.error or target.reason


def _difference(
    source: Score | None, target: Score | None, digits: int | None
) -> Literal["verdict", "score", "missing"] | None:
    if source is None or target is None:
        return "missing"
    close = _close(source.value, target.value, digits)
    if "scored" in (source.status, target.status):
        return None if close else "verdict"
    if source.status != target.status:
        return "verdict"
    return None if close else "score"


def _close(source: float | None, target: float | None, digits: int | None) -> bool:
    """Whether two scores are the same, as far as the source's digits go."""
    if source is None or target is None:
        return False
    rounded = target if digits is None else round(target, digits)
    return isclose(source, rounded, rel_tol=0, abs_tol=CLOSE)


def _ruling(row: Score | None) -> Ruling | None:
    if row is None:
        return None
    reason = (row.error or row.reason)[:LONGEST_REASON]
    return Ruling(status=row.status, value=row.value, reason=reason)
