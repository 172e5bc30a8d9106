"""Checks on the structure of an answer: JSON, with or without a schema."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import jsonschema_rs
from pydantic import model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import JsonObject, Model
from bridge.scorers.registry import Scorer, binary


class IsJsonParams(Model):
    """Parameters of ``is_json``.

    Attributes:
        json_schema: A JSON Schema (2020-12 unless it names another draft); written ``schema``.
    """

    json_schema: JsonObject | None = None

    @model_validator(mode="before")
    @classmethod
    def _schema_by_its_usual_name(cls, data: Any) -> Any:
        if isinstance(data, dict):
            return {("json_schema" if k in ("schema", "value") else k): v for k, v in data.items()}
        return data

    @model_validator(mode="after")
    def _is_a_schema(self) -> IsJsonParams:
        if self.json_schema is not None:
            _validator(json.dumps(self.json_schema))
        return self


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    try:
        return jsonschema_rs.validator_for(json.loads(schema))
    except (jsonschema_rs.ValidationError, ValueError) as error:
        raise ValueError(f"not a JSON Schema: {error}") from None


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
    faults = [
        {"path": "/" + "/".join(map(str, fault.instance_path)), "message": fault.message[:200]}
        for fault in _validator(json.dumps(params.json_schema)).iter_errors(value)
    ]
    if not faults:
        return [binary(True, "is JSON and fits the schema")]
    first = faults[0]
    reason = f"breaks the schema at {first['path']}: {first['message']}"
    return [binary(False, reason, details={"faults": faults})]


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


IS_JSON = Scorer(
    "is_json", "1", is_json, IsJsonParams, summary="The answer is JSON, and fits a schema."
)
