"""A text as a set of hashed n-grams: words, pairs and triples of words, and runs of characters.

The hashing trick (Weinberger et al. 2009, "Feature Hashing for Large Scale Multitask Learning"):
no vocabulary is kept, so that a text costs the same whatever it holds, and weights reveal no
training text. Everything is integer arithmetic modulo 2^64 in numpy, the same on every machine.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

BITS = 18
"""Of a bucket number; there are ``2 ** BITS`` buckets."""

WINDOW = 1_024
"""Most characters that are read as one text."""

FEW = 40
"""So many buckets are taken to be there besides, with no weight: a few words prove little."""

SIGNALS = 5
"""How many numbers :func:`signals` gives."""

VERSION = "1"
"""A new one whenever equal text may give other features; weights of another version are refused."""

_STEP = 768
_SEVERITIES = ("low", "medium", "high", "critical")
_CHARACTERS = (3, 4, 5)
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_SKIP = np.uint64(0xA0761D6478BD642F)
_SHIFT = np.uint64(64 - BITS)

Buckets = NDArray[np.int64]


def windows(length: int, most: int) -> list[tuple[int, int]]:
    """Spans of the windows of a text: overlapping, and spread over it where there are too many.

    Args:
        length: of the text, in characters.
        most: number of windows; 2 or more.
    """
    if length <= WINDOW:
        return [(0, length)]
    starts = range(0, length - WINDOW + _STEP, _STEP)
    if len(starts) > most:
        starts_spread = [i * (length - WINDOW) // (most - 1) for i in range(most)]
        return [(start, start + WINDOW) for start in starts_spread]
    return [(start, min(start + WINDOW, length)) for start in starts]


def signals(severity: str | None, score: float) -> tuple[float, ...]:
    """What the rules found, as numbers: one for each severity, and the log-odds-like score.

    Args:
        severity: the highest of the rules that matched; None without one.
        score: the rules' own, in [0, 1].
    """
    top = [float(severity == name) for name in _SEVERITIES]
    return (*top, min(-math.log(max(1.0 - score, 1e-3)), 5.0) / 2.0)


def canonical(text: str) -> str:
    """``text`` in lower case, with single spaces for white space and zeros for digits.

    Args:
        text: at most ``WINDOW`` characters; a few of them grow, and then the end is cut off.
    """
    return " ".join(text.lower().translate(_digits()).split())[:WINDOW]


@cache
def _digits() -> dict[int, str]:
    return dict.fromkeys(range(ord("1"), ord("9") + 1), "0")


def buckets(text: str) -> Buckets:
    """The distinct buckets of a text of at most ``WINDOW`` characters, ascending; never empty."""
    codes = np.frombuffer(
        f" {canonical(text) or '.'} ".encode("utf-32-le", "surrogatepass"), np.uint32
    )
    wide = codes.astype(np.uint64)
    hashes = [*_characters(wide), *_words(codes, wide)]
    mixed = np.concatenate(hashes) * _MIX
    mixed ^= mixed >> np.uint64(32)
    mixed *= _MIX
    return np.unique(mixed >> _SHIFT).astype(np.int64)


def _characters(codes: NDArray[np.uint64]) -> list[NDArray[np.uint64]]:
    """Hashes of every run of 3, 4 and 5 characters."""
    found = []
    run = codes
    for length in range(2, max(_CHARACTERS) + 1):
        run = run[:-1] * _BASE + codes[length - 1 :]
        if length in _CHARACTERS:
            found.append(run)
    return found


def _words(codes: NDArray[np.uint32], wide: NDArray[np.uint64]) -> list[NDArray[np.uint64]]:
    """Hashes of every word, of neighbours, of words one apart, and of three in a row."""
    inside = np.where(codes < 128, _is_word()[codes & 127], True)
    turns = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, ends = turns[::2], turns[1::2]
    if not len(starts):
        return []
    sums = np.cumsum(wide * _powers()[: len(wide)])
    words = (sums[ends - 1] - sums[starts - 1]) * _inverses()[starts]
    words = (words ^ (words >> np.uint64(29))) * _MIX
    pairs = words[:-1] * _BASE + words[1:]
    return [words, pairs, words[:-2] * _SKIP + words[2:], pairs[:-1] * _BASE + words[2:]]


@cache
def _is_word() -> NDArray[np.bool_]:
    return np.array([chr(code).isalnum() or chr(code) == "'" for code in range(128)])


@cache
def _powers() -> NDArray[np.uint64]:
    return _geometric(_BASE)


@cache
def _inverses() -> NDArray[np.uint64]:
    return _geometric(np.uint64(pow(int(_BASE), -1, 1 << 64)))


def _geometric(factor: np.uint64) -> NDArray[np.uint64]:
    """1, factor, factor^2, ... modulo 2^64."""
    factors = np.full(WINDOW + 2, factor)
    factors[0] = 1
    return np.cumprod(factors)
