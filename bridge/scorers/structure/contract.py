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

from bridge.model.values import FrozenDict
from bridge.scorers.matching.differences import pointer

MAX_VIOLATIONS = 20
"""Most violations reported of one call."""

MAX_VALIDATORS = 1024
"""Most validators kept."""

_FROZEN: dict[int, tuple[FrozenDict, Any]] = {}
"""Validators by the identity of their schema, which is kept beside them so that it stays its own.
"""

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
    validator = _validator_of(schema)
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
    _validator_of(schema)


def _validator_of(schema: Mapping[str, Any]) -> Any:
    """The validator, found by identity where the schema cannot change, else by its spelling."""
    known = _FROZEN.get(id(schema))
    if known is not None and known[0] is schema:
        return known[1]
    validator = _validator(_spelled(schema))
    if isinstance(schema, FrozenDict):
        if len(_FROZEN) >= MAX_VALIDATORS:
            _FROZEN.clear()
        _FROZEN[id(schema)] = (schema, validator)
    return validator


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


@lru_cache(maxsize=MAX_VALIDATORS)
def _validator(schema: bytes) -> Any:
    try:
        return jsonschema_rs.validator_for(json.loads(schema), retriever=_refuse, mask=HIDDEN)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise SchemaError(str(error).partition("\n")[0][:200]) from None


def _refuse(uri: str) -> Never:
    raise ValueError(f"{uri} is outside the schema and is not fetched")
