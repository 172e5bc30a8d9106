"""What an assertion says as a scorer's parameters, and parameters as what an assertion says.

A reader takes ``value`` and ``threshold`` of an assertion and raises ``ValueError`` where our
scorer cannot say the same. A writer takes parameters and returns the parts of an assertion, or
``None`` where promptfoo cannot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bridge.files.yaml import parse_yaml
from bridge.model.errors import InputError
from bridge_promptfoo.config.lists import comma_separated
from bridge_promptfoo.config.templates import js_text

Params = dict[str, Any]
Parts = Mapping[str, Any]
"""Keys of a native assertion: ``type``, ``value``, ``threshold``."""
Reader = Callable[[Any, float | None], Params]
Writer = Callable[[Params], Parts | None]


def _text(value: Any) -> str:
    text = js_text(value)
    if text is None:
        raise ValueError("its value is no text")
    return text


def needle(value: Any) -> str:
    """A text to look for."""
    text = _text(value)
    if not text:
        raise ValueError("its value is empty, which is in every answer")
    return text


def texts(value: Any) -> list[str]:
    """Texts to look for: a list, or a text with commas."""
    items = list(comma_separated(value)) if isinstance(value, str) else value
    if not isinstance(items, list) or not items:
        raise ValueError("its value is no list")
    return [needle(item) for item in items]


def equals(value: Any, _: float | None) -> Params:
    """``equals``: a scalar as JavaScript writes it, or JSON."""
    if value is None:
        raise ValueError("it has no value")
    return {"value": value if isinstance(value, dict | list) else _text(value), "strip": False}


def write_equals(params: Params) -> Parts | None:
    """``equals`` of a given value, white space included."""
    value = params.get("value")
    if params.get("strip", True) or not isinstance(value, str | dict | list):
        return None
    return {"type": "equals", "value": value} if set(params) <= {"value", "strip"} else None


def contains(key: str, read: Callable[[Any], Any], ignore_case: bool) -> Reader:
    """The ``contains`` family: which parameter, what its value is, whether case counts."""
    fold = {"ignore_case": True} if ignore_case else {}
    return lambda value, _: {key: read(value), **fold}


def write_contains(params: Params) -> Parts | None:
    """The ``contains`` family."""
    rest = dict(params)
    prefix = "i" if rest.pop("ignore_case", False) else ""
    if len(rest) != 1:
        return None
    (key, value), suffixes = next(iter(rest.items())), {"value": "", "all": "-all", "any": "-any"}
    if key == "value" and isinstance(value, list):
        key = "all"
    wanted = str if key == "value" else list
    if key not in suffixes or not value or not isinstance(value, wanted):
        return None
    return {"type": f"{prefix}contains{suffixes[key]}", "value": value}


_JS_AND_RE2 = re.compile(
    r"(?:[^\\()\[\]{}]|\\[dDwWsSbBntrfv.*+?()\[\]{}|^$/\\-]|\((?:\?:)?(?!\?)|\)|"
    r"\[\^?(?:[^\\\[\]&~|-]|\\[dDwWsSntr.*+?()\[\]{}|^$/\\-]|-)+\]|\{\d+(?:,\d*)?\})*"
)
"""Patterns that JavaScript and RE2 read alike."""


def regex(value: Any, _: float | None) -> Params:
    """``regex``: whether RE2 reads it is the scorer's to say."""
    if not isinstance(value, str) or not value:
        raise ValueError("its value is no text")
    return {"pattern": value}


def write_regex(params: Params) -> Parts | None:
    """``regex``, where JavaScript reads it alike."""
    pattern = params.get("pattern", params.get("value"))
    if len(params) != 1 or not isinstance(pattern, str) or not _JS_AND_RE2.fullmatch(pattern):
        return None
    return {"type": "regex", "value": pattern} if pattern else None


def schema(value: Any, _: float | None) -> Params:
    """``is-json`` and ``contains-json``: a JSON Schema, also as YAML in a text."""
    if value in (None, ""):
        return {}
    if isinstance(value, str):
        value = _schema_text(value)
    if not isinstance(value, dict):
        raise ValueError("its schema is no object")
    return {"schema": value}


def _schema_text(text: str) -> Any:
    """A schema that is written as YAML or JSON in a text."""
    try:
        value, _ = parse_yaml(text.encode("utf-8", "replace"), Path("schema"))
    except InputError as error:
        raise ValueError(f"its schema: {error.what}") from None
    return value


_PLAIN_KEYWORDS = frozenset(
    {
        "additionalProperties",
        "description",
        "enum",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "properties",
        "required",
        "title",
        "type",
    }
)
"""Keywords that mean the same in every draft, and that promptfoo's validator does not refuse."""


def write_schema(params: Params) -> Parts | None:
    """``is-json``, with a schema that every draft reads alike."""
    schema = params.get("schema", params.get("value"))
    if not params:
        return {"type": "is-json"}
    return {"type": "is-json", "value": schema} if schema and _is_plain(schema) else None


def _is_plain(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return isinstance(schema, bool)
    properties = schema.get("properties", {})
    inner = [*properties.values()] if isinstance(properties, Mapping) else [None]
    inner += [schema[key] for key in ("items", "additionalProperties") if key in schema]
    typed = "type" in schema or not schema  # its strict mode wants a type beside most keywords
    return typed and _PLAIN_KEYWORDS.issuperset(schema) and all(map(_is_plain, inner))


def budget(per_unit: float) -> Reader:
    """``latency`` and ``cost``: their threshold, of which ``per_unit`` are one of our units."""

    def read(_: Any, threshold: float | None) -> Params:
        if threshold is None or threshold < 0:
            raise ValueError("it has no threshold")
        return {"max": threshold / per_unit}

    return read


def write_budget(kind: str, per_unit: float) -> Writer:
    """``latency`` or ``cost``."""

    def write(params: Params) -> Parts | None:
        most = params.get("max", params.get("value"))
        if len(params) != 1 or isinstance(most, bool) or not isinstance(most, int | float):
            return None
        return {"type": kind, "threshold": most * per_unit}

    return write


def one_text(value: Any, _: float | None) -> Params:
    """A scorer that takes one text."""
    return {"value": needle(value)}


def texts_or_one(value: Any, _: float | None) -> Params:
    """A scorer that takes one text, or several of which the best counts."""
    return {"value": texts(value) if isinstance(value, list) else needle(value)}


def edits(value: Any, threshold: float | None) -> Params:
    """``levenshtein``: its threshold is a number of characters."""
    most = 5.0 if threshold is None else threshold
    if most < 0 or not most.is_integer():
        raise ValueError("its threshold is no number of characters")
    return {"value": _text(value), "max": int(most)}


def nothing(_: Any, __: float | None) -> Params:
    """A scorer without parameters."""
    return {}


def elements(value: Any, _: float | None) -> Params:
    """``is-xml`` and ``contains-xml``: paths of elements, a list or a text with commas."""
    if isinstance(value, Mapping):
        value = value.get("requiredElements")
    if value in (None, ""):
        return {}
    return (
        {"elements": [needle(each.strip()) for each in value.split(",")]}
        if isinstance(value, str)
        else {"elements": texts(value)}
    )


_SQL = {"databaseType": "dialect", "allowedTables": "tables", "allowedColumns": "columns"}


def sql(value: Any, _: float | None) -> Params:
    """``is-sql`` and ``contains-sql``."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not set(value) <= set(_SQL):
        raise ValueError("its value is no such object")
    return {_SQL[key]: item for key, item in value.items()}


def words(value: Any, _: float | None) -> Params:
    """``word-count``: a number, or a range."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    return dict(value) if isinstance(value, dict) else {"value": value}


def write_value(kind: str) -> Writer:
    """For scorers whose only parameter is ``value``, as in promptfoo."""

    def write(params: Params) -> Parts | None:
        value = params.get("value")
        if set(params) != {"value"} or not value or not isinstance(value, str | list):
            return None
        return {"type": kind, "value": value}

    return write


def write_nothing(kind: str) -> Writer:
    """For scorers without parameters."""
    return lambda params: None if params else {"type": kind}


def write_edits(params: Params) -> Parts | None:
    """``levenshtein``."""
    if not isinstance(params.get("value"), str) or not set(params) <= {"value", "max"}:
        return None
    return {"type": "levenshtein", "value": params["value"], "threshold": params.get("max", 5)}


def write_words(params: Params) -> Parts | None:
    """``word-count``."""
    value = params.get("value")
    given = value if set(params) == {"value"} else params
    plain = isinstance(value, int) or ("value" not in params and set(params) <= {"min", "max"})
    return {"type": "word-count", "value": given} if plain and params else None
