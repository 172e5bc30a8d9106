"""Cases and outputs through DeepEval's objects: nothing is lost, and what DeepEval holds wins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from strategies import CASES, OUTPUTS

from bridge.execution.worker import set_environment
from bridge.model import Case, Output
from bridge_deepeval.info import INFO

pytest.importorskip("deepeval")

ROUND_TRIPS = settings(max_examples=40)


@pytest.fixture(scope="module", autouse=True)
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Everything that DeepEval writes goes here; its switches are set as in a worker."""
    folder = tmp_path_factory.mktemp("deepeval")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.chdir(folder)
        for name, _ in INFO.environment:
            patch.delenv(name, raising=False)
        set_environment(INFO, folder)
        yield folder


def answered(case: Case, output: Output) -> Output:
    """An output that belongs to the case."""
    return output.model_copy(update={"case_id": case.id})


def same_turns(output: Output, case: Case) -> Output:
    """No turns and no answers to them are the same to every scorer."""
    return output.model_copy(update={"turns": output.turns or None}) if case.turns else output


def recorded(case: Case, output: Output) -> Any:
    """The test case as a run file has it."""
    from deepeval.test_case.api import create_api_test_case

    from bridge_deepeval import records
    from bridge_deepeval.cases import is_conversation, to_test_case

    native = to_test_case(case, output)
    record = create_api_test_case(test_case=native, index=0)
    kind = records.Conversation if is_conversation(native) else records.TestCase
    return msgspec.json.decode(record.model_dump_json(by_alias=True, exclude_none=True), type=kind)


@ROUND_TRIPS
@given(CASES, OUTPUTS)
def test_a_test_case_gives_case_and_output_back(case: Case, output: Output) -> None:
    from bridge_deepeval.cases import from_test_case, to_test_case

    output = answered(case, output)
    read_case, read_output = from_test_case(to_test_case(case, output))
    assert read_case == case
    assert same_turns(read_output, case) == same_turns(output, case)


@ROUND_TRIPS
@given(CASES, OUTPUTS)
def test_a_run_file_gives_case_and_output_back(case: Case, output: Output) -> None:
    from bridge_deepeval.cases import from_test_case

    output = answered(case, output)
    read_case, read_output = from_test_case(recorded(case, output))
    assert read_case == case
    assert same_turns(read_output, case) == same_turns(output, case)


CASE = Case.model_validate(
    {
        "id": "c",
        "input": "What is the weather?",
        "expected": ["sunny", "clear"],
        "reference_contexts": [{"text": "It was sunny.", "source": "diary"}],
        "expected_calls": {"calls": [{"name": "look", "arguments": {"at": "sky"}}]},
        "tools": [{"name": "look", "parameters": {"type": "object"}}],
        "tags": ["weather"],
        "metadata": {"k": [1]},
    }
)
OUTPUT = Output.model_validate(
    {
        "case_id": "c",
        "epoch": 2,
        "text": {"sky": "blue"},
        "retrieved_contexts": ["It was sunny."],
        "tool_calls": [
            {"name": "look", "arguments": {"at": "sky"}, "result": {"colour": "blue"}, "id": "1"},
            {"name": "look", "arguments": "{broken", "error": "no such place"},
        ],
        "latency_s": 0.5,
        "cost_usd": 0.01,
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
)


def test_the_native_test_case_says_it_in_deepevals_own_words() -> None:
    from bridge_deepeval.cases import to_single

    native = to_single(CASE, OUTPUT)
    assert (native.name, native.input) == ("c", "What is the weather?")
    assert (native.actual_output, native.expected_output) == ('{"sky":"blue"}', "sunny")
    assert (native.context, native.retrieval_context) == (["It was sunny."], ["It was sunny."])
    assert native.tools_called is not None
    first, second = native.tools_called
    assert (first.name, first.input_parameters, first.output) == (
        "look",
        {"at": "sky"},
        {"colour": "blue"},
    )
    assert second.input_parameters is None
    assert [(each.name, each.input_parameters) for each in native.expected_tools or ()] == [
        ("look", {"at": "sky"})
    ]
    assert (native.completion_time, native.token_cost) == (0.5, 0.01)
    assert (native.input_token_count, native.output_token_count) == (3, 4)
    assert native.tags == ["weather"]
    assert native.metadata is not None
    assert native.metadata["k"] == [1]


def test_what_deepeval_holds_wins_over_what_is_carried() -> None:
    from deepeval.test_case import ToolCall

    from bridge_deepeval.cases import from_test_case, to_single

    native = to_single(CASE, OUTPUT)
    native.actual_output = "rain"
    native.expected_output = "wet"
    native.tools_called = [ToolCall(name="feel", input_parameters={"at": 1})]
    native.retrieval_context = ["It rained."]
    native.completion_time = None
    case, output = from_test_case(native)
    assert (case.expected, output.text, output.latency_s) == ("wet", "rain", None)
    assert [(each.name, each.arguments) for each in output.tool_calls] == [("feel", {"at": 1})]
    assert output.retrieved_contexts == ("It rained.",)
    assert (case.tools, output.epoch) == (CASE.tools, 2)


def test_an_ordinary_test_case_is_read_from_native_fields_alone() -> None:
    from deepeval.test_case import LLMTestCase, RetrievedContextData, ToolCall

    from bridge_deepeval.cases import from_test_case

    native = LLMTestCase(
        input="q",
        actual_output="a",
        expected_output="e",
        context=["c"],
        retrieval_context=[RetrievedContextData(context="r", source="s.md"), "plain"],
        tools_called=[ToolCall(name="f", input_parameters={"x": 1}, output=[2])],
        expected_tools=[
            ToolCall(name="f", input_parameters=None),
            ToolCall(name="g", input_parameters={"x": {"$regex": "("}}),
        ],
        metadata={"topic": "sums"},
    )
    case, output = from_test_case(native)
    assert (case.id, case.input, case.expected) == ("unnamed", "q", "e")
    assert (case.reference_contexts, case.metadata) == (("c",), {"topic": "sums"})
    assert case.expected_calls is not None
    first, second = case.expected_calls.calls
    assert (first.name, first.extra) == ("f", "allow")
    assert second.arguments == {"x": {"$exact": {"$regex": "("}}}
    assert output.model_dump(exclude_defaults=True) == {
        "case_id": "unnamed",
        "text": "a",
        "tool_calls": ({"name": "f", "arguments": {"x": 1}, "result": [2]},),
        "retrieved_contexts": ({"text": "r", "source": "s.md"}, "plain"),
    }


def test_a_test_case_without_an_answer_is_an_error_not_an_empty_answer() -> None:
    from deepeval.test_case import LLMTestCase

    from bridge_deepeval.cases import from_test_case

    _, output = from_test_case(LLMTestCase(input="q"))
    assert output.error == "the test case has no actual_output"


def test_an_ordinary_conversation_is_read_turn_by_turn() -> None:
    from deepeval.test_case import ConversationalTestCase, ToolCall, Turn

    from bridge_deepeval.cases import from_test_case

    native = ConversationalTestCase(
        scenario="twice",
        expected_outcome="told",
        turns=[
            Turn(role="assistant", content="Hello, ask me."),
            Turn(role="user", content="one?"),
            Turn(
                role="assistant",
                content="",
                tools_called=[ToolCall(name="f", input_parameters=None)],
            ),
            Turn(role="assistant", content="1", latency_ms=250, retrieval_context=["c"]),
            Turn(role="user", content="two?"),
            Turn(role="user", content="hello?"),
            Turn(role="assistant", content="2"),
        ],
    )
    case, output = from_test_case(native)
    assert (case.input, case.expected) == ("twice", "told")
    assert [turn.user for turn in case.turns] == ["one?", "two?", "hello?"]
    assert output.turns is not None
    assert [turn.text for turn in output.turns] == ["1", "", "2"]
    assert [call.name for call in output.turns[0].tool_calls] == ["f"]
    assert (output.turns[0].latency_s, output.turns[0].retrieved_contexts) == (0.25, ("c",))


def test_a_conversation_keeps_its_turns_apart() -> None:
    from bridge_deepeval.cases import to_conversation

    case = Case.model_validate(
        {
            "id": "talk",
            "input": "A customer asks twice.",
            "expected": "",
            "turns": [{"user": "one?"}, {"user": "two?"}],
        }
    )
    output = Output.model_validate({"case_id": "talk", "turns": [{"text": "1"}]})
    native = to_conversation(case, output)
    assert native.scenario == "A customer asks twice."
    assert [(turn.role, turn.content) for turn in native.turns] == [
        ("user", "one?"),
        ("assistant", "1"),
        ("user", "two?"),
    ]
