"""Checks on the text of an answer: equality, substrings, regular expressions."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Annotated, Any

import re2
from pydantic import Field, model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Flag, Json, Model, Text
from bridge.scorers.matching.matchers import json_equal
from bridge.scorers.reference import NO_REFERENCE, answer_text, reference_texts
from bridge.scorers.registry import Scorer, binary, skip
from bridge.scorers.sources import DETERMINISTIC, SCORERS, TRADITIONAL

SHOWN = 120
"""Characters of an answer shown in a reason."""


def shown(value: Any) -> str:
    """A value for a reason: as JSON, on one line, of bounded length."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


class EqualsParams(Model):
    """Parameters of ``equals``.

    Attributes:
        value: What to compare with; the case's accepted answers if left out.
        ignore_case: Compare case-folded.
        strip: Leave white space at both ends out of the comparison.
    """

    value: Json = None
    ignore_case: Flag = False
    strip: Flag = True


def equals(case: Case, output: Output, params: EqualsParams) -> list[Measurement]:
    """1.0 if the answer equals an accepted answer, as text or as JSON, else 0.0."""
    accepted = case.references if params.value is None else (params.value,)
    if not accepted:
        return [skip("no reference answer")]
    found = next((item for item in accepted if _same(item, output, params)), None)
    if found is not None:
        return [binary(True, f"equals {shown(found)}")]
    wanted = shown(accepted[0]) if len(accepted) == 1 else f"one of {shown(list(accepted))}"
    return [binary(False, f"{shown(output.text)} is not {wanted}")]


def _same(reference: Any, output: Output, params: EqualsParams) -> bool:
    if isinstance(reference, str):
        return _folded(reference, params) == _folded(answer_text(output), params)
    if not isinstance(output.text, str):
        return json_equal(reference, output.text)
    try:
        return json_equal(reference, json.loads(output.text))
    except (ValueError, RecursionError):
        return False


def _folded(text: str, params: EqualsParams) -> str:
    text = text.strip() if params.strip else text
    return text.casefold() if params.ignore_case else text


Needle = Annotated[Text, Field(min_length=1)]
"""A text to look for; the empty one is in every answer."""


class ContainsParams(Model):
    """Parameters of ``contains``; without any, one of the accepted answers must occur.

    Attributes:
        value: A text that must occur; a list of texts is ``all``.
        all: Texts that must all occur.
        any: Texts of which one must occur.
        ignore_case: Compare case-folded.
    """

    value: Needle | None = None
    all: tuple[Needle, ...] = Field(default=(), min_length=1)
    any: tuple[Needle, ...] = Field(default=(), min_length=1)
    ignore_case: Flag = False

    @model_validator(mode="before")
    @classmethod
    def _list_is_all(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("value"), list):
            if "all" in data:
                raise ValueError("value and all are both lists of what must occur; keep one")
            rest = {key: item for key, item in data.items() if key != "value"}
            return {"all": data["value"], **rest}
        return data


def contains(case: Case, output: Output, params: ContainsParams) -> list[Measurement]:
    """1.0 if the answer contains what it should, else 0.0."""
    wanted = (*params.all, *([params.value] if params.value is not None else []))
    either = params.any
    if not wanted and not either:
        either = reference_texts(case)
        if not either:
            return [skip(NO_REFERENCE)]
    text = _case(answer_text(output), params)
    missing = [item for item in wanted if _case(item, params) not in text]
    if missing:
        return [binary(False, f"lacks {shown(missing)}")]
    found = [item for item in either if _case(item, params) in text]
    if either and not found:
        return [binary(False, f"contains none of {shown(list(either))}")]
    return [binary(True, f"contains {shown([*wanted, *found[:1]])}")]


def _case(text: str, params: ContainsParams) -> str:
    return text.casefold() if params.ignore_case else text


class RegexParams(Model):
    """Parameters of ``regex``.

    Attributes:
        pattern: RE2 syntax (https://github.com/google/re2/wiki/Syntax), matched in linear time.
        ignore_case: Match without regard to case.
        full: The whole answer must match, not a part of it.
        strip: Leave white space at both ends of the answer out.
    """

    pattern: Text
    ignore_case: Flag = False
    full: Flag = False
    strip: Flag = False

    @model_validator(mode="before")
    @classmethod
    def _value_is_pattern(cls, data: Any) -> Any:
        if isinstance(data, dict) and "value" in data and "pattern" not in data:
            rest = {key: item for key, item in data.items() if key != "value"}
            return {"pattern": data["value"], **rest}
        return data

    @model_validator(mode="after")
    def _compiles(self) -> RegexParams:
        try:
            compile_regex(self.pattern, self.ignore_case)
        except re2.error as error:
            raise ValueError(f"not RE2 syntax: {error}") from None
        return self


@lru_cache(maxsize=1024)
def compile_regex(pattern: str, ignore_case: bool = False) -> Any:
    """A compiled RE2 pattern; linear in the text, without look-around or back-references."""
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    return re2.compile(pattern, options)


def regex(_: Case, output: Output, params: RegexParams) -> list[Measurement]:
    """1.0 if the answer matches, else 0.0."""
    compiled = compile_regex(params.pattern, params.ignore_case)
    text = answer_text(output)
    text = text.strip() if params.strip else text
    match = compiled.fullmatch(text) if params.full else compiled.search(text)
    if match is None:
        return [binary(False, f"does not match {params.pattern}")]
    return [binary(True, f"matches at {match.start()}", details={"span": list(match.span())})]


class StartsWithParams(Model):
    """Parameters of ``starts_with``.

    Attributes:
        value: How the answer must start; one of the accepted answers if left out.
        ignore_case: Compare case-folded.
    """

    value: Needle | None = None
    ignore_case: Flag = False


def starts_with(case: Case, output: Output, params: StartsWithParams) -> list[Measurement]:
    """1.0 if the answer starts as it should, white space included, else 0.0."""
    starts = reference_texts(case) if params.value is None else (params.value,)
    if not starts:
        return [skip(NO_REFERENCE)]
    longest = max(map(len, starts))
    text = answer_text(output)[: 3 * longest]  # a folded sign is at most three
    if params.ignore_case:
        text, starts = text.casefold(), tuple(start.casefold() for start in starts)
    if text.startswith(starts):
        return [binary(True, "starts as it should")]
    return [binary(False, f"{shown(text)} does not start with {shown(starts[0])}")]


EQUALS = Scorer(
    "equals",
    "1",
    equals,
    EqualsParams,
    summary="The answer equals an accepted answer.",
    source=(
        f"{DETERMINISTIC}#equality",
        "https://deepeval.com/docs/metrics-exact-match",
        f"{TRADITIONAL}#exact-match",
    ),
)
CONTAINS = Scorer(
    "contains",
    "1",
    contains,
    ContainsParams,
    summary="The answer contains given texts.",
    source=(
        f"{DETERMINISTIC}#contains",
        f"{TRADITIONAL}#string-presence",
        f"{SCORERS}#includes",
    ),
)
STARTS_WITH = Scorer(
    "starts_with",
    "1",
    starts_with,
    StartsWithParams,
    summary="The answer starts with a given text.",
    source=(f"{DETERMINISTIC}#starts-with",),
)
REGEX = Scorer(
    "regex",
    "1",
    regex,
    RegexParams,
    summary="The answer matches a RE2 pattern.",
    source=(f"{DETERMINISTIC}#regex", "https://deepeval.com/docs/metrics-pattern-match"),
)
