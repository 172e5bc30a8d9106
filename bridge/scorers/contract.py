"""Contracts: the JSON Schema that a call's arguments, or an answer, must meet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Never

import jsonschema_rs
import msgspec

from bridge.scorers.differences import pointer

MAX_VIOLATIONS = 20
"""Most violations reported of one call."""

HIDDEN = "the value"
"""What stands for the value in a message: it is reported beside it, and may be megabytes long."""


class SchemaError(ValueError):
    """A schema is no valid JSON Schema, or points outside itself."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that arguments break.

    Attributes:
        path: JSON Pointer of the offending value in the arguments.
        keyword: The schema keyword, such as ``required``.
        message: What is wrong, without the value.
        value: The offending value.
    """

    path: str
    keyword: str
    message: str
    value: Any


def violations(schema: Mapping[str, Any], value: Any) -> list[Violation]:
    """The rules of a schema that a JSON value breaks, at most ``MAX_VIOLATIONS``.

    Draft 2020-12 unless ``$schema`` names another; ``format`` is an annotation, as that draft has
    it. References outside the schema are never fetched. ``pattern`` runs in linear time; one with
    look-around or back-references has a bounded number of steps and then counts as broken.

    Raises:
        SchemaError: If the schema itself is broken.
    """
    if not schema:
        return []
    validator = _validator(_spelled(schema))
    try:
        if validator.is_valid(value):
            return []
        faults = islice(validator.iter_errors(value), MAX_VIOLATIONS)
        return [_violation(fault) for fault in faults]
    except ValueError as error:
        return [Violation("", "type", f"is no JSON object ({error})", None)]


def check_schema(schema: Mapping[str, Any]) -> None:
    """Make sure that a schema can be used.

    Raises:
        SchemaError: If it is broken, or points outside itself.
    """
    _validator(_spelled(schema))


def _violation(fault: Any) -> Violation:
    path = "".join(map(pointer, fault.instance_path))
    keyword = str(fault.schema_path[-1]) if fault.schema_path else "false"
    return Violation(path, keyword, fault.message, fault.instance)


def _spelled(schema: Mapping[str, Any]) -> bytes:
    """A key for the cache that keeps 1, 1.0 and true apart, which ``==`` on the schema does not."""
    try:
        return msgspec.json.encode(schema)
    except (OverflowError, TypeError, ValueError):
        return json.dumps(schema).encode()


@lru_cache(maxsize=1024)
def _validator(schema: bytes) -> Any:
    try:
        return jsonschema_rs.validator_for(json.loads(schema), retriever=_refuse, mask=HIDDEN)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise SchemaError(str(error).partition("\n")[0][:200]) from None


def _refuse(uri: str) -> Never:
    raise ValueError(f"{uri} is outside the schema and is not fetched")
