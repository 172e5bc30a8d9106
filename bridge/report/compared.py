"""What all reports say of a comparison: tables as heads and rows of plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bridge.model.comparison import Comparison, Preferences
from bridge.model.counted import counted
from bridge.report import words
from bridge.report.columns import cut
from bridge.report.inert import one_line


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: its title, its columns and its rows, every cell inert text on one line.

    ``more`` is how many rows there are beyond those listed.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    more: int = 0


def headline(found: Comparison) -> str:
    """The comparison in one line."""
    first, second = (one_line(name, 120) for name in found.names)
    differ = len(found.changes or found.disagreements) + found.more
    if found.kind == "runs":
        metrics, values = len(found.metrics), counted(differ, "changed value")
        return f"{first} → {second}: {counted(metrics, 'metric')}, {values}"
    metrics, rows = len(found.agreement), counted(differ, "different row")
    return f"{first} and {second}: {counted(metrics, 'metric')}, {rows}"


def grids(found: Comparison) -> Iterator[Grid]:
    """The tables of a comparison; one without rows is left out."""
    made = (
        [_metrics(found), _changes(found), *_preferences(found.preferences)]
        if found.kind == "runs"
        else [_agreement(found), _disagreements(found)]
    )
    return (grid for grid in made if grid.rows)


def legend(found: Comparison) -> list[str]:
    """How to read the numbers."""
    if found.kind == "runs":
        count = counted(len(found.metrics), "metric")
        asked = () if found.preferences is None else _how_preferred(found.preferences)
        return [
            f"p: two-sided paired test, Holm-adjusted over {count}; nothing is decided",
            "change: mean paired difference with its two-sided 95% interval",
            *asked,
        ]
    return [
        "agree, kappa: of the verdicts passed and failed; kappa is agreement beyond chance",
        "bias: mean difference of the values with the limits of agreement (Bland and Altman)",
    ]


def _metrics(found: Comparison) -> Grid:
    head = ("metric", "n", "first", "second", "change", "better", "worse", "p")
    rows = [
        (
            cut(one_line(name, 100), 30),
            str(each.n),
            words.number(each.first),
            words.number(each.second),
            f"{each.delta:+.3f} [{each.low:+.3f}, {each.high:+.3f}]",
            str(each.better),
            str(each.worse),
            words.p_value(each.p),
        )
        for name, each in found.metrics.items()
    ]
    return Grid("Metrics", head, rows)


def _changes(found: Comparison) -> Grid:
    head = ("case", "metric", "first", "second", "failure mode", "reason")
    rows = [
        (
            cut(one_line(each.case_id, 100), 32),
            cut(one_line(each.metric, 100), 24),
            words.number(each.values[0], 2),
            words.number(each.values[1], 2),
            cut(one_line(each.failure_mode or "-", 100), 24),
            one_line(each.reasons[1] or each.reasons[0]),
        )
        for each in found.changes
    ]
    return Grid("Cases that changed", head, rows, found.more)


def _preferences(found: Preferences | None) -> list[Grid]:
    if found is None:
        return []
    head = ("judge", "n", "first wins", "second wins", "ties", "second's share", "p", "flipped")
    share = words.number(found.rate)
    if found.low is not None and found.high is not None:
        share = f"{share} [{found.low:.3f}, {found.high:.3f}]"
    row = (
        cut(one_line(found.judge, 100), 30),
        str(found.n),
        str(found.first),
        str(found.second),
        str(found.ties),
        share,
        words.p_value(found.p),
        f"{found.flip_rate:.1%}",
    )
    return [Grid("Preferences", head, [row]), _preferred(found)]


def _preferred(found: Preferences) -> Grid:
    head = ("case", "preferred", "with the first shown first", "with the second shown first")
    rows = [
        (
            cut(one_line(each.case_id, 100), 32),
            "order decides" if each.flipped else each.choice,
            cut(one_line(each.rationales[0]), 100),
            one_line(each.rationales[1]),
        )
        for each in found.cases
        if len(each.rationales) == 2
    ]
    return Grid("Preferred answers", head, rows, found.more)


def _how_preferred(found: Preferences) -> list[str]:
    """How to read preferences, and what may be wrong with them."""
    flips = f"{found.flips} of {found.n}, towards the answer shown first in {found.shown_first}"
    lines = [
        "preferences: a win where both orders of the answers agree, else a tie; exact sign test",
        f"flipped: the order decided in {flips}",
    ]
    if found.errors:
        kinds = ", ".join(f"{kind} {n}" for kind, n in found.errors.items())
        lines.append(f"without an answer of the judge: {sum(found.errors.values())} ({kinds})")
    swayed = sum(bool(each.sway) for each in found.cases)
    if swayed:
        lines.append(f"answers that speak to their judge: in {swayed} of the cases listed")
    if found.took is not None:
        lines.append(f"the judge took {words.took(found.took)}")
    return lines


def _agreement(found: Comparison) -> Grid:
    head = ("metric", "n", "first", "second", "agree", "kappa", "spearman", "bias", "flipped")
    rows = [
        (
            cut(one_line(name, 100), 30),
            str(each.n),
            words.number(each.first),
            words.number(each.second),
            words.number(each.agreement),
            words.number(each.kappa),
            words.number(each.spearman),
            _limits(each.bias, each.low, each.high),
            str(each.flipped),
        )
        for name, each in found.agreement.items()
    ]
    return Grid("Agreement", head, rows)


def _limits(bias: float | None, low: float | None, high: float | None) -> str:
    if bias is None:
        return "-"
    return f"{bias:+.3f}" if low is None else f"{bias:+.3f} [{low:+.3f}, {high:+.3f}]"


def _disagreements(found: Comparison) -> Grid:
    head = ("case", "metric", "first", "second", "reason of the first", "reason of the second")
    rows = [
        (
            cut(one_line(_row_name(each.case_id, each.epoch, each.turn), 100), 32),
            cut(one_line(each.metric, 100), 24),
            f"{each.statuses[0]} {each.values[0]:.2f}",
            f"{each.statuses[1]} {each.values[1]:.2f}",
            cut(one_line(each.reasons[0]), 60),
            one_line(each.reasons[1]),
        )
        for each in found.disagreements
    ]
    return Grid("Rows that differ", head, rows, found.more)


def _row_name(case_id: str, epoch: int, turn: int | None) -> str:
    name = case_id if turn is None else f"{case_id} turn {turn}"
    return name if epoch == 1 else f"{name} in epoch {epoch}"
