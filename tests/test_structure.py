"""Checks on the structure of an answer."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.model import Case, Check, InputError, Measurement, Output
from bridge.scorers import evaluate, validate_check

CASE = Case(id="a", input="q", expected="")
SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["n"],
    "additionalProperties": False,
}


def measure(check: Any, text: Any) -> Measurement:
    read = Check.model_validate(check)
    validate_check(read)
    return evaluate(read, CASE, Output(case_id="a", text=text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', 1.0),
        (" [1, 2]\n", 1.0),
        ('"text"', 1.0),
        ("null", 1.0),
        ("1", 1.0),
        ({"a": 1}, 1.0),
        ([], 1.0),
        ("", 0.0),
        (None, 0.0),
        ("text", 0.0),
        ("{'a': 1}", 0.0),
        ('{"a": 1} and more', 0.0),
        ("```json\n{}\n```", 0.0),
        ("NaN", 0.0),
        ('{"a": -Infinity}', 0.0),
        ("[" * 100_000, 0.0),
        ("9" * 5000, 0.0),
    ],
)
def test_is_json(text: Any, value: float) -> None:
    for name in ("is_json", "json_schema"):
        found = measure(name, text)
        assert found.value == value
        assert found.status == ("passed" if value else "failed")


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ('{"n": 1}', 1.0, "is JSON and fits the schema"),
        ('{"n": 1.0, "tags": ["a"]}', 1.0, "fits the schema"),
        ({"n": 1}, 1.0, "fits the schema"),
        ("{}", 0.0, "breaks the schema at /: "),
        ('{"n": "1"}', 0.0, "breaks the schema at /n: "),
        ('{"n": 1, "tags": ["a", 2]}', 0.0, "breaks the schema at /tags/1: "),
        ('{"n": 1, "x/y": 2}', 0.0, "breaks the schema at /"),
        ("no json", 0.0, "not JSON"),
    ],
)
def test_with_a_schema(text: Any, value: float, reason: str) -> None:
    for check in ({"is_json": {"schema": SCHEMA}}, {"json_schema": SCHEMA | {"$comment": "x"}}):
        check = check if "is_json" in check else {"is_json": {"value": SCHEMA}}
        found = measure(check, text)
        assert found.value == value
        assert reason in found.reason


def test_every_fault_is_listed_up_to_a_limit() -> None:
    found = measure({"is_json": {"schema": SCHEMA}}, {"n": "x", "tags": [1] * 500})
    faults = found.details["faults"]
    assert 2 <= len(faults) <= 20
    assert all(set(fault) == {"path", "message"} for fault in faults)
    assert len(found.model_dump_json()) < 10_000


def test_values_are_not_repeated_in_messages() -> None:
    found = measure({"is_json": {"schema": {"type": "integer"}}}, '"' + "secret " * 1000 + '"')
    assert "secret" not in found.model_dump_json()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"schema": {"type": "nope"}}, "check is_json: schema is not usable: "),
        ({"schema": []}, "schema: should be an object, not a list"),
        ({"schema": {"$ref": "https://example.com/s.json"}}, "https://example.com/s.json"),
        ({"schema": {"$ref": "file:///etc/passwd"}}, "file:///etc/passwd"),
        ({"schema": {"$ref": "#/$defs/gone"}}, "gone"),
        ({"schema": {}, "value": {}}, "value: unknown key"),
        ({"schem": {}}, "schem: unknown key; did you mean schema?"),
        ({"schema": {"pattern": "("}}, "check is_json"),
    ],
)
def test_faulty_parameters(params: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        validate_check(Check.model_validate({"is_json": params}))
    assert message in str(caught.value)


def test_drafts() -> None:
    old = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "maximum": 5,
        "exclusiveMaximum": True,
    }
    assert measure({"is_json": {"schema": old}}, "5").value == 0.0
    assert (
        measure({"is_json": {"schema": {"prefixItems": [{"type": "string"}]}}}, "[1]").value == 0.0
    )
