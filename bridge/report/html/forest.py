"""A forest plot: each gated metric's paired difference with its interval, as SVG geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bridge.model.verdict import MetricResult, Verdict
from bridge.report import words

ROW = 26
"""Height of a row, in SVG units."""
LEFT, RIGHT, TOP = 190, 24, 12
WIDTH = 760
LEAST_SPAN = 0.05
"""The axis reaches at least this far to both sides of zero."""
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
NAME_LIMIT = 26


@dataclass(frozen=True, slots=True)
class Mark:
    """One metric: centre and ends of its whisker, in SVG units."""

    name: str
    status: str
    y: float
    x: float
    low: float
    high: float
    text: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on the axis."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Forest:
    """The whole plot; zero, "no change", is at ``zero``."""

    width: int
    height: int
    zero: float
    marks: Sequence[Mark]
    ticks: Sequence[Tick]


@dataclass(frozen=True, slots=True)
class _Axis:
    """Differences from ``-span`` to ``span`` as places."""

    span: float

    def place(self, value: float) -> float:
        share = (value + self.span) / (2 * self.span)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def ticks(self) -> list[Tick]:
        step = next((each for each in STEPS if self.span / each <= 4), 1.0)
        count = int(self.span / step)
        values = [number * step for number in range(-count, count + 1)]
        return [Tick(self.place(each), f"{each:+.2f}" if each else "0") for each in values]


def forest(verdict: Verdict) -> Forest | None:
    """The plot of a verdict; ``None`` where nothing was compared."""
    ordered = words.worst_first(verdict.metrics)
    rows = [(name, result) for name, result in ordered if result.delta is not None]
    if not rows:
        return None
    axis = _Axis(1.05 * max(LEAST_SPAN, *(abs(end) for _, row in rows for end in _ends(row))))
    marks = [_mark(axis, index, *row) for index, row in enumerate(rows)]
    height = TOP + ROW * len(rows) + 28
    return Forest(WIDTH, height, axis.place(0.0), marks, axis.ticks())


def _ends(result: MetricResult) -> tuple[float, float, float]:
    """Low end, centre and high end of a difference; all the same without an interval."""
    delta = result.delta or 0.0
    low = delta if result.delta_low is None else result.delta_low
    return low, delta, delta if result.delta_high is None else result.delta_high


def _mark(axis: _Axis, index: int, name: str, result: MetricResult) -> Mark:
    low, delta, high = map(axis.place, _ends(result))
    shown = name if len(name) <= NAME_LIMIT else f"{name[: NAME_LIMIT - 1]}…"
    text = f"{name}: {words.change(result)}"
    return Mark(shown, result.status, TOP + ROW * (index + 0.5), delta, low, high, text)
