"""Inspect AI's own scorers and ours, on one table of tricky answers and targets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import Target, answer, exact, f1, includes, match, pattern
from inspect_ai.scorer._choice import choice
from inspect_ai.solver import TaskState
from inspect_ai.solver._multiple_choice import (
    parse_answers,
    set_choices_based_on_generated_response,
)

from bridge.model import Case, Check, Output
from bridge.scorers import evaluate, validate_check

VALUES = {"C": 1.0, "I": 0.0, "N": 0.0}

TEXTS = [
    "Paris",
    "paris.",
    "The answer is Paris.",
    "Paris is the answer",
    "\n  Paris!  \n",
    "42",
    "The answer is 42.",
    "42 is the answer, not 7",
    "I think 41 or 42!",
    "(42)",
    "**42**",
    "$1,234.50",
    "\\$20",
    "about 60%",
    "60",
    "-5",
    "−5",
    "½",
    "2½ cups",
    "3²",
    "４２",
    "1e3",
    "1000",
    "0.333333333",
    "nan",
    "inf",
    "25",
    "42.0",
    "42.000001",
    "42.1",
    "",
    "   ",
    "ANSWER: B",
    "answer: b",
    "First ANSWER: A\nbut then ANSWER: B",
    "ANSWER: B.",
    "ANSWER: Boston",
    "ANSWER: yes, of course",
    "ANSWER: yes\n",
    "ANSWER: the red one  \n\n",
    "ANSWER: A\nmore text",
    "ANSWER:\nB",
    "the cat sat on the mat",
    "A cat, sat on a mat!",
    "The the the cat cat",
    "state-of-the-art",
    "Straße",
    "STRASSE",
    "x" * 5000,
    "日本語",
]
TARGETS = [
    ["Paris"],
    ["paris"],
    ["42"],
    ["42.0", "seven"],
    ["1234.5"],
    ["20"],
    ["60", "60%"],
    ["60%"],
    ["-5"],
    ["0.5"],
    ["2.5"],
    ["9"],
    ["1000"],
    ["1/3", "0.33333"],
    ["5"],
    ["B"],
    ["yes"],
    ["the red one", "A"],
    ["the cat sat on the mat"],
    ["cat"],
    ["state of the art"],
    ["strasse"],
    ["日本"],
]

PAIRS: list[tuple[str, Callable[[], Any], Any]] = [
    ("match", match, "match"),
    ("match begin", lambda: match("begin"), {"match": {"location": "begin"}}),
    ("match any", lambda: match("any"), {"match": {"location": "any"}}),
    ("match exact", lambda: match("exact"), {"match": {"location": "exact"}}),
    ("match case", lambda: match(ignore_case=False), {"match": {"ignore_case": False}}),
    ("match numeric", lambda: match(numeric=True), {"match": {"numeric": True}}),
    *(
        (
            f"match numeric {place}",
            lambda place=place: match(place, numeric=True),
            {"match": {"numeric": True, "location": place}},
        )
        for place in ("begin", "any", "exact")
    ),
    ("includes", includes, {"contains": {"ignore_case": True}}),
    ("includes case", lambda: includes(ignore_case=False), "contains"),
    ("exact", exact, "exact"),
    ("f1", f1, "f1"),
    ("f1 stop words", lambda: f1(stop_words=["cat"]), {"f1": {"stop_words": ["cat"]}}),
    ("pattern", lambda: pattern(r"is (\w+)"), {"pattern": {"pattern": r"is (\w+)"}}),
    ("pattern whole", lambda: pattern(r"\d+"), {"pattern": {"pattern": r"\d+"}}),
    (
        "pattern groups",
        lambda: pattern(r"(\d+)|(paris)", match_all=True),
        {"pattern": {"pattern": r"(\d+)|(paris)", "match_all": True}},
    ),
    (
        "pattern case",
        lambda: pattern(r"(Paris)", ignore_case=False),
        {"pattern": {"pattern": r"(Paris)", "ignore_case": False}},
    ),
    ("answer letter", lambda: answer("letter"), {"answer": "letter"}),
    ("answer word", lambda: answer("word"), {"answer": "word"}),
    ("answer line", lambda: answer("line"), {"answer": {"kind": "line"}}),
]  # fmt: skip

DIFFERENCES: list[tuple[Callable[[], Any], Any, str, str, str]] = [
    (
        lambda: match(numeric=True),
        {"match": {"numeric": True}},
        "四十二",
        "42",
        "Chinese numerals of several signs are read there",
    ),
    (match, "match", "no idea", ".", "a target of punctuation matches everything there"),
    (lambda: pattern(r"(a)(?!b)"), {"pattern": {"pattern": r"(a)$"}}, "ac", "a", "RE2 has no lookahead"),
]  # fmt: skip
"""(theirs, ours, text, target, reason): passed there and not here."""


def state_of(text: str, target: list[str], choices: list[str] | None = None) -> TaskState:
    return TaskState(
        model=ModelName("mockllm/model"),
        sample_id="a",
        epoch=1,
        input="q",
        messages=[],
        target=Target(target),
        choices=choices,
        output=ModelOutput.from_content("mockllm/model", text),
    )


def ours(written: Any, text: str, target: list[str], **case: Any) -> float | None:
    check = Check.model_validate(written)
    validate_check(check)
    found = evaluate(
        check, Case(id="a", input="q", expected=target, **case), Output(case_id="a", text=text)
    )
    assert found.error is None
    return found.value


@pytest.mark.parametrize(("name", "native", "written"), PAIRS, ids=[name for name, *_ in PAIRS])
def test_agreement(name: str, native: Callable[[], Any], written: Any) -> None:
    async def theirs() -> dict[tuple[str, tuple[str, ...]], float]:
        scorer = native()
        return {
            (text, tuple(target)): (await scorer(state_of(text, target), Target(target))).value
            for text in TEXTS
            for target in TARGETS
        }

    differing = {}
    for (text, target), value in asyncio.run(theirs()).items():
        expected = VALUES[value] if isinstance(value, str) else value
        found = ours(written, text, list(target))
        found = round(found, 2) if name.startswith("f1") and found is not None else found
        if found != expected:
            differing[(name, text)] = (target, expected, found)
    assert not differing


@pytest.mark.parametrize(("native", "written", "text", "target", "reason"), DIFFERENCES)
def test_listed_differences(
    native: Callable[[], Any], written: Any, text: str, target: str, reason: str
) -> None:
    async def theirs() -> Any:
        return (await native()(state_of(text, [target]), Target([target]))).value

    assert asyncio.run(theirs()) == "C", reason
    assert ours(written, text, [target]) == 0.0


CHOICES = ["Paris", "Berlin", "London", "Rome"]
CHOICE_TEXTS = [
    "ANSWER: B",
    "ANSWER: b",
    "ANSWER: (B)",
    "ANSWER: $B$",
    "ANSWER: **B**",
    "ANSWER: B.",
    "ANSWER: B,",
    "Some thought.\n\nANSWER: B\n",
    "ANSWER: A\nNo: ANSWER: B",
    "So the ANSWER: B because",
    "ANSWER: Berlin",
    "ANSWER: E",
    "ANSWER: A,C",
    "ANSWER: AC",
    "ANSWER: A and C",
    "ANSWER: C, A,",
    "ANSWER: A, B",
    "B",
    "",
    "ANSWER:",
    "ANSWER: \n B",
    "answer : b",
]


@pytest.mark.parametrize("target", [["B"], ["A", "C"], ["A,C"], ["AC"], ["D"]])
@pytest.mark.parametrize("multiple", [False, True])
def test_choices_agree(target: list[str], multiple: bool) -> None:
    async def theirs(text: str) -> Any:
        state = state_of(text, target, CHOICES)
        set_choices_based_on_generated_response(state, parse_answers(state, multiple))
        score = await choice()(state, Target(target))
        assert score is not None
        return score.value

    for text in CHOICE_TEXTS:
        found = ours({"choice": {"multiple": multiple}}, text, target, choices=CHOICES)
        assert found == VALUES[asyncio.run(theirs(text))], text
