"""Cases and outputs through Inspect's objects: nothing is lost, and what Inspect holds wins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from strategies import CASES, OUTPUTS

from bridge.model import Case, Output
from bridge.plugin.carry import KEY

pytest.importorskip("inspect_ai")

ROUND_TRIPS = settings(max_examples=40)


@pytest.fixture(scope="module", autouse=True)
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Everything that Inspect writes goes here."""
    folder = tmp_path_factory.mktemp("inspect")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "INSPECT_LOG_DIR"):
            patch.setenv(name, str(folder))
        yield folder


def answered(case: Case, output: Output) -> Output:
    """An output that belongs to the case."""
    return output.model_copy(update={"case_id": case.id})


def sample_of(case: Case, output: Output) -> Any:
    from bridge_inspect.route import to_eval_sample

    return to_eval_sample(case, output)


def state_of(sample: Any) -> tuple[Any, Any]:
    """What Inspect gives to a scorer for a sample."""
    from inspect_ai.model import ModelName
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    target = Target(sample.target)
    state = TaskState(
        model=ModelName("none/none"),
        sample_id=sample.id,
        epoch=getattr(sample, "epoch", 1),
        input=sample.input,
        messages=sample.messages,
        target=target,
        choices=sample.choices,
        output=sample.output,
        metadata=sample.metadata,
    )
    return state, target


def same_turns(output: Output, case: Case) -> Output:
    """No turns and no answers to them are the same to every scorer."""
    return output.model_copy(update={"turns": output.turns or None}) if case.turns else output


@ROUND_TRIPS
@given(CASES, OUTPUTS)
def test_a_task_state_gives_case_and_output_back(case: Case, output: Output) -> None:
    from bridge_inspect.cases import from_state

    output = answered(case, output)
    read_case, read_output = from_state(*state_of(sample_of(case, output)))
    assert read_case == case
    assert same_turns(read_output, case) == same_turns(output, case)


@ROUND_TRIPS
@given(CASES, OUTPUTS)
def test_a_log_gives_case_and_output_back(case: Case, output: Output) -> None:
    from pydantic_core import to_json

    from bridge_inspect.cases import from_sample
    from bridge_inspect.results.layouts import sample_decoder

    output = answered(case, output)
    content = to_json(sample_of(case, output), exclude_none=True)
    read_case, read_output = from_sample(sample_decoder().decode(content))
    assert read_case == case
    assert same_turns(read_output, case) == same_turns(output, case)


CASE = Case.model_validate(
    {
        "id": "c",
        "input": "What is the weather?",
        "expected": ["sunny", {"sky": "blue"}],
        "tools": [{"name": "look", "parameters": {"type": "object"}}],
        "metadata": {"k": [1]},
    }
)
OUTPUT = Output.model_validate(
    {
        "case_id": "c",
        "text": {"sky": "blue"},
        "tool_calls": [
            {"name": "look", "arguments": {"at": "sky"}, "result": {"colour": "blue"}},
            {"name": "look", "arguments": "{broken", "error": "no such place"},
        ],
        "latency_s": 0.5,
        "cost_usd": 0.01,
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
)


def test_the_native_sample_says_it_in_inspects_own_words() -> None:
    sample = sample_of(CASE, OUTPUT)
    assert sample.target == ["sunny", '{"sky":"blue"}']
    assert [message.role for message in sample.messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    first, second = sample.messages[1].tool_calls
    assert (first.function, first.arguments, first.parse_error) == ("look", {"at": "sky"}, None)
    assert (second.arguments, bool(second.parse_error)) == ({"arguments": "{broken"}, True)
    assert sample.messages[2].content == '{"colour":"blue"}'
    assert sample.messages[2].tool_call_id == first.id
    assert sample.messages[3].error.message == "no such place"
    assert sample.output.completion == '{"sky":"blue"}'
    assert (sample.output.time, sample.output.usage.total_cost) == (0.5, 0.01)
    assert sample.output.usage.total_tokens == 7
    assert sample.metadata["k"] == [1]


def test_what_inspect_holds_wins_over_what_is_carried() -> None:
    """A solver that answers anew must be scored on its own answer, not on the recorded one."""
    from inspect_ai.model import ChatMessageAssistant, ModelOutput
    from inspect_ai.tool import ToolCall

    from bridge_inspect.cases import from_state

    sample = sample_of(CASE, OUTPUT)
    sample.output = ModelOutput.from_content("m", "rain")
    call = ToolCall(id="x", function="feel", arguments={"at": 1})
    sample.messages = [
        sample.messages[0],
        ChatMessageAssistant(content="", tool_calls=[call]),
        sample.output.message,
    ]
    sample.target = "wet"
    case, output = from_state(*state_of(sample))
    assert (case.expected, output.text) == ("wet", "rain")
    assert [(each.name, each.arguments, each.id) for each in output.tool_calls] == [
        ("feel", {"at": 1}, "x")
    ]
    assert (output.latency_s, output.usage, output.model) == (None, None, "m")
    assert case.tools == CASE.tools


def test_an_ordinary_sample_is_read_from_native_fields_alone() -> None:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
        ModelOutput,
    )
    from inspect_ai.tool import ToolCall

    from bridge_inspect.cases import from_state

    asked: list[Any] = [
        ChatMessageUser(content="an example"),
        ChatMessageAssistant(
            content="", tool_calls=[ToolCall(id="0", function="shown", arguments={})]
        ),
        ChatMessageUser(content="the question"),
    ]
    call = ToolCall(id="1", function="f", arguments={"a": 1})
    output = ModelOutput.from_content("openai/m", "done")
    sample = EvalSample(
        id=7,
        epoch=2,
        input=asked,
        target=["x", "y"],
        choices=["x", "y"],
        messages=[
            ChatMessageSystem(content="set by a solver"),
            *asked,
            ChatMessageAssistant(content="", tool_calls=[call]),
            ChatMessageTool(content="4", tool_call_id="1"),
            output.message,
        ],
        output=output,
        metadata={"topic": "sums"},
    )
    case, answer = from_state(*state_of(sample))
    assert (case.id, case.expected, case.choices) == ("7", ["x", "y"], ("x", "y"))
    assert case.metadata == {"topic": "sums"}
    asked_again: Any = case.input
    assert [message.role for message in asked_again] == ["user", "assistant", "user"]
    assert (answer.case_id, answer.epoch, answer.text, answer.model) == ("7", 2, "done", "openai/m")
    assert [(each.name, each.result) for each in answer.tool_calls] == [("f", "4")]
    assert answer.messages[0].role == "system"


def test_a_conversation_becomes_a_history_and_its_scenario_is_never_sent() -> None:
    case = Case.model_validate(
        {
            "id": "talk",
            "input": "A customer asks twice.",
            "expected": "",
            "turns": [{"user": "one?"}, {"user": "two?"}, {"user": "three?"}],
        }
    )
    output = Output.model_validate(
        {
            "case_id": "talk",
            "turns": [{"text": "1"}, {"text": "2", "tool_calls": [{"name": "f", "result": "r"}]}],
        }
    )
    sample = sample_of(case, output)
    assert [message.text for message in sample.input] == ["one?"]
    assert [(message.role, message.text) for message in sample.messages] == [
        ("user", "one?"),
        ("assistant", "1"),
        ("user", "two?"),
        ("assistant", ""),
        ("tool", "r"),
        ("assistant", "2"),
        ("user", "three?"),
    ]
    assert sample.output.completion == "2"


def test_recorded_messages_are_replayed_where_they_tell_the_very_answer() -> None:
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "let me see", "tool_calls": [{"name": "f", "id": "1"}]},
        {"role": "tool", "content": "r", "tool_call_id": "1"},
        {"role": "assistant", "content": "a"},
    ]
    case = Case(id="c", input="q", expected="")
    told = {"case_id": "c", "text": "a", "messages": messages}
    call = {"name": "f", "id": "1", "result": "r"}
    fitting = Output.model_validate({**told, "tool_calls": [call]})
    assert sample_of(case, fitting).messages[1].text == "let me see"
    other = Output.model_validate({**told, "tool_calls": []})
    assert [message.text for message in sample_of(case, other).messages] == ["q", "a"]


def test_only_the_case_travels_in_a_sample_that_is_not_answered_yet() -> None:
    from bridge_inspect.cases import to_sample

    assert set((to_sample(CASE).metadata or {})[KEY]) == {"case"}
