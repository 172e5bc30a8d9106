"""Words, numbers, letters and edits: what the agreement tables do not show."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.model import Case, Check, InputError, Measurement, Output
from bridge.scorers import evaluate, validate_check
from bridge.scorers.text.number import numbers_in, parse_number


def measure(check: Any, text: Any, expected: Any = "", **case: Any) -> Measurement:
    read = Check.model_validate(check)
    validate_check(read)
    made = Case(id="a", input="q", expected=expected, **case)
    return evaluate(read, made, Output(case_id="a", text=text))


COMPARING = ["starts_with", "match", "exact", "f1", "levenshtein", "similarity", "rouge_n"]
COMPARING += ["rouge", "bleu", "gleu", "sacrebleu", "chrf", "choice", "number", "answer"]


@pytest.mark.parametrize("name", COMPARING)
@pytest.mark.parametrize("expected", ["", [], {"a": 1}, True])
def test_without_a_reference_that_is_text_there_is_nothing_to_score(
    name: str, expected: Any
) -> None:
    check = {name: {"kind": "line"}} if name == "answer" else name
    assert measure(check, "text", expected).status == "skipped"


@pytest.mark.parametrize("name", ["f1", "levenshtein", "similarity", "rouge_n", "rouge", "bleu"])
def test_the_best_reference_counts(name: str) -> None:
    for check in (name, {name: {"value": ["nothing alike", "the cat sat"]}}):
        found = measure(check, "the cat sat", ["nothing alike", "the cat sat"])
        assert found.value == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["f1", "exact", "levenshtein", "rouge", "chrf", "sacrebleu"])
def test_what_is_too_long_to_compare_is_an_error(name: str) -> None:
    found = measure(name, "x" * 200_001, "y")
    assert found.error == "ValueError: a text of 200001 characters; at most 200000 are compared"


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("5", 5.0),
        ("(5)", 5.0),
        ("1e3", 1000.0),
        ("½", 0.5),
        ("2½", 2.5),
        ("-2½", -2.5),
        ("−3", -3.0),
        ("3²", 9.0),
        ("2⁻¹", 0.5),
        ("０", 0.0),
        ("٣", 3.0),
        ("Ⅻ", 12.0),
        ("", None),
        ("five", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("5x", None),
        ("²", 2.0),
        ("0⁻¹", None),
        ("-2½²", 6.25),
        ("(-8)", -8.0),
        ("9⁹⁹⁹⁹", None),
        ("9" * 401, None),
    ],
)
def test_numbers_as_people_write_them(word: str, value: float | None) -> None:
    assert parse_number(word) == value


def test_numbers_among_words() -> None:
    text = "It costs $1,234.50, or \\$20 **each** (3 of 7). Not 5x."
    assert list(numbers_in(text)) == [1234.5, 20.0, 3.0, 7.0]


@pytest.mark.parametrize(
    ("check", "text", "expected", "value"),
    [
        ("number", "It is 42.", "42", 1.0),
        ("number", "It is 42.", 42, 1.0),
        ("number", "It is 42.0000001", "42", 0.0),
        ("number", "First 42, then 7", "42", 0.0),
        ({"number": {"which": "first"}}, "First 42, then 7", "42", 1.0),
        ({"number": {"which": "any"}}, "1 or 42 or 7", "42", 1.0),
        ({"number": {"which": "only"}}, "42", "42", 1.0),
        ({"number": {"which": "only"}}, "42 or 7", "7", 0.0),
        ({"number": {"abs": 0.5}}, "42.5", "42", 1.0),
        ({"number": {"abs": 0.5}}, "42.51", "42", 0.0),
        ({"number": {"rel": 0.1}}, "110", "100", 1.0),
        ({"number": {"rel": 0.1}}, "100", "111.2", 0.0),
        ({"number": {"rel": 0.1}}, "-110", "-100", 1.0),
        ({"number": 42}, "42", "", 1.0),
        ({"number": {"value": "about 42"}}, "42", "", 1.0),
        ({"number": {"percent": True}}, "60%", "0.6", 1.0),
        ({"number": {"percent": True}}, "0.6", "60 or 60%", 1.0),
        ("number", "60%", "60", 0.0),
        ("number", "none", "60", 0.0),
        ("number", "7", ["six", "7", 8], 1.0),
    ],
)
def test_number(check: Any, text: str, expected: Any, value: float) -> None:
    assert measure(check, text, expected).value == value


CHOICES = {"choices": ["Rome", "Paris", "Bonn"]}


@pytest.mark.parametrize(
    ("check", "text", "expected", "value"),
    [
        ("choice", "ANSWER: B", "Paris", 1.0),
        ("choice", "ANSWER: B", "b", 1.0),
        ("choice", "B", "B", 0.0),
        ({"choice": {"bare": True}}, "B", "B", 1.0),
        ({"choice": {"bare": True}}, "(b)", "B", 1.0),
        ({"choice": {"bare": True}}, "B. Paris", "B", 1.0),
        ({"choice": {"bare": True}}, "Because it is", "B", 0.0),
        ({"choice": {"bare": True}}, "A rose", "A", 0.0),
        ("choice", "ANSWER: A,B", ["A", "B"], 1.0),
        ("choice", "ANSWER: A,B", "A", 0.0),
        ("choice", "ANSWER: D", "A", 0.0),
    ],
)
def test_choice(check: Any, text: str, expected: Any, value: float) -> None:
    assert measure(check, text, expected, **CHOICES).value == value


def test_an_accepted_answer_that_is_no_choice_is_an_error() -> None:
    found = measure("choice", "ANSWER: A", "D", **CHOICES)
    assert found.error == "ValueError: the accepted answer 'D' is none of 3 choices"


def test_details() -> None:
    assert measure({"levenshtein": {"max": 3}}, "kitten", "sitting").details["distance"] == 3
    assert measure({"word_count": 3}, " a b\tc\n").details["words"] == 3
    assert measure("choice", "ANSWER: B", "A").details == {"chosen": ["B"], "wanted": ["A"]}
    assert measure({"answer": "word"}, "ANSWER: no", "yes").details == {"extracted": ["no"]}


def test_an_emoji_is_one_edit() -> None:
    assert measure({"levenshtein": {"max": 1}}, "ok 👍", "ok !").value == 1.0


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("word_count", "takes a number, or min and max"),
        ({"word_count": {"value": 3, "min": 1}}, "takes a number, or min and max"),
        ({"word_count": {"min": 3, "max": 1}}, "min is above max"),
        ({"word_count": 2.5}, "check word_count"),
        ({"word_count": True}, "check word_count"),
        ({"levenshtein": {"max": -1}}, "max"),
        ({"number": {"value": "many"}}, "value"),
        ({"number": {"abs": -1}}, "abs"),
        ({"number": {"which": "middle"}}, "which"),
        ({"pattern": {"pattern": "("}}, "not RE2 syntax"),
        ({"pattern": {"pattern": r"(a)(?!b)"}}, "not RE2 syntax"),
        ({"answer": "paragraph"}, "kind"),
        ({"similarity": {"measure": "cosine"}}, "measure"),
        ({"rouge": {"type": "rouge3"}}, "type"),
        ({"sacrebleu": {"tokenize": "flores200"}}, "tokenize"),
        ({"rouge_n": {"n": 0}}, "n"),
        ({"starts_with": ""}, "value"),
    ],
)
def test_faulty_parameters(check: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        validate_check(Check.model_validate(check))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("check", "text", "value"),
    [
        ({"starts_with": "The"}, "The end", 1.0),
        ({"starts_with": "The"}, " The end", 0.0),
        ({"starts_with": "the"}, "The end", 0.0),
        ({"starts_with": {"value": "strasse", "ignore_case": True}}, "STRAßE 5", 1.0),
        ({"starts_with": {"value": "ﬃx", "ignore_case": True}}, "ffix", 1.0),
        ({"starts_with": {"value": "ffix", "ignore_case": True}}, "ﬃx", 1.0),
    ],
)
def test_starts_with(check: Any, text: str, value: float) -> None:
    assert measure(check, text).value == value


def test_rouge_shares_pairs_and_keeps_words_without_stems() -> None:
    params = {"type": "rouge2", "mode": "precision"}
    assert measure({"rouge": params}, "the cat sat down", "the cat sat").value == pytest.approx(
        2 / 3
    )
    assert measure({"rouge": {"type": "rouge1"}}, "running", "runs").value == pytest.approx(1.0)
    assert measure({"rouge": {"type": "rouge1", "stem": False}}, "running", "runs").value == 0.0
    assert measure({"rouge_n": {"n": 2}}, "a b c", "a b d").value == pytest.approx(0.5)
