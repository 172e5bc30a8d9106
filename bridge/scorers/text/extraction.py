"""Inspect AI's ``pattern`` and ``answer``: a part of the answer is taken out and compared."""

from __future__ import annotations

from typing import Any, Literal

import re2
from pydantic import model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Flag, Model, Text
from bridge.scorers.reference import NO_REFERENCE, answer_text, reference_texts
from bridge.scorers.registry import Scorer, binary, skip
from bridge.scorers.sources import SCORERS
from bridge.scorers.text.literal import compile_regex, shown

Kind = Literal["letter", "word", "line"]

_MARK = r"(?i)ANSWER\s*:"
_ANSWERS: dict[Kind, str] = {
    "letter": r"(?i)ANSWER\s*:\s*([a-z])(?:\W|$)",
    "word": r"(?i)ANSWER\s*:\s*(\S+?)[.,;:!?]?\s*(?:\n|$)",
    "line": r"(?i)ANSWER\s*:\s*([^\n]+)\s*$",
}
"""After the last mark; a line must be the last one."""


class PatternParams(Model):
    """Parameters of ``pattern``.

    Attributes:
        pattern: RE2 syntax; its groups, or all of it where it has none, are what is compared.
        ignore_case: Search and compare without regard to case.
        match_all: All groups that took part must be accepted answers, not only one.
    """

    pattern: Text
    ignore_case: Flag = True
    match_all: Flag = False

    @model_validator(mode="after")
    def _compiles(self) -> PatternParams:
        try:
            compile_regex(self.pattern, self.ignore_case)
        except re2.error as error:
            raise ValueError(f"not RE2 syntax: {error}") from None
        return self


def pattern(case: Case, output: Output, params: PatternParams) -> list[Measurement]:
    """1.0 if what the pattern takes out of the answer is an accepted answer, else 0.0."""
    wanted = reference_texts(case)
    if not wanted:
        return [skip(NO_REFERENCE)]
    found = compile_regex(params.pattern, params.ignore_case).search(answer_text(output))
    if found is None:
        return [binary(False, f"does not match {params.pattern}")]
    groups = found.groups() or (found.group(),)
    return [_compared(groups, wanted, params.ignore_case, params.match_all)]


def _compared(
    groups: tuple[Any, ...], wanted: tuple[str, ...], ignore_case: bool, match_all: bool
) -> Measurement:
    taken = [group for group in groups if group is not None]
    accepted = {each.lower() if ignore_case else each for each in wanted}
    hits = [bool(text) and (text.lower() if ignore_case else text) in accepted for text in taken]
    passed = bool(hits) and (all(hits) if match_all else any(hits))
    said = ", ".join(map(shown, taken)) or "nothing"
    reason = f"took out {said}" if passed else f"took out {said}, not {shown(wanted[0])}"
    return binary(passed, reason, details={"extracted": taken})


class AnswerParams(Model):
    """Parameters of ``answer``.

    Attributes:
        kind: What stands after ``ANSWER:``; also written as the bare value.
    """

    kind: Kind

    @model_validator(mode="before")
    @classmethod
    def _value_is_kind(cls, data: object) -> object:
        if isinstance(data, dict) and "value" in data and "kind" not in data:
            rest = {key: item for key, item in data.items() if key != "value"}
            return {"kind": data["value"], **rest}
        return data


def answer(case: Case, output: Output, params: AnswerParams) -> list[Measurement]:
    """1.0 if what stands after the last ``ANSWER:`` is an accepted answer, else 0.0."""
    wanted = reference_texts(case)
    if not wanted:
        return [skip(NO_REFERENCE)]
    text = answer_text(output)
    marks = [each.start() for each in compile_regex(_MARK).finditer(text)]
    tail = text[marks[-1] :] if marks else ""
    compiled = compile_regex(_ANSWERS[params.kind])
    # a line may hold further marks, and counts from the first of them
    found = compiled.search(text) if params.kind == "line" else compiled.match(tail)
    if found is None:
        return [binary(False, f"no {params.kind} after ANSWER:")]
    return [_compared(found.groups(), wanted, ignore_case=True, match_all=False)]


PATTERN = Scorer(
    "pattern",
    "1",
    pattern,
    PatternParams,
    summary="What a pattern takes out of the answer is an accepted answer.",
    source=(f"{SCORERS}#pattern",),
)
ANSWER = Scorer(
    "answer",
    "1",
    answer,
    AnswerParams,
    summary="What stands after ANSWER: is an accepted answer.",
    source=(f"{SCORERS}#answer",),
)
