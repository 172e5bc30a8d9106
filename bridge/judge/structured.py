"""A framework's own reply models as JSON Schema that a judge can be held to.

Frameworks check of a reply what their pydantic model checks, which lets pass what makes a score
meaningless: a verdict of 7, an empty list of verdicts. What such a model leaves open is closed here
by the name of the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from bridge.model.judge import ReplyLimits
from bridge.model.values import EMPTY

Bounds = Mapping[str, Mapping[str, Any]]
"""Keywords of JSON Schema by the name of a field, wherever it stands."""

_NOISE = frozenset({"title", "default", "description", "examples"})


def exactly(count: int) -> dict[str, int]:
    """The bounds of a list of so many items, to which a server that generates by a schema keeps."""
    return {"minItems": count, "maxItems": count}


def schema_of(model: type[BaseModel], bounds: Bounds = EMPTY) -> dict[str, Any]:
    """The JSON Schema of a reply: references inlined, no field beside the model's, all listed.

    Args:
        model: What the framework reads the reply as.
        bounds: What it leaves open.
    """
    whole = model.model_json_schema()
    closed: dict[str, Any] = _closed(whole, whole.get("$defs", {}), bounds)
    return closed


def _closed(schema: Any, definitions: Mapping[str, Any], bounds: Bounds) -> Any:
    if isinstance(schema, list):
        return [_closed(each, definitions, bounds) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        rest = {key: value for key, value in definitions.items() if key != name}
        return _closed(definitions[name], rest, bounds)
    found = {
        key: _closed(value, definitions, bounds)
        for key, value in schema.items()
        if key not in _NOISE and key not in ("$defs", "properties", "required")
    }
    if schema.get("type") == "object" and "properties" in schema:
        found["properties"] = {
            name: {**_closed(each, definitions, bounds), **bounds.get(name, {})}
            for name, each in schema["properties"].items()
        }
        found["required"] = list(schema["properties"])
        found["additionalProperties"] = False
    return found


def limited(schema: Mapping[str, Any], limits: ReplyLimits) -> dict[str, Any]:
    """A schema with bounds on every list and text that has none smaller."""
    found: dict[str, Any] = _limited(schema, limits)
    return found


def _limited(schema: Any, limits: ReplyLimits) -> Any:
    if isinstance(schema, list):
        return [_limited(each, limits) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {key: _limited(value, limits) for key, value in schema.items()}
    kind = schema.get("type")
    if kind == "array" and limits.items is not None:
        most = max(limits.items, schema.get("minItems", 0))
        found["maxItems"] = min(most, schema.get("maxItems", most))
    if kind == "string" and limits.characters is not None and "enum" not in schema:
        found["maxLength"] = min(limits.characters, schema.get("maxLength", limits.characters))
    return found


def with_nulls(schema: Mapping[str, Any], value: Any) -> Any:
    """A reply in which every field that may be null, and was left out, is null.

    Strict structured output lists all fields as required; a judge that is only told of the schema
    leaves such a field out, as the frameworks' prompts ask it to.
    """
    if isinstance(value, list):
        items = schema.get("items", {})
        return [with_nulls(items, each) for each in value]
    properties = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, Mapping):
        return value
    lacking = {
        name: None for name, each in properties.items() if name not in value and _may_be_null(each)
    }
    held = {name: with_nulls(properties.get(name, {}), each) for name, each in value.items()}
    return {**held, **lacking}


def _may_be_null(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("anyOf", ())
    return schema.get("type") == "null" or any(each.get("type") == "null" for each in kinds)
