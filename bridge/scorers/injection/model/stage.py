"""The second stage at work: the readings of a text, window by window, the worst one counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bridge.scorers.injection.model import features
from bridge.scorers.injection.model.linear import Weights

MOST_READINGS = 6
"""How many readings of a text are looked at: as it is, decoded, with disguises taken off."""

_MOST_WINDOWS = 24
_MOST_FURTHER = 4
_SENTENCE = re.compile(r"[^.!?\n。！？।]+")
_MOST_SENTENCES = 16


class Suspicion(NamedTuple):
    """What the second stage makes of a text.

    Attributes:
        score: calibrated, in [0, 1], wording and rules together.
        reading: index of the most suspicious reading.
        start: first character of its most suspicious window.
        end: one past the last character of that window.
    """

    score: float
    reading: int
    start: int
    end: int


def suspicion(readings: Sequence[str], signals: Sequence[float], weights: Weights) -> Suspicion:
    """Score a text by its most suspicious window.

    Args:
        readings: of one text, the plain one first; at least one. Of the first, 24 windows of 1,024
            characters are read, of each further one 4; longer readings are sampled evenly.
        signals: what the rules found (:func:`features.signals`).
        weights: the trained model.
    """
    wording, *where = _worst(readings, weights)
    return Suspicion(weights.score(weights.log_odds(wording, signals)), *where)


def log_odds(readings: Sequence[str], signals: Sequence[float], weights: Weights) -> float:
    """The same before calibration."""
    return weights.log_odds(_worst(readings, weights)[0], signals)


def _worst(readings: Sequence[str], weights: Weights) -> tuple[float, int, int, int]:
    return max(_windows(readings, weights), key=lambda one: one[0])


def _windows(readings: Sequence[str], weights: Weights) -> Iterator[tuple[float, int, int, int]]:
    for index, text in enumerate(readings[:MOST_READINGS]):
        most = _MOST_FURTHER if index else _MOST_WINDOWS
        for start, end in features.windows(len(text), most):
            yield weights.wording(features.buckets(text[start:end])), index, start, end


def strongest(text: str, start: int, end: int, weights: Weights) -> tuple[int, int]:
    """The most suspicious sentence of a window, as a span of ``text``: evidence to show."""
    spans = [(start + m.start(), start + m.end()) for m in _SENTENCE.finditer(text[start:end])]
    spans = [(a, b) for a, b in spans if text[a:b].strip()][:_MOST_SENTENCES] or [(start, end)]
    return max(spans, key=lambda span: weights.wording(features.buckets(text[slice(*span)])))
