"""Consistency on labelled dialogues, and the spellings of values under it."""

from __future__ import annotations

import json
import time

import pytest
from conftest import ROOT
from dialogues import CLEAN, FAULTY, Dialogue, Said
from hypothesis import given
from hypothesis import strategies as st

from bridge.model import Case, Check, Measurement, Output
from bridge.scorers import evaluate
from bridge.scorers.conversation.values import find_values, read_number


def score(dialogue: Dialogue, turn: int) -> Measurement:
    return evaluate(Check(scorer="consistency"), dialogue.case(), dialogue.output(), turn)


@pytest.mark.parametrize("dialogue", FAULTY, ids=lambda each: each.name)
def test_a_contradiction_is_found_and_explained(dialogue: Dialogue) -> None:
    found = score(dialogue, len(dialogue.turns) - 1)
    assert found.status == "failed", found
    first = found.details["contradictions"][0]
    assert first["kind"] == dialogue.kind
    assert first["said"] in found.reason
    assert first["against"] in found.reason


@pytest.mark.parametrize("dialogue", [*CLEAN, *FAULTY], ids=lambda each: each.name)
def test_no_false_alarm(dialogue: Dialogue) -> None:
    turns = len(dialogue.turns) - (dialogue.kind != "")
    for turn in range(turns):
        found = score(dialogue, turn)
        assert found.status in ("passed", "skipped"), found.reason


def test_what_cannot_contradict_is_no_pass() -> None:
    greeting = Dialogue("a", (Said("Hello", "Good morning."),))
    first = Dialogue("b", (Said("Hello", "It costs 5 EUR."),))
    named = Dialogue("c", (Said("My name is Ada.", "Hello Ada!"),))
    assert [score(each, 0).status for each in (greeting, first, named)] == [
        "skipped",
        "skipped",
        "passed",
    ]


def test_the_golden_set_holds_one_contradiction() -> None:
    """Of 198 recorded answers: version 1 none, version 2 the planted stale policy."""
    cases = (ROOT / "cases" / "conversations" / "cases.jsonl").read_text("utf-8").splitlines()
    found = []
    for version in ("v1", "v2"):
        lines = (ROOT / f"examples/support_bot/{version}.outputs.jsonl").read_text("utf-8")
        outputs = {o.case_id: o for o in map(Output.model_validate_json, lines.splitlines())}
        for case in map(Case.model_validate_json, cases):
            for turn in range(len(case.turns)):
                row = evaluate(Check(scorer="consistency"), case, outputs[case.id], turn)
                assert row.status in ("passed", "failed", "skipped")
                if row.status == "failed":
                    found.append((version, case.id, turn, row.reason))
    assert found == [("v2", "conv-009", 2, "says 30 days, but the answer of turn 1 says 60 days")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,299.00 EUR", "€1299"),
        ("1.299,50 €", "EUR 1299.5"),
        ("12 000 NOK", "12,000 kroner"),
        ("24 months", "2 years"),
        ("2 weeks", "14 days"),
        ("90 minutes", "1.5 hours"),
        ("30 June 2026", "2026-06-30"),
        ("June 30th, 2026", "30.06.2026"),
        ("30 de junio de 2026", "30. Juni 2026"),
        ("3 May", "May 3, 2027"),
        ("03/04/2026", "April 3, 2026"),
        ("03/04/2026", "4 March 2026"),
        ("1.5%", "1,5 percent"),
        ("two days", "48 hours"),
        ("12k", "12,000"),
        ("FO-10231.", "(FO-10231)"),
    ],
)
def test_two_spellings_of_one_value_agree(one: str, other: str) -> None:
    (a, *_), (b, *_) = find_values(one), find_values(other)
    assert a.agrees(b)
    assert b.agrees(a)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 EUR", "5 USD"),
        ("5 days", "5 weeks"),
        ("5 business days", "5 days"),
        ("3 May 2026", "3 May 2027"),
        ("428", "429"),
        ("4.2", "4.3"),
        ("FO-10231", "FO-10232"),
    ],
)
def test_values_that_are_not_the_same(one: str, other: str) -> None:
    (a,), (b,) = find_values(one), find_values(other)
    assert not a.agrees(b)


def test_what_is_no_number() -> None:
    text = "See https://x.example/123 at 18:00, v1.2.3, FO-10231 and a1b2."
    assert [value.text for value in find_values(text)] == ["FO-10231"]


def test_a_day_of_no_year_is_no_date() -> None:
    """``0000-01-01`` is how databases write that there is none, and has no weekday."""
    assert {value.kind for value in find_values("on Monday, 0000-01-01")} == {"number"}
    case = Case(id="c", input="when?", expected="")
    output = Output(case_id="c", text="On Monday, 0000-01-01.")
    assert evaluate(Check(scorer="consistency"), case, output).status == "skipped"


def test_readings_of_a_written_number() -> None:
    assert read_number("1,234") == {1234.0, 1.234}
    assert read_number("1.234,5") == {1234.5}
    assert read_number("0,123") == {0.123}
    assert read_number("1,234,567") == {1234567.0}


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_scored(one: str, other: str) -> None:
    turns = [{"user": other}, {"user": one}]
    case = Case.model_validate({"id": "c", "input": "", "expected": "", "turns": turns})
    call = {"name": one, "arguments": other, "result": {"x": one, "y": [other]}}
    answers = [{"text": one, "tool_calls": [call]}, {"text": other}]
    output = Output.model_validate({"case_id": "c", "turns": answers})
    for metric in ("consistency", "repetition", "coherence"):
        for turn in (0, 1):
            assert evaluate(Check(scorer=metric), case, output, turn).status != "error"


@pytest.mark.parametrize(
    "text",
    ["1" * 200_000, "1,000" * 40_000, "1 " * 100_000, "A1-" * 70_000, "x@" * 100_000,
     "your " * 40_000, "1.1." * 50_000, "May 1 " * 35_000, " " * 200_000, "\n" * 200_000,
     "not " * 50_000 + "x"],
    ids=lambda text: repr(text[:5]),
)  # fmt: skip
def test_long_hostile_texts_take_no_time(text: str) -> None:
    turns = [{"user": text}, {"user": text, "context_refs": ["x", {"regex": "(a*)*b"}]}]
    case = Case.model_validate({"id": "c", "input": "", "expected": "", "turns": turns})
    call = {"name": "f", "result": {"x": text}}
    output = Output.model_validate(
        {"case_id": "c", "turns": [{"text": text, "tool_calls": [call]}, {"text": text}]}
    )
    started = time.process_time()
    for metric in ("consistency", "repetition", "context_retention"):
        assert evaluate(Check(scorer=metric), case, output, 1).status != "error"
    assert time.process_time() - started < 5


def test_the_labels_are_worth_something() -> None:
    assert len(FAULTY) >= 30
    assert len(CLEAN) >= 40
    assert len({each.name for each in [*FAULTY, *CLEAN]}) == len(FAULTY) + len(CLEAN)
    assert json.dumps([each.case().model_dump(mode="json") for each in CLEAN])
