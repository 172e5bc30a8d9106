"""Samples as records of a dataset file: neutral to native, and native to neutral."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.files.foreign.cells import is_blank, parse_cell
from bridge.model.case import Case
from bridge.model.message import as_text
from bridge.plugin.carry import KEY, plain
from bridge.plugin.cases.chats import (
    kept_in_extras,
    own_extras,
    read_input,
    read_messages,
    read_metadata,
)
from bridge.plugin.cases.columns import SYNONYMS, folded
from bridge_inspect.calls import Fields
from bridge_inspect.held import held_expected
from bridge_inspect.messages import to_messages

NAME = "inspect"
FIELDS = {
    "id": SYNONYMS["id"],
    "input": SYNONYMS["input"],
    "target": ("target", *SYNONYMS["expected"], "answer"),
    "choices": ("choices", "options"),
    "metadata": ("metadata", "meta"),
}
"""Fields of a sample, each with its names; Inspect's own come first."""
NO_INPUT = "(no input)"
"""The input of a case without one: Inspect refuses an empty text."""
_TAKEN = {folded(name) for names in FIELDS.values() for name in names}


# --- neutral to native ------------------------------------------------------------------------


def to_record(case: Case) -> Fields:
    """A case as a record; its input is what a system would be sent."""
    kept = own_extras(case.extras, NAME)
    record: Fields = {
        "id": kept.get("id") if str(kept.get("id")) == case.id else case.id,
        "input": _sent(case),
        "target": held_expected(plain(case)["expected"]),
    }
    if case.choices:
        record["choices"] = list(case.choices)
    metadata = {key: plain(value) for key, value in case.metadata.items() if key != KEY}
    if metadata:
        record["metadata"] = metadata
    others = {key: plain(kept[key]) for key in kept if folded(key) not in _TAKEN}
    return {**others, **record}


def _sent(case: Case) -> str | list[Fields]:
    if case.turns:
        return [{"role": "user", "content": case.turns[0].user}]
    if isinstance(case.input, tuple):
        return to_messages(case.input)
    text = as_text(plain(case)["input"])
    return text if text.strip() else NO_INPUT


# --- native to neutral ------------------------------------------------------------------------


def read_record(values: Mapping[str, Any], rest: Mapping[str, Any]) -> Fields:
    """A record as the fields of a case, without its id.

    Args:
        values: Values by field.
        rest: Everything else of the record, kept in ``extras``.
    """
    target = values.get("target")
    return {
        "input": _read_input(values.get("input")),
        "expected": "" if target is None else target,
        "choices": _read_choices(values.get("choices")),
        "metadata": read_metadata(values.get("metadata")),
        **kept_in_extras(rest, NAME),
    }


def _read_input(value: Any) -> Any:
    """A text or messages, which a cell holds as JSON."""
    if isinstance(value, str):
        return read_messages(_named(parse_cell(value)), NAME) or read_input(value, NAME)
    return read_messages(_named(value), NAME) or read_input(value, NAME)


def _named(value: Any) -> Any:
    """Messages with the function of a tool's answer where others have its name."""
    if not isinstance(value, list):
        return value
    return [
        {**{key: item for key, item in each.items() if key != "function"}, "name": each["function"]}
        if isinstance(each, dict) and isinstance(each.get("function"), str) and "name" not in each
        else each
        for each in value
    ]


def _read_choices(value: Any) -> list[str]:
    """Choices: a list in any spelling, or one text with commas, as Inspect reads it."""
    parsed = parse_cell(value)
    if isinstance(parsed, dict):
        parsed = list(parsed.values())
    if isinstance(parsed, list):
        return [as_text(each) for each in parsed]
    if is_blank(parsed):
        return []
    return [each.strip() for each in as_text(parsed).split(",")]


def read_listed(row: Mapping[str, Any], columns: Sequence[str]) -> Fields:
    """Columns that are metadata, as a ``FieldSpec`` lists them."""
    return {name: row[name] for name in columns if name in row}
