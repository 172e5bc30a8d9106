"""Numbers in an answer: found among words, read in the ways people write them, compared."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

from pydantic import Field, model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Flag, Model, Number
from bridge.scorers.reference import answer_text, reference_texts
from bridge.scorers.registry import Scorer, binary, skip
from bridge.scorers.sources import SCORERS

LONGEST_NUMBER = 400
"""Most characters of a word that is read as a number."""

_ESCAPED = re.compile(r"\\([$,£€*_])")
_DECORATION = re.compile(r"[$,£€*_]")
_FULL_STOP = re.compile(r"\.(?=\D|$)")
_AROUND = "!?:;()[]{}'\"`"
_MINUS = str.maketrans({"−": "-", "－": "-", "﹣": "-", "＋": "+", "．": "."})
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED = re.compile("[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+$")


def strip_decoration(text: str) -> str:
    """A text without currency signs, thousands separators, emphasis and full stops.

    The percent sign stays: 60 % may mean 60 or 0.6.
    """
    return _FULL_STOP.sub("", _DECORATION.sub("", _ESCAPED.sub(r"\1", text)))


def parse_number(word: str, *, trim: bool = True) -> float | None:
    """A word as a finite number: decimals, exponents, ½, 2½, 3², the digits of any script.

    Args:
        word: Without decoration (:func:`strip_decoration`).
        trim: Leave brackets, quotes and sentence signs around it out.
    """
    if word.isascii() and word.isalpha():  # most words, soon done
        return None
    word = (word.strip(_AROUND) if trim else word).strip()
    if not word or len(word) > LONGEST_NUMBER:
        return None
    try:
        value = _float(word)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    return value if isinstance(value, float) and math.isfinite(value) else None


def _float(word: str) -> float | complex:
    try:
        return float(word)
    except ValueError:
        word = word.translate(_MINUS)
    raised = _RAISED.search(word)
    if raised is None or raised.start() == 0:
        return _mixed(word)
    power: float | complex = _mixed(word[: raised.start()]) ** int(
        raised.group().translate(_SUPERSCRIPT)
    )
    return power


def _mixed(word: str) -> float:
    """A decimal, or a whole part with a fraction sign after it."""
    fraction = unicodedata.numeric(word[-1], 0.0)
    if not 0.0 < fraction < 1.0:
        return float(word) if len(word) > 1 else unicodedata.numeric(word)
    whole = word[:-1]
    sign = -1.0 if whole.startswith("-") else 1.0
    return sign * fraction if whole in ("", "-", "+") else float(whole) + sign * fraction


def numbers_in(text: str) -> Iterator[float]:
    """The numbers among the words of a text, in order."""
    for word in strip_decoration(text).split():
        value = parse_number(word)
        if value is not None:
            yield value


class NumberParams(Model):
    """Parameters of ``number``.

    Attributes:
        value: The number wanted; the case's accepted answers that are numbers if left out.
        abs: Largest difference that is still equal.
        rel: Largest difference that is still equal, as a share of the number wanted.
        which: Which number of the answer counts.
        percent: Read 60% as 0.6, in the answer and in references.
    """

    value: Number | None = None
    abs: Number = Field(default=0.0, ge=0)
    rel: Number = Field(default=1e-9, ge=0)
    which: Literal["last", "first", "any", "only"] = "last"
    percent: Flag = False

    @model_validator(mode="before")
    @classmethod
    def _whole_is_number(cls, data: object) -> object:
        if isinstance(data, dict) and isinstance(data.get("value"), str):
            number = next(numbers_in(data["value"]), None)
            return data if number is None else {**data, "value": number}
        return data


def number(case: Case, output: Output, params: NumberParams) -> list[Measurement]:
    """1.0 if the number in the answer is the one wanted, within a tolerance, else 0.0.

    As of ``math.isclose``, but ``rel`` is of the number wanted: ``|a - w| <= max(abs, rel |w|)``.
    """
    wanted = _wanted(case, params)
    if not wanted:
        return [skip("no reference that is a number")]
    found = list(_numbers(answer_text(output), params))
    if not found:
        return [binary(False, "no number in the answer")]
    if params.which == "only" and len(found) > 1:
        return [binary(False, f"{len(found)} numbers in the answer, not one")]
    chosen = (
        found if params.which == "any" else found[:1] if params.which == "first" else found[-1:]
    )
    hit = next((a for a in chosen if any(_close(a, w, params) for w in wanted)), None)
    details = {"found": found[:20] if params.which == "any" else chosen, "wanted": list(wanted)}
    if hit is not None:
        return [binary(True, f"{hit:g} is as wanted", details=details)]
    return [binary(False, f"{chosen[-1]:g} is not {wanted[0]:g}", details=details)]


def _wanted(case: Case, params: NumberParams) -> tuple[float, ...]:
    if params.value is not None:
        return (params.value,)
    texts = reference_texts(case)
    return tuple(value for text in texts for value in list(_numbers(text, params))[-1:])


def _numbers(text: str, params: NumberParams) -> Iterator[float]:
    if not params.percent:
        yield from numbers_in(text)
        return
    for word in strip_decoration(text).split():
        word = word.strip(_AROUND)
        value = parse_number(word.removesuffix("%"))
        if value is not None:
            yield value / 100 if word.endswith("%") else value


def _close(actual: float, wanted: float, params: NumberParams) -> bool:
    return abs(actual - wanted) <= max(params.abs, params.rel * abs(wanted))


NUMBER = Scorer(
    "number",
    "1",
    number,
    NumberParams,
    summary="A number in the answer is the one wanted, within a tolerance.",
    source=(f"{SCORERS}#match", "https://docs.python.org/3/library/math.html#math.isclose"),
)
