"""Checks on the text of an answer."""

from __future__ import annotations

import time
from typing import Any

import pytest

from bridge.model import Case, Check, InputError, Measurement, Output
from bridge.scorers import evaluate, validate_check


def measure(check: Any, text: Any, expected: Any = "") -> Measurement:
    case = Case(id="a", input="q", expected=expected)
    read = Check.model_validate(check)
    validate_check(read)
    return evaluate(read, case, Output(case_id="a", text=text))


@pytest.mark.parametrize(
    ("expected", "text", "value"),
    [
        ("yes", "yes", 1.0),
        ("yes", " yes\n", 1.0),
        ("yes", "Yes", 0.0),
        ("yes", "yes.", 0.0),
        (["a", "b"], "b", 1.0),
        (["a", "b"], "c", 0.0),
        (["a", 5], "5", 1.0),
        (5, "5", 1.0),
        (5, "5.0", 1.0),
        (5, 5.0, 1.0),
        (5, "five", 0.0),
        ("5", 5, 1.0),
        (True, "true", 1.0),
        (True, 1, 0.0),
        (1, True, 0.0),
        (0, "0", 1.0),
        (False, "false", 1.0),
        ({"a": [1, 2]}, '{"a": [1.0, 2]}', 1.0),
        ({"a": [1, 2]}, {"a": [1, 2]}, 1.0),
        ({"a": [1, 2]}, {"a": [2, 1]}, 0.0),
        ({"a": 1}, "{not json", 0.0),
        ({"a": 1}, "[" * 100_000, 0.0),
        ({"a": 1}, "NaN", 0.0),
        ('{"a":1}', {"a": 1}, 1.0),
        ("ß", "ss", 0.0),
        ("x\ufffd", "x\ud800", 1.0),
        (" ", "", 1.0),
    ],
)
def test_equals_the_reference(expected: Any, text: Any, value: float) -> None:
    found = measure("equals", text, expected)
    assert found.value == value
    assert found.status == ("passed" if value else "failed")
    assert found.reason


@pytest.mark.parametrize(
    ("params", "text", "value"),
    [
        ("yes", "yes", 1.0),
        ({"value": "yes", "ignore_case": True}, "YES", 1.0),
        ({"value": "straße", "ignore_case": True}, "STRASSE", 1.0),
        ({"value": "yes", "strip": False}, "yes ", 0.0),
        ({"value": "yes", "strip": False}, "yes", 1.0),
        ({"value": ""}, " ", 1.0),
        ({"value": ""}, "x", 0.0),
        (1, "1", 1.0),
        (True, "1", 0.0),
        ([1, 2], "[1, 2]", 1.0),
        ([1, 2], "1", 0.0),
        ({"value": {"a": None}}, '{"a": null}', 1.0),
    ],
)
def test_equals_a_value(params: Any, text: Any, value: float) -> None:
    assert measure({"equals": params}, text, "the reference does not count").value == value


@pytest.mark.parametrize("name", ["equals", "exact_match", "contains"])
@pytest.mark.parametrize("expected", ["", None, []])
def test_no_reference_is_skipped(name: str, expected: Any) -> None:
    found = measure(name, "anything", expected)
    assert (found.status, found.value) == ("skipped", None)
    assert "no reference" in found.reason


def test_reasons_are_short_and_on_one_line() -> None:
    found = measure("equals", "line\n" * 1000, "x" * 5000)
    assert "\n" not in found.reason
    assert len(found.reason) < 400
    assert measure("equals", "no", ["a", "b"]).reason == '"no" is not one of ["a", "b"]'


@pytest.mark.parametrize(
    ("params", "text", "value"),
    [
        ("refund", "a refund", 1.0),
        ("refund", "a Refund", 0.0),
        ({"value": "refund", "ignore_case": True}, "A REFUND", 1.0),
        (["a", "b"], "b a", 1.0),
        (["a", "b"], "a", 0.0),
        ({"all": ["a", "b"]}, "ab", 1.0),
        ({"any": ["x", "b"]}, "ab", 1.0),
        ({"any": ["x", "y"]}, "ab", 0.0),
        ({"value": "a", "any": ["x", "b"]}, "ab", 1.0),
        ({"value": "z", "any": ["x", "b"]}, "ab", 0.0),
        ({"value": "a", "all": ["c"]}, "ab", 0.0),
        ({"all": ["STRASSE"], "ignore_case": True}, "Straße", 1.0),
        ('"a":1', {"a": 1}, 1.0),
        ("\n", "a\nb", 1.0),
    ],
)
def test_contains(params: Any, text: Any, value: float) -> None:
    assert measure({"contains": params}, text, "unused").value == value


@pytest.mark.parametrize(
    ("expected", "text", "value"),
    [
        ("30 days", "within 30 days.", 1.0),
        (["30 days", "a month"], "a month", 1.0),
        (["30 days", "a month"], "a week", 0.0),
        (42, "it is 42", 1.0),
        (2.5, "2.5 kg", 1.0),
        ([42, {"a": 1}], "it is 42", 1.0),
        (["", "a"], "b", 0.0),
    ],
)
def test_contains_the_reference(expected: Any, text: Any, value: float) -> None:
    assert measure("contains", text, expected).value == value


@pytest.mark.parametrize("expected", [{"a": 1}, True, [[1]], ["", " "], [None]])
def test_a_reference_that_is_no_text_cannot_be_contained(expected: Any) -> None:
    found = measure("contains", "anything", expected)
    assert (found.status, found.reason) == ("skipped", "no reference answer that is text")


@pytest.mark.parametrize(
    ("params", "text", "value"),
    [
        ("^a.c$", "abc", 1.0),
        ("b", "abc", 1.0),
        ({"pattern": "B"}, "abc", 0.0),
        ({"pattern": "B", "ignore_case": True}, "abc", 1.0),
        ({"pattern": "b", "full": True}, "abc", 0.0),
        ({"pattern": ".b.", "full": True}, "abc", 1.0),
        ({"value": "é+"}, "éé", 1.0),
        (r"\d{3}", 12345, 1.0),
        ("", "", 1.0),
    ],
)
def test_regex(params: Any, text: Any, value: float) -> None:
    assert measure({"regex": params}, text).value == value


def test_spans_are_in_characters() -> None:
    found = measure({"regex": "b"}, "ééb")
    assert found.details == {"span": [2, 3]}


def test_regexes_run_in_linear_time() -> None:
    started = time.process_time()
    assert measure({"regex": "(a+)+$"}, "a" * 200_000 + "b").value == 0.0
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ({"contains": {"valu": "x"}}, "check contains: valu: unknown key; did you mean value?"),
        (
            {"contains": {"threshhold": 1}},
            "check contains: threshhold: unknown key (known: value, ",
        ),
        ({"contains": {"value": ["a"], "all": ["b"]}}, "value and all are both lists"),
        ({"contains": ""}, "check contains: value: should not be empty"),
        ({"contains": ["a", ""]}, "check contains: all[1]: should not be empty"),
        ({"contains": {"all": []}}, "check contains: all: should not be empty"),
        ({"contains": {"any": []}}, "check contains: any: should not be empty"),
        ({"contains": 5}, "check contains: value: should be a text, not 5"),
        (
            {"contains": {"value": "x", "ignore_case": "yes"}},
            "ignore_case: should be true or false",
        ),
        (
            {"equals": {"value": 1, "strip": 1}},
            "check equals: strip: should be true or false, not 1",
        ),
        ("regex", "check regex: pattern: is missing"),
        ({"regex": "(?=a)b"}, "not RE2 syntax"),
        ({"regex": r"(a)\1"}, "not RE2 syntax"),
        ({"regex": {"pattern": "a", "value": "b"}}, "check regex: value: unknown key"),
        ({"regex": {"pattern": "(", "metric": "mine"}}, "check mine: not RE2 syntax"),
        ({"all": ["equals", {"contains": ""}]}, "check contains: value: should not be empty"),
    ],
)
def test_faulty_parameters(check: Any, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError) as caught:
        validate_check(Check.model_validate(check))
    assert message in str(caught.value)
    assert capfd.readouterr().err == ""


def test_one_true_and_one_point_zero_are_kept_apart() -> None:
    """Python takes them for equal, and a cache of parameters must not."""
    values = [1, True, 1.0, "1"] * 2
    found = [measure({"equals": value}, "true").value for value in values]
    assert found == [0.0, 1.0, 0.0, 0.0] * 2
