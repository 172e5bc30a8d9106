"""Checks for JSON in an answer, with or without a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import Field, model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import JsonObject, Model
from bridge.scorers.reference import answer_text
from bridge.scorers.registry import Scorer, binary
from bridge.scorers.sources import DETERMINISTIC
from bridge.scorers.structure.contract import SchemaError, check_schema, violations


class IsJsonParams(Model):
    """Parameters of ``is_json``.

    Attributes:
        json_schema: A JSON Schema (2020-12 unless it names another draft); written ``schema``,
            or as the bare value.
    """

    json_schema: JsonObject | None = Field(default=None, alias="schema")

    @model_validator(mode="before")
    @classmethod
    def _value_is_schema(cls, data: Any) -> Any:
        if isinstance(data, dict) and "value" in data and "schema" not in data:
            rest = {key: item for key, item in data.items() if key != "value"}
            return {"schema": data["value"], **rest}
        return data

    @model_validator(mode="after")
    def _is_a_schema(self) -> IsJsonParams:
        if self.json_schema is not None:
            try:
                check_schema(self.json_schema)
            except SchemaError as error:
                raise ValueError(f"schema is not usable: {error}") from None
        return self


def is_json(_: Case, output: Output, params: IsJsonParams) -> list[Measurement]:
    """1.0 if the answer is JSON (and fits the schema), else 0.0."""
    value = output.text
    if isinstance(value, str):
        try:
            value = json.loads(value, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            return [binary(False, f"not JSON: {error}")]
    if params.json_schema is None:
        return [binary(True, "is JSON")]
    faults = violations(params.json_schema, value)
    if not faults:
        return [binary(True, "is JSON and fits the schema")]
    reason = f"breaks the schema at {faults[0].path or '/'}: {faults[0].message}"
    details = [{"path": fault.path, "message": fault.message} for fault in faults]
    return [binary(False, reason, details={"faults": details})]


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


WORK = 20
"""How often, at most, each character of an answer is read while JSON is looked for in it."""


def contains_json(_: Case, output: Output, params: IsJsonParams) -> list[Measurement]:
    """1.0 if a JSON object that fits the schema stands in the answer, else 0.0.

    With a schema, arrays are looked for too. Only JSON counts: promptfoo also takes YAML in braces,
    by which a placeholder like ``{name}`` is JSON, and mends an object that is cut off.
    """
    schema = params.json_schema
    found, reason = 0, "no JSON in the answer"
    for value in _values(answer_text(output), "{" if schema is None else "{["):
        faults = [] if schema is None else violations(schema, value)
        if not faults:
            return [binary(True, "contains JSON" + (" that fits the schema" if schema else ""))]
        if not found:
            reason = f"breaks the schema at {faults[0].path or '/'}: {faults[0].message}"
        found += 1
    return [binary(False, reason, details={"found": found})]


_DECODER = json.JSONDecoder(parse_constant=_refuse)
_STARTS = {"{": re.compile(r'\{\s*["}]'), "{[": re.compile(r'\{\s*["}]|\[\s*["{\[\]\dtfn-]')}
_WINDOW = 4096
_NEAR = 16
"""Characters before a window's end where what is cut off is no fault."""
_TOO_DEEP = 5_000
"""Characters' worth of work that running into the limit of nesting takes."""


def _values(text: str, starts: str) -> Iterator[Any]:
    """The outermost JSON values in a text that open with one of ``starts``, in order.

    Raises:
        ValueError: If looking on would take too long: brackets that open and open.
    """
    work = WORK * len(text) + 1_000_000
    found = _STARTS[starts].search(text)
    while found is not None:
        at = found.start()
        try:
            value, length = _decode(text, at)
        except json.JSONDecodeError as error:
            length, work = 1, work - error.pos
        except (ValueError, RecursionError):  # a number too long, nesting too deep
            length, work = 1, work - _TOO_DEEP
        else:
            yield value
        if work < 0:
            raise ValueError("too many brackets that open and do not close")
        found = _STARTS[starts].search(text, at + length)


def _decode(text: str, at: int) -> tuple[Any, int]:
    """The JSON value at ``at`` and its length.

    Read in windows: an error in a long text takes long to make, as it counts all lines before it.
    """
    size = _WINDOW
    while True:
        window = text[at : at + size]
        try:
            return _DECODER.raw_decode(window)
        except json.JSONDecodeError as error:
            cut_off = error.pos > len(window) - _NEAR or error.msg.startswith("Unterminated")
            if not cut_off or at + size >= len(text):
                raise
        size *= 4


IS_JSON = Scorer(
    "is_json",
    "1",
    is_json,
    IsJsonParams,
    summary="The answer is JSON, and fits a schema.",
    source=(f"{DETERMINISTIC}#is-json", "https://deepeval.com/docs/metrics-json-correctness"),
)
CONTAINS_JSON = Scorer(
    "contains_json",
    "1",
    contains_json,
    IsJsonParams,
    summary="JSON stands in the answer, and fits a schema.",
    source=(f"{DETERMINISTIC}#contains-json",),
)
