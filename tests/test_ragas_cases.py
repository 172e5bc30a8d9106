"""Cases and outputs as RAGAS samples, and back."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from ragas_jobs import plain, switched_off, talk
from strategies import CASES, OUTPUTS

from bridge.model import Case, InputError, Output
from bridge.plugin.carry import KEY
from bridge_ragas.cases import from_sample, is_conversation, packed, to_sample

pytestmark = pytest.mark.xdist_group("ragas")


@pytest.fixture(scope="module", autouse=True)
def _switched_off(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with switched_off(tmp_path_factory.mktemp("ragas")):
        yield


CALL = {"name": "f", "arguments": {"x": 1.0, "y": [None, {"z": True}]}, "id": "i", "result": 7}
MESSAGES = [
    {"role": "system", "content": "be kind"},
    {"role": "tool", "content": "out of place"},
    {"role": "user", "content": [{"type": "text", "text": "hello"}, {"type": "image"}]},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "g", "id": "1"}]},
    {"role": "tool", "content": "7", "tool_call_id": "1", "name": "g"},
    {"role": "user", "content": "and?"},
]
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "empty": ({"input": ""}, {"text": ""}),
    "json": (
        {"input": {"a": [1, None]}, "expected": {"b": 1.5}},
        {"text": {"b": [True, None, 1.0]}},
    ),
    "references": ({"expected": ["x", "y"]}, {}),
    "contexts": (
        {"reference_contexts": ["a", {"text": "b", "id": "2", "source": "s"}]},
        {"retrieved_contexts": [{"text": "c", "id": "3"}, {"text": "", "id": "04", "score": 0.5}]},
    ),
    "usage": (
        {"tags": ["t"], "metadata": {"k": 1}, "persona": {"name": "p"}},
        {"latency_s": 0.1, "cost_usd": 0.2, "usage": {"input_tokens": 3}, "model": "m", "epoch": 2},
    ),
    "persona": ({"persona": "a teacher"}, {"system": "other", "error": "HTTP 500"}),
    "messages": ({"input": MESSAGES}, {}),
    "one message": ({"input": [{"role": "user", "content": "q"}]}, {}),
    "calls": ({"expected_calls": {"calls": [{"name": "f"}]}}, {"tool_calls": [CALL]}),
    "matchers": (
        {
            "expected_calls": {
                "mode": "strict",
                "calls": [{"name": "f", "arguments": {"x": {"$any": True}}}],
            }
        },
        {
            "tool_calls": [
                {"name": "f"},
                {"name": "g", "error": "broke"},
                {"name": "h", "result": ""},
            ]
        },
    ),
    "malformed": ({}, {"tool_calls": [{"name": "f", "arguments": '{"x": '}]}),
    "messages and calls": ({"input": MESSAGES}, {"tool_calls": [CALL], "text": "so"}),
    "calls and contexts": ({}, {"tool_calls": [CALL], "retrieved_contexts": ["a"]}),
    "turns": (
        {"turns": [{"user": "a", "expected": "1"}, {"user": "b", "expected": ["2", "3"]}]},
        {"turns": [{"text": "1", "tool_calls": [CALL]}, {"text": {"n": 2}, "latency_s": 0.5}]},
    ),
    "too few answers": ({"turns": [{"user": "a"}, {"user": "b"}]}, {"turns": [{"text": "1"}]}),
    "no answers": ({"turns": [{"user": "a"}]}, {}),
    "extras": (
        {"extras": {"ragas": {"rubrics": {"score1": "bad"}, "x": 1}, "deepeval": {"y": 2}}},
        {"extras": {"ragas": {"multi_responses": ["a", "b"]}}},
    ),
}


def pair(name: str) -> tuple[Case, Output]:
    case, output = PAIRS[name]
    return (
        Case.model_validate({"id": name, "input": "q", "expected": "a", **case}),
        Output.model_validate({"case_id": name, "text": "t", **output}),
    )


@pytest.mark.parametrize("name", PAIRS)
def test_a_sample_reads_back_into_the_very_case(name: str) -> None:
    case, output = pair(name)
    assert from_sample(to_sample(case, output)) == (case, output)


@pytest.mark.parametrize("name", PAIRS)
def test_what_a_sample_carries_as_json_reads_back_too(name: str) -> None:
    case, output = pair(name)
    sample = to_sample(case, output)
    vars(sample)[KEY] = packed(sample)
    assert from_sample(sample) == (case, output)


@pytest.mark.parametrize("kind", ["single_turn", "multi_turn"])
@pytest.mark.parametrize("name", [name for name in PAIRS if "turns" not in PAIRS[name][0]])
def test_either_kind_can_be_asked_for(name: str, kind: Any) -> None:
    case, output = pair(name)
    sample = to_sample(case, output, kind)
    assert is_conversation(sample) == (kind == "multi_turn")
    assert from_sample(sample) == (case, output)


def test_turns_do_not_fit_a_single_turn_sample() -> None:
    with pytest.raises(InputError, match="no single-turn sample holds"):
        to_sample(*talk(), "single_turn")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=CASES, output=OUTPUTS)
def test_any_case_survives_the_way_there_and_back(case: Case, output: Output) -> None:
    output = output.model_copy(update={"case_id": case.id})
    if case.turns and output.turns:  # more answers than turns say nothing
        output = output.model_copy(update={"turns": output.turns[: len(case.turns)]})
    sample = to_sample(case, output)
    assert from_sample(sample) == (case, output)
    vars(sample)[KEY] = packed(sample)
    assert from_sample(sample) == (case, output)
    assert json.loads(json.dumps(vars(sample)[KEY])) == vars(sample)[KEY]


def test_what_the_sample_holds_wins_over_what_it_carries() -> None:
    sample: Any = to_sample(*pair("contexts"))
    sample.response, sample.reference = "other", "new"
    sample.retrieved_contexts[0] = "changed"
    case, output = from_sample(sample)
    assert (output.text, case.expected) == ("other", "new")
    assert [getattr(each, "text", each) for each in output.retrieved_contexts] == ["changed", ""]


def test_edited_calls_and_turns_are_seen() -> None:
    sample: Any = to_sample(*pair("calls"))
    sample.user_input[1].tool_calls[0].args = {"x": 2}
    assert from_sample(sample)[1].tool_calls[0].arguments == {"x": 2}
    conversation: Any = to_sample(*talk())
    conversation.user_input[-1].content = "2"
    turns = from_sample(conversation)[1].turns
    assert turns is not None
    assert [turn.text for turn in turns] == ["1", "2"]


def test_a_copied_sample_carries_on() -> None:
    case, output = pair("usage")
    sample = to_sample(case, output)
    assert from_sample(copy.deepcopy(sample)) == (case, output)
    assert from_sample(sample.model_copy()) == (case, output)


def test_ragas_itself_does_not_see_what_is_carried() -> None:
    sample = to_sample(*pair("calls"))
    assert KEY not in sample.to_dict()
    assert KEY not in sample.model_dump_json()


def test_other_peoples_single_turn_samples_are_read_from_their_fields() -> None:
    from ragas import SingleTurnSample

    sample = SingleTurnSample(
        user_input="q",
        response="r",
        reference="e",
        retrieved_contexts=["a", "b"],
        retrieved_context_ids=[1, "2"],
        reference_contexts=["c"],
        rubrics={"score1": "bad"},
        persona_name="p",
    )
    case, output = from_sample(sample)
    assert (case.input, case.expected, case.persona) == ("q", "e", "p")
    assert case.reference_contexts == ("c",)
    assert case.extras == {"ragas": {"rubrics": {"score1": "bad"}}}
    assert output.text == "r"
    assert [(each.text, each.id) for each in output.retrieved_contexts] == [("a", "1"), ("b", "2")]  # type: ignore[union-attr]
    assert case.id == output.case_id == from_sample(sample.model_copy())[0].id


def test_other_peoples_conversations_are_one_exchange_with_all_its_calls() -> None:
    from ragas import MultiTurnSample

    sample = MultiTurnSample.model_validate(
        {
            "user_input": [
                {"type": "human", "content": "one?"},
                {
                    "type": "ai",
                    "content": "",
                    "tool_calls": [{"name": "f", "args": {}}, {"name": "g", "args": {"$x": 1}}],
                },
                {"type": "tool", "content": "first"},
                {"type": "tool", "content": "second"},
                {"type": "ai", "content": "1"},
                {"type": "human", "content": "two?"},
                {"type": "ai", "content": "2"},
            ],
            "reference": "2",
            "reference_tool_calls": [{"name": "g", "args": {"$x": 1, "y": {"$z": 2}}}],
        }
    )
    case, output = from_sample(sample)
    assert not case.turns
    assert output.text == case.expected == "2"
    assert [(call.name, call.result) for call in output.tool_calls] == [
        ("f", "first"),
        ("g", "second"),
    ]
    assert case.expected_calls is not None
    assert case.expected_calls.calls[0].arguments == {"$x": 1, "y": {"$exact": {"$z": 2}}}
    assert len(output.messages) == 7


@pytest.mark.parametrize("asked", [None, []])
def test_an_absent_answer_is_an_error_and_no_empty_text(asked: Any) -> None:
    from ragas import MultiTurnSample, SingleTurnSample

    model: Any = SingleTurnSample if asked is None else MultiTurnSample
    _, output = from_sample(model(user_input=asked))
    assert output.error is not None


def test_a_case_without_expectations_is_a_single_turn_sample() -> None:
    assert not is_conversation(to_sample(*plain("x")))
    assert is_conversation(to_sample(*plain("x", expected_calls={"calls": []})))
