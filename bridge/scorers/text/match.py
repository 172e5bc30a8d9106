"""Inspect AI's ``match``: an accepted answer at the start, at the end, anywhere, or the whole."""

from __future__ import annotations

import string
from typing import Literal

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Flag
from bridge.scorers.reference import NO_REFERENCE, ReferenceParams, answer_text, wanted_texts
from bridge.scorers.registry import Scorer, binary, skip
from bridge.scorers.sources import SCORERS
from bridge.scorers.text.literal import shown
from bridge.scorers.text.number import parse_number, strip_decoration

_PUNCTUATION = string.whitespace + string.punctuation


class MatchParams(ReferenceParams):
    """Parameters of ``match``.

    Attributes:
        value: What to look for, a text or several of which one suffices; the case's accepted
            answers if left out.
        location: Where it must stand.
        ignore_case: Compare case-folded.
        numeric: Where what is wanted is a number, compare with the first (``begin``), last
            (``end``) or any number of the answer, to five significant digits.
    """

    location: Literal["begin", "end", "any", "exact"] = "end"
    ignore_case: Flag = True
    numeric: Flag = False


def match(case: Case, output: Output, params: MatchParams) -> list[Measurement]:
    """1.0 if an accepted answer stands where it should, else 0.0.

    White space and punctuation at both ends do not count. An accepted answer of nothing but
    punctuation matches nothing; Inspect AI has it match everything.
    """
    wanted = wanted_texts(case, params)
    if not wanted:
        return [skip(NO_REFERENCE)]
    text = answer_text(output).strip()
    text = text.casefold() if params.ignore_case else text
    found = next((each for each in wanted if _matches(text, each.strip(), params)), None)
    if found is not None:
        return [binary(True, f"matches {shown(found)} ({params.location})")]
    return [binary(False, f"{shown(wanted[0])} is not there ({params.location})")]


def _matches(text: str, wanted: str, params: MatchParams) -> bool:
    wanted = wanted.casefold() if params.ignore_case else wanted
    if params.numeric:
        wanted = strip_decoration(wanted)
        target = parse_number(wanted)
        if target is not None:
            return _number_matches(strip_decoration(text), _rounded(target), params.location)
    wanted, text = wanted.strip(_PUNCTUATION), text.strip(_PUNCTUATION)
    if not wanted:
        return False
    if params.location == "begin":
        return text.startswith(wanted)
    if params.location == "end":
        return text.endswith(wanted)
    return text == wanted if params.location == "exact" else wanted in text


def _number_matches(text: str, wanted: str, location: str) -> bool:
    if location == "exact":
        value = parse_number(text, trim=False)
        return value is not None and _rounded(value) == wanted
    words = text.split()
    read = map(parse_number, reversed(words) if location == "end" else words)
    values = (_rounded(value) for value in read if value is not None)
    return wanted in values if location == "any" else next(values, None) == wanted


def _rounded(value: float) -> str:
    return format(value, ".5g")


MATCH = Scorer(
    "match",
    "1",
    match,
    MatchParams,
    summary="An accepted answer stands at the end (start, anywhere) of the answer.",
    source=(f"{SCORERS}#match",),
)
