"""What people read when a file of theirs is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from bridge.model import Case, Output, Score, Suite
from bridge.model.baseline import Baseline
from bridge.model.explain import explain, location
from bridge.model.values import Model

CASE: dict[str, Any] = {"id": "a", "input": "x", "expected": ""}
SUITE: dict[str, Any] = {"name": "s", "golden_set": "g", "system": {"recorded": "o"}}
MODES = "'strict', 'in_order', 'any_order', 'subset', 'superset' or 'partial'"


def explained(kind: type[Model], fields: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        kind.model_validate(fields)
    text = explain(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"input": None}, "input: should be a text, a list of messages or an object, not null"),
        ({"input": 5}, "input: should be a text, a list or an object, not 5"),
        ({"input": ["hi"]}, 'input[0]: should be an object with role, not "hi"'),
        (
            {"input": [{"role": "usr", "content": "x"}]},
            "input[0].role: should be 'system', 'user', 'assistant' or 'tool', not \"usr\"",
        ),
        (
            {"input": [{"role": "user", "content": 5}]},
            "input[0].content: should be a text or a list, not 5",
        ),
        (
            {"expected_calls": [{"name": "t"}]},
            "expected_calls: should be an object with calls, not a list",
        ),
        (
            {"expected_calls": {"mode": "anyorder", "calls": []}},
            f'expected_calls.mode: should be {MODES}, not "anyorder"',
        ),
        (
            {"expected_calls": {"calls": [{"nam": "t"}]}},
            "expected_calls.calls[0].nam: unknown key; did you mean name?",
        ),
        ({"turns": ["hi"]}, 'turns[0]: should be an object with user, not "hi"'),
        (
            {"turns": [{"user": "u", "expeted": "x"}]},
            "turns[0].expeted: unknown key; did you mean expected?",
        ),
        ({"turns": {"user": "u"}}, "turns: should be a list, not an object"),
        (
            {"turns": [{"user": "u", "context_refs": [{"regx": "a"}]}]},
            "turns[0].context_refs[0].regx: unknown key; did you mean regex?",
        ),
        ({"checks": "equals"}, 'checks: should be a list, not "equals"'),
        (
            {"checks": [{"contains": {"value": "x", "threshold": 2}}]},
            "checks[0].threshold: should be less than or equal to 1, not 2",
        ),
        (
            {"checks": [{"contains": "x", "threshold": 1}]},
            (
                "checks[0]: a check names one scorer, here: contains, threshold "
                "(indent a check's parameters below its name)"
            ),
        ),
        ({"tags": "a"}, 'tags: should be a list, not "a"'),
        ({"tags": [1]}, "tags[0]: should be a text, not 1"),
        ({"tools": ["t"]}, 'tools[0]: should be an object with name, not "t"'),
        (
            {"tools": [{"name": "t", "parameters": []}]},
            "tools[0].parameters: should be an object, not a list",
        ),
        (
            {"reference_contexts": [5]},
            "reference_contexts[0]: should be a text or an object, not 5",
        ),
        ({"reference_contexts": "x"}, 'reference_contexts: should be a list, not "x"'),
        ({"metadata": [1]}, "metadata: should be an object, not a list"),
        ({"vars": {"a": float("nan")}}, "vars: nan is not a JSON number"),
        ({"id": True}, "id: should be a text, not true"),
        ({"id": " "}, "id: must not be empty"),
    ],
)
def test_cases(fields: dict[str, Any], text: str) -> None:
    said = explained(Case, {**CASE, **fields})
    assert said.split(" (and ")[0] == text


def test_missing_and_unknown_keys() -> None:
    assert explained(Case, {"id": "a", "input": "x"}) == "expected: is missing"
    assert explained(Case, {**CASE, "asserts": []}).startswith(
        "asserts: unknown key (known: id, input, expected, "
    )
    assert explained(Case, {**CASE, "refrence_contexts": []}) == (
        "refrence_contexts: unknown key; did you mean reference_contexts?"
    )


def test_several_faults_are_counted() -> None:
    assert explained(Case, {"id": True, "input": 5, "tags": "a"}).endswith("(and 3 more)")
    assert "more" not in explained(Case, {**CASE, "input": 5})


@pytest.mark.parametrize(
    ("kind", "fields", "text"),
    [
        (Output, {"case_id": "a", "epoch": True}, "epoch: should be a whole number, not true"),
        (Output, {"case_id": "a", "epoch": 1.5}, "epoch: should be a whole number, not 1.5"),
        (Output, {"case_id": "a", "latency_s": "1"}, 'latency_s: should be a number, not "1"'),
        (
            Output,
            {"case_id": "a", "latency_s": -1},
            "latency_s: should be greater than or equal to 0, not -1",
        ),
        (
            Score,
            {"framework": "f", "metric": "m", "case_id": "c", "status": "pass", "value": 1},
            (
                "status: should be 'passed', 'failed', 'scored', 'error', 'unsupported' or "
                "'skipped', not \"pass\""
            ),
        ),
        (
            Score,
            {"framework": "f", "metric": "m", "case_id": "c", "status": "passed"},
            "status passed without a value",
        ),
        (
            Suite,
            {**SUITE, "system": {"http": "ftp://x"}},
            'system.http.url: should match ^https?://, not "ftp://x"',
        ),
        (
            Suite,
            {**SUITE, "system": "o.jsonl"},
            (
                "system: should be an object with recorded, python, http, command, openai, name, "
                "concurrency, timeout_s, tools, max_steps, on_turn_error, prefilter, "
                'not "o.jsonl"'
            ),
        ),
        (
            Suite,
            {**SUITE, "gate": {"metrics": {"equals": {"mn": 1}}}},
            "gate.metrics.equals.mn: unknown key; did you mean min?",
        ),
        (Suite, {**SUITE, "judges": {"j": {}}}, "judges.j.model: is missing"),
        (Suite, {**SUITE, "epochs": "3"}, 'epochs: should be a whole number, not "3"'),
        (Suite, {**SUITE, "version": 2}, "version: should be 1, not 2"),
        (
            Suite,
            {**SUITE, "checks": [{"a": {"negate": "yes"}}]},
            'checks[0].negate: should be true or false, not "yes"',
        ),
    ],
)
def test_other_files(kind: type[Model], fields: dict[str, Any], text: str) -> None:
    assert explained(kind, fields) == text


def test_of_several_types_the_right_one_explains() -> None:
    assert explained(Baseline, {"scores": {"a": 2}}) == (
        "scores.a: should be less than or equal to 1, not 2"
    )
    assert explained(Baseline, {"scores": {"a": "x"}}) == (
        'scores.a: should be a number or an object, not "x"'
    )
    assert explained(Baseline, {"scores": {"a": {"c": 2}}}) == (
        "scores.a.c: should be less than or equal to 1, not 2"
    )


def test_long_values_and_places_are_cut() -> None:
    said = explained(Case, {**CASE, "turns": "x" * 500})
    assert len(said) < 120
    check: Any = "equals"
    for _ in range(400):
        check = {"all": [check]}
    assert len(explained(Case, {**CASE, "checks": [check]})) < 400


def test_the_location_is_that_of_the_file() -> None:
    with pytest.raises(ValidationError) as caught:
        Case.model_validate({**CASE, "input": [{"role": "user"}, {"role": "usr"}]})
    assert location(caught.value) == ("input", 1, "role")
