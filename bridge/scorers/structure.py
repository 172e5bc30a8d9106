"""Checks on the structure of an answer: JSON, with or without a schema."""

from __future__ import annotations

import json
from typing import Any

from pydantic import Field, model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import JsonObject, Model
from bridge.scorers.contract import SchemaError, check_schema, violations
from bridge.scorers.registry import Scorer, binary


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


IS_JSON = Scorer(
    "is_json", "1", is_json, IsJsonParams, summary="The answer is JSON, and fits a schema."
)
