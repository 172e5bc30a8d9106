"""Cases, outputs and scores: ids, input, references, expected calls, turns."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from bridge.model import (
    Case,
    ExpectedCalls,
    Matcher,
    Message,
    Output,
    OutputTurn,
    Passage,
    Score,
    ToolCall,
    Turn,
    passage_text,
)

CASE: dict[str, Any] = {"id": "a", "input": "x", "expected": ""}


@pytest.mark.parametrize(("given", "read"), [("a", "a"), (7, "7"), (-1, "-1"), (" 1 ", " 1 ")])
def test_ids_are_text(given: Any, read: str) -> None:
    assert Case.model_validate({**CASE, "id": given}).id == read
    assert Output.model_validate({"case_id": given, "system": given}).key == (read, read, 1)


@pytest.mark.parametrize("given", [True, False, "", " ", "\n", 1.5, None, ["a"], {"a": 1}])
def test_what_is_no_id(given: Any) -> None:
    with pytest.raises(ValidationError):
        Case.model_validate({**CASE, "id": given})


@pytest.mark.parametrize("missing", ["id", "input", "expected"])
def test_required_keys(missing: str) -> None:
    with pytest.raises(ValidationError, match=missing):
        Case.model_validate({key: value for key, value in CASE.items() if key != missing})


@pytest.mark.parametrize(
    "given",
    [
        "",
        "text",
        {"question": "q", "context": ["c"]},
        {},
        [{"role": "user", "content": "hi"}],
        [{"role": "system", "content": "s"}, {"role": "user", "content": [{"text": "t"}]}],
    ],
)
def test_input_is_text_messages_or_an_object(given: Any) -> None:
    case = Case.model_validate({**CASE, "input": given})
    assert isinstance(case.input, tuple) == isinstance(given, list)
    assert Case.model_validate_json(case.model_dump_json()) == case


@pytest.mark.parametrize("given", [None, [], 1, 1.5, True, ["a"], [{"content": "no role"}], [[]]])
def test_what_is_no_input(given: Any) -> None:
    with pytest.raises(ValidationError):
        Case.model_validate({**CASE, "input": given})


def test_meta_is_metadata() -> None:
    case = Case.model_validate({**CASE, "meta": {"a": 1}})
    assert case.metadata == {"a": 1}
    assert '"metadata":{"a":1}' in case.model_dump_json()
    with pytest.raises(ValidationError, match="meta and metadata are the same"):
        Case.model_validate({**CASE, "meta": {}, "metadata": {}})


@pytest.mark.parametrize("key", ["asserts", "Input", "expected_output", "scorer"])
def test_unknown_keys_are_errors(key: str) -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        Case.model_validate({**CASE, key: "x"})


@pytest.mark.parametrize(
    ("expected", "references"),
    [
        ("", ()),
        (None, ()),
        ([], ()),
        ("a", ("a",)),
        (["a", "b"], ("a", "b")),
        (0, (0,)),
        (False, (False,)),
        ({"a": 1}, ({"a": 1},)),
        ([0], (0,)),
        (" ", (" ",)),
    ],
)
def test_references(expected: Any, references: tuple[Any, ...]) -> None:
    assert Case.model_validate({**CASE, "expected": expected}).references == references


def test_matchers_are_parsed() -> None:
    calls = ExpectedCalls.model_validate(
        {"calls": [{"name": "t", "arguments": {"a": {"$approx": 1, "abs": 0.5}, "b": [1]}}]}
    )
    assert calls.calls[0].pattern == {"a": Matcher("$approx", 1, abs=0.5), "b": [1]}
    assert calls.mode == "any_order"
    assert calls.calls[0].extra == "forbid"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ({"$on_of": [1]}, "is no matcher"),
        ({"$any": True, "$regex": "a"}, "is no matcher"),
        ({"$any": True, "b": 1}, "does not take b"),
        ({"$regex": "(a"}, "not RE2 syntax"),
        ({"$regex": "(?=a)"}, "not RE2 syntax"),
        ({"$regex": 1}, "takes a string"),
        ({"$one_of": 1}, "takes a list"),
        ({"$unordered": {"a": 1}}, "takes a list"),
        ({"$approx": "1"}, "takes a number"),
        ({"$approx": True}, "takes a number"),
        ({"$approx": 1, "abs": -1}, "not negative"),
        ({"$approx": 1, "rel": 10**400}, "a float can hold"),
        ({"$type": "text"}, "takes one of"),
        ({"$normalised": 1}, "takes a string"),
        ({"deep": [{"$one_of": [{"$nope": 1}]}]}, "is no matcher"),
    ],
)
def test_faulty_matchers(pattern: Any, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    call = {"name": "t", "arguments": {"a": pattern}}
    with pytest.raises(ValidationError, match=message):
        Case.model_validate({**CASE, "expected_calls": {"calls": [call]}})
    assert capfd.readouterr().err == ""  # the regex library has a log of its own


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ([{"name": "a", "after": ["x"]}], "after names no call: x"),
        ([{"name": "a", "id": "1"}, {"name": "b", "id": 1}], "have the same id"),
    ],
)
def test_the_order_of_calls_names_calls(calls: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ExpectedCalls.model_validate({"calls": calls, "mode": "partial"})


@pytest.mark.parametrize("checks", [["equals", "equals"], [{"contains": "a"}, {"contains": "b"}]])
@pytest.mark.parametrize("where", ["case", "turn"])
def test_two_checks_of_one_metric_would_lose_one(checks: Any, where: str) -> None:
    given = {"checks": checks} if where == "case" else {"turns": [{"user": "u", "checks": checks}]}
    with pytest.raises(ValidationError, match="stands twice"):
        Case.model_validate({**CASE, **given})


def test_a_turn_as_a_case_of_its_own() -> None:
    case = Case.model_validate(
        {
            **CASE,
            "expected": "whole",
            "tools": [{"name": "t"}],
            "vars": {"a": 1},
            "checks": ["equals"],
            "turns": [
                {"user": "one", "expected": "1", "checks": ["tool_use"]},
                {"user": "two", "expected_calls": {"calls": [{"name": "t"}]}},
            ],
        }
    )
    first, second = case.at_turn(0), case.at_turn(1)
    assert (first.input, first.expected, first.turns) == ("one", "1", ())
    assert [check.metric for check in first.checks] == ["tool_use"]
    assert (second.expected, second.checks, second.expected_calls) == (
        "",
        (),
        case.turns[1].expected_calls,
    )
    assert first.tools == case.tools
    assert first.vars == case.vars
    with pytest.raises(IndexError):
        case.at_turn(2)


def test_a_turn_of_an_output() -> None:
    output = Output(
        case_id="a",
        text="last",
        tool_calls=(ToolCall(name="t"),),
        turns=(
            OutputTurn(text="one", tool_calls=(ToolCall(name="t"),), latency_s=1.0),
            OutputTurn(text="", error="broke"),
        ),
    )
    assert (output.at_turn(0).text, output.at_turn(0).turns) == ("one", None)
    assert output.at_turn(0).error is None
    assert output.at_turn(1).error == "broke"
    assert output.at_turn(1).tool_calls == ()
    assert "turn 2 was not answered (2 turns recorded)" in (output.at_turn(2).error or "")
    assert "not answered" in (Output(case_id="a").at_turn(0).error or "")
    failed = output.model_copy(update={"error": "the system failed"})
    assert failed.at_turn(0).error == "the system failed"


def test_no_answer_is_the_empty_text() -> None:
    assert Output.model_validate({"case_id": "a", "text": None}).text == ""
    assert OutputTurn.model_validate({"text": None}).text == ""
    assert Output.model_validate({"case_id": "a", "text": [None]}).text == [None]


def test_messages() -> None:
    message = Message.model_validate({"role": "assistant", "content": None})
    assert message.text == ""
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    assert Message.model_validate({"role": "user", "content": parts}).text == "a\nb"


def test_passages() -> None:
    case = Case.model_validate(
        {**CASE, "reference_contexts": ["a", {"text": "b", "source": "s", "score": 0.5}]}
    )
    assert case.reference_contexts == ("a", Passage(text="b", source="s", score=0.5))
    assert [passage_text(passage) for passage in case.reference_contexts] == ["a", "b"]


def test_arguments_that_are_no_object_stay_text() -> None:
    assert ToolCall.model_validate({"name": "t", "arguments": "{not json"}).arguments == "{not json"
    assert ToolCall.model_validate({"name": "t", "arguments": None}).arguments == {}
    with pytest.raises(ValidationError):
        ToolCall.model_validate({"name": "t", "arguments": [1]})


SCORE: dict[str, Any] = {"framework": "f", "metric": "m", "case_id": "a"}


@pytest.mark.parametrize("status", ["passed", "failed", "scored"])
def test_these_statuses_have_a_value(status: str) -> None:
    assert Score.model_validate({**SCORE, "status": status, "value": 0}).value == 0.0
    with pytest.raises(ValidationError, match="without a value"):
        Score.model_validate({**SCORE, "status": status})


@pytest.mark.parametrize("status", ["error", "skipped", "unsupported"])
def test_these_statuses_have_none(status: str) -> None:
    assert Score.model_validate({**SCORE, "status": status}).value is None
    with pytest.raises(ValidationError, match="with a value"):
        Score.model_validate({**SCORE, "status": status, "value": 1})


def test_the_key_of_a_row() -> None:
    score = Score.model_validate({**SCORE, "status": "error", "turn": 1, "epoch": 2})
    assert score.key == ("f", "default", "a", 2, 1, "m")


def test_turns_take_patterns_as_references() -> None:
    turn = Turn.model_validate({"user": "u", "context_refs": ["word", {"regex": "a|b"}]})
    assert turn.context_refs[0] == "word"
    assert not isinstance(turn.context_refs[1], str)
    assert turn.context_refs[1].regex == "a|b"
