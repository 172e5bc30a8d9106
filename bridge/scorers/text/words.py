"""Checks on the words of an answer: how many, and how many of the right ones."""

from __future__ import annotations

import math
import re
import string
from collections import Counter

from pydantic import Field, model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Model, Text, Whole
from bridge.scorers.reference import (
    NO_REFERENCE,
    ReferenceParams,
    answer_text,
    best_of,
    bounded,
    wanted_texts,
)
from bridge.scorers.registry import Scorer, binary, skip
from bridge.scorers.sources import DETERMINISTIC, SCORERS
from bridge.scorers.text.literal import shown

SQUAD = "https://rajpurkar.github.io/SQuAD-explorer/"

WHITE_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What JavaScript's ``\\s`` holds, for a character class."""

_WORD = re.compile(f"[^{WHITE_SPACE}]+")


class WordCountParams(Model):
    """Parameters of ``word_count``.

    Attributes:
        value: Exact number of words.
        min: Least number of words.
        max: Most words.
    """

    value: Whole | None = Field(default=None, ge=0)
    min: Whole | None = Field(default=None, ge=0)
    max: Whole | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _is_a_range(self) -> WordCountParams:
        if (self.value is None) == (self.min is None and self.max is None):
            raise ValueError("takes a number, or min and max")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is above max")
        return self


def word_count(_: Case, output: Output, params: WordCountParams) -> list[Measurement]:
    """1.0 if the answer has as many words (between white space) as it should, else 0.0."""
    count = len(_WORD.findall(answer_text(output)))
    least = params.min if params.value is None else params.value
    most = params.max if params.value is None else params.value
    passed = (least is None or count >= least) and (most is None or count <= most)
    wanted = f"{least or 0} to {'any number' if most is None else most}"
    reason = f"{count} words, {'within' if passed else 'outside'} {wanted}"
    return [binary(passed, reason, details={"words": count})]


def normalise(text: str, stop_words: frozenset[str] = frozenset()) -> str:
    """Words as SQuAD compares them: case-folded, without punctuation and articles, numbers equal.

    Words are what stands between spaces and hyphens.
    """
    tokens = (_normalise_token(token) for token in re.split("[ -]", text))
    return " ".join(token for token in tokens if token and token not in stop_words)


_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def _normalise_token(token: str) -> str:
    token = token.casefold()
    if token.isascii() and token.isalpha():  # most are, and none is a number
        return "" if token in ("a", "an", "the") else token
    bare = token.strip(string.whitespace + string.punctuation)
    for written in (token, bare):
        number = _finite(written)
        if number is not None:
            return str(number)
    return " ".join(_ARTICLES.sub(" ", token.translate(_NO_PUNCTUATION)).split())


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def exact(case: Case, output: Output, params: ReferenceParams) -> list[Measurement]:
    """1.0 if the answer equals an accepted answer after SQuAD's normalisation, else 0.0.

    Case, punctuation, articles and spaces do not count, 1.0 is 1. An accepted answer of which
    nothing is left matches nothing.
    """
    wanted = wanted_texts(case, params)
    if not wanted:
        return [skip(NO_REFERENCE)]
    text = normalise(bounded(answer_text(output)))
    found = next((each for each in wanted if text and normalise(each) == text), None)
    if found is not None:
        return [binary(True, f"is {shown(found)} when normalised")]
    return [binary(False, f"{shown(text)} is not {shown(normalise(wanted[0]))}")]


class F1Params(ReferenceParams):
    """Parameters of ``f1``.

    Attributes:
        value: What to compare with, a text or several of which the best counts; the case's
            accepted answers if left out.
        stop_words: Words that do not count.
    """

    stop_words: tuple[Text, ...] = ()


def f1(case: Case, output: Output, params: F1Params) -> list[Measurement]:
    """Harmonic mean of the precision and recall of the answer's words, of SQuAD's definition.

    Words are counted as often as they occur, after normalisation as in ``exact``. Inspect AI
    rounds the value to two decimals; here it is not rounded.
    """
    stop_words = frozenset(_normalise_token(word) for word in params.stop_words)
    return best_of("f1", case, output, params, lambda a, b: word_f1(a, b, stop_words))


def word_f1(text: str, reference: str, stop_words: frozenset[str] = frozenset()) -> float:
    """F1 of two texts' normalised words; 0 if the reference has none."""
    found = Counter(normalise(text, stop_words).split())
    wanted = Counter(normalise(reference, stop_words).split())
    common = sum((found & wanted).values())
    return 2 * common / (found.total() + wanted.total()) if common else 0.0


WORD_COUNT = Scorer(
    "word_count",
    "1",
    word_count,
    WordCountParams,
    summary="The number of words is within a range.",
    source=(f"{DETERMINISTIC}#word-count",),
)
EXACT = Scorer(
    "exact",
    "1",
    exact,
    ReferenceParams,
    summary="The answer equals an accepted answer, normalised.",
    source=(f"{SCORERS}#exact", SQUAD),
)
F1 = Scorer(
    "f1",
    "1",
    f1,
    F1Params,
    threshold=0.5,
    summary="Words that answer and reference share.",
    source=(f"{SCORERS}#f1", SQUAD),
)
