"""Accounting: every leaf is counted once, under the closest claim, and none goes missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import JSON
from strategies_suite import BUNDLES

from bridge.model import Bundle, Case, ConversionReport
from bridge.plugin.accounts.accounting import (
    KEPT,
    MAX_FIELDS,
    NATIVE,
    UNREAD,
    Claim,
    Claims,
    Tally,
    account_bundle,
    carried,
    count_leaves,
    dropped,
    executable,
    untouched,
)
from bridge.plugin.carry import plain
from bridge.testing.accounted import assert_accounted, leaves

HERE = Path("x.json")


def told(document: Any, claims: Claims, **options: Any) -> dict[tuple[str, str, str], int]:
    tally = Tally()
    tally.document(document, claims, **options)
    lines = tally.report(HERE, "acme").lines
    return {(line.field, line.fate, line.reason): line.count for line in lines}


def test_the_closest_claim_decides() -> None:
    claims = Claims({"tests[].vars": NATIVE, "tests[].*": KEPT})
    claims.put(executable("JavaScript"), "tests", 1, "assert", 0, "value")
    claims.put(dropped("unknown"), "tests", 1, "assert")
    document = {
        "tests": [
            {"vars": {"a": 1, "b": [2, 3]}, "note": "n"},
            {"vars": {}, "assert": [{"value": "code", "type": "javascript"}, {"value": "code"}]},
        ],
        "other": {"deep": [None]},
    }
    assert told(document, claims) == {
        ("tests[].vars", "native", ""): 4,
        ("tests[].note", "carried", KEPT.reason): 1,
        ("tests[].assert[].value", "executable", "JavaScript"): 1,
        ("tests[].assert", "dropped", "unknown"): 2,
        ("other.deep[]", "dropped", UNREAD.reason): 1,
    }


def test_the_whole_may_be_claimed_and_an_empty_document_is_a_leaf() -> None:
    claims = Claims()
    claims.put(NATIVE)
    assert told([1, {"a": 2}], claims) == {("(the whole)", "native", ""): 2}
    assert told({}, Claims(), at="f") == {("f", "dropped", UNREAD.reason): 1}


def test_a_place_names_a_document_among_others() -> None:
    claims = Claims({"[].question": NATIVE})
    found = told([{"question": "q", "x": 1}], claims, at="tests.csv", otherwise=carried("kept"))
    assert found == {
        ("tests.csv[].question", "native", ""): 1,
        ("tests.csv[].x", "carried", "kept"): 1,
    }


def test_fields_that_nobody_claimed_are_bounded() -> None:
    document = {"rows": {f"k{i}": i for i in range(3 * MAX_FIELDS)}, "x" * 10_000: 1}
    found = told(document, Claims())
    assert len(found) <= MAX_FIELDS + 2
    assert sum(found.values()) == 3 * MAX_FIELDS + 1
    assert max(len(field) for field, _, _ in found) <= 121


@given(JSON, st.lists(st.tuples(st.lists(st.text(max_size=1) | st.integers(0, 2)), st.booleans())))
def test_counts_add_up_whatever_is_claimed(
    value: Any, claimed: list[tuple[list[Any], bool]]
) -> None:
    claims = Claims()
    for path, native in claimed:
        claims.put(NATIVE if native else KEPT, *path)
    total = count_leaves(value)
    assert sum(told(value, claims).values()) == total == len(list(leaves(value)))


def test_nesting_costs_no_stack() -> None:
    deep: Any = 1
    for _ in range(50_000):
        deep = [deep]
    assert count_leaves(deep) == 1
    assert sum(told(deep, Claims()).values()) == 1
    while isinstance(deep, list):  # taken apart by hand: the interpreter would recurse
        deep = deep.pop()


@settings(max_examples=25)
@given(BUNDLES)
def test_a_writer_accounts_for_every_leaf_of_a_bundle(bundle: Bundle) -> None:
    claims = Claims({"cases[].input": NATIVE, "cases[]": carried("as metadata")})
    report = account_bundle(bundle, claims, HERE, "acme", ["a note"])
    assert report.total == count_leaves(plain(bundle))
    assert report.notes == ("a note",)
    assert account_bundle(Bundle(), claims, HERE, "acme").lines == ()


def test_columns_are_counted_without_a_document() -> None:
    tally = Tally()
    tally.add("question", NATIVE, 3)
    tally.add("question", NATIVE, 2)
    tally.add("empty", NATIVE, 0)
    (line,) = tally.report(HERE, "acme").lines
    assert (line.field, line.count) == ("question", 5)


def test_what_was_not_taken_goes_into_extras() -> None:
    assert untouched({"a": 1, "b": 2}, {"a"}) == {"b": 2}


BUNDLE = Bundle(cases=(Case(id="c1", input="question", expected=""),))


def report_of(document: Any, *fields: tuple[str, Claim]) -> ConversionReport:
    tally = Tally()
    tally.document(document, Claims(dict(fields)), otherwise=dropped("unread"))
    return tally.report(HERE, "acme")


def test_the_generic_test_finds_what_is_missing() -> None:
    """The test that every format is held to can fail."""
    document = {"q": "question", "n": 2}
    assert_accounted(document, BUNDLE, report_of(document, ("q", NATIVE)))
    with pytest.raises(AssertionError, match="nowhere in the bundle"):
        assert_accounted(document, BUNDLE, report_of(document, ("n", NATIVE)))
    with pytest.raises(AssertionError, match=r"\(document, report\) by field"):
        assert_accounted({**document, "m": 1}, BUNDLE, report_of(document))
    with pytest.raises(AssertionError, match="is in no line"):
        assert_accounted({"r": "question", "n": 2}, BUNDLE, report_of(document))
