"""Levels of a score, for people: where one ends and the next begins."""

from __future__ import annotations

from bisect import bisect_right

LEVELS = ("poor", "fair", "good", "excellent")
FROM = (0.3, 0.6, 0.85)
"""The values from which ``fair``, ``good`` and ``excellent`` begin."""


def level_of(value: float) -> str:
    """The level of a value in [0, 1]."""
    return LEVELS[bisect_right(FROM, value)]


def middle_of(level: str) -> float:
    """The value in the middle of a level."""
    ends = (0.0, *FROM, 1.0)
    place = LEVELS.index(level)
    return (ends[place] + ends[place + 1]) / 2
