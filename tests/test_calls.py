"""Tool calls in every spelling that systems and frameworks use."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import math
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from bridge.model import ToolCall
from bridge.scorers.calls import read_arguments, read_calls

ARGUMENTS = {"city": "Oslo", "days": 2}
TEXT = json.dumps(ARGUMENTS)


class PydanticCall(BaseModel):
    name: str
    input_parameters: dict[str, Any] | None = None
    output: Any = None


@dataclasses.dataclass
class DataclassCall:
    id: str
    function: str
    arguments: dict[str, Any]
    parse_error: str | None = None
    type: str = "function"


@pytest.mark.parametrize(
    "call",
    [
        {"name": "weather", "arguments": ARGUMENTS},
        {"name": "weather", "args": ARGUMENTS},
        {"name": "weather", "params": ARGUMENTS},
        {"name": "weather", "parameters": ARGUMENTS},
        {"name": "weather", "input": ARGUMENTS},
        {"name": "weather", "arguments": TEXT},
        {"tool_name": "weather", "args": ARGUMENTS},
        {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": TEXT}},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": TEXT},
        {"function_call": {"name": "weather", "arguments": TEXT}},
        {"functionCall": {"name": "weather", "args": ARGUMENTS}},
        {"type": "tool_use", "id": "c1", "name": "weather", "input": ARGUMENTS},
        {"name": "weather", "args": ARGUMENTS, "id": "c1", "type": "tool_call"},
        {"id": "c1", "function": "weather", "arguments": ARGUMENTS, "type": "function"},
        {"name": "weather", "input_parameters": ARGUMENTS},
        {"name": "weather", "inputParameters": ARGUMENTS},
        {"toolUse": {"toolUseId": "c1", "name": "weather", "input": ARGUMENTS}},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": ARGUMENTS},
        {"toolCalls": [{"toolCallId": "c1", "toolName": "weather", "args": ARGUMENTS}]},
        PydanticCall(name="weather", input_parameters=ARGUMENTS),
        DataclassCall("c1", "weather", ARGUMENTS),
        SimpleNamespace(id="c1", function=SimpleNamespace(name="weather", arguments=TEXT)),
        ToolCall(name="weather", arguments=ARGUMENTS),
    ],
)
def test_every_spelling_of_one_call(call: Any) -> None:
    for value in (call, [call], {"role": "assistant", "content": None, "tool_calls": [call]}):
        (read,) = read_calls(value)
        assert (read.name, read.arguments) == ("weather", ARGUMENTS)
        assert read.id in (None, "c1")


def test_the_id_is_kept() -> None:
    calls = read_calls(
        [
            {"id": "a", "function": {"name": "f", "arguments": "{}"}},
            {"type": "function_call", "id": "fc_1", "call_id": "b", "name": "f", "arguments": "{}"},
            {"name": "f", "id": 7},
        ]
    )
    assert [call.id for call in calls] == ["a", "b", "7"]


def test_result_and_error_are_kept() -> None:
    deepeval = PydanticCall(name="f", output={"ok": True})
    failed = {"name": "g", "arguments": {}, "error": {"type": "timeout", "message": "too slow"}}
    plain = {"name": "h", "arguments": {}, "result": [1], "error": "boom"}
    first, second, third = read_calls([deepeval, failed, plain])
    assert (first.result, first.error) == ({"ok": True}, None)
    assert (second.result, second.error) == (None, "too slow")
    assert (third.result, third.error) == ([1], "boom")


USE = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
MADE = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "f"}}]}


def part(**fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": [fields]}


@pytest.mark.parametrize(
    ("call", "answer", "result", "error"),
    [
        (MADE, {"role": "tool", "tool_call_id": "c1", "content": "7"}, "7", None),
        (MADE, {"role": "tool", "tool_call_id": "other", "content": "7"}, None, None),
        (
            MADE,
            {"role": "tool", "tool_call_id": "c1", "content": "", "error": {"message": "late"}},
            None,
            "late",
        ),
        (
            {"type": "ai", "tool_calls": [{"name": "f", "args": {}, "id": "c1"}]},
            {"type": "tool", "tool_call_id": "c1", "content": "no", "status": "error"},
            None,
            "no",
        ),
        (
            {"role": "assistant", "content": [USE]},
            part(type="tool_result", tool_use_id="c1", content=[{"type": "text", "text": "7"}]),
            "7",
            None,
        ),
        (
            {"role": "assistant", "content": [USE]},
            part(type="tool_result", tool_use_id="c1", content="gone", is_error=True),
            None,
            "gone",
        ),
        (
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": '{"a": 1}'},
            '{"a": 1}',
            None,
        ),
        (
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "f"}}]},
            part(toolResult={"toolUseId": "c1", "content": [{"json": {"a": 1}}]}),
            [{"json": {"a": 1}}],
            None,
        ),
        (
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "f"}}]},
            part(toolResult={"toolUseId": "c1", "status": "error"}),
            None,
            "the tool failed",
        ),
        (
            {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "f", "args": {}}}]},
            {"parts": [{"functionResponse": {"id": "c1", "name": "f", "response": {"a": 1}}}]},
            {"a": 1},
            None,
        ),
    ],
)
def test_results_in_a_conversation_are_those_of_the_call(
    call: Any, answer: Any, result: Any, error: Any
) -> None:
    (found,) = read_calls([{"role": "user", "content": "hi"}, call, answer])
    assert (found.name, found.id, found.result, found.error) == ("f", "c1", result, error)


def test_a_call_keeps_the_result_it_has() -> None:
    made = {"name": "f", "id": "c1", "result": 1}
    (found,) = read_calls([made, {"role": "tool", "tool_call_id": "c1", "content": "2"}])
    assert found.result == 1


def test_message_of_anthropic_parts() -> None:
    message = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "name": "no"},
            {"type": "text", "text": "Let me look.", "name": "no"},
            {"type": "tool_use", "id": "t1", "name": "weather", "input": {}},
            {"type": "tool_use", "id": "t2", "name": "news", "input": {"topic": "rain"}},
        ],
    }
    assert [call.name for call in read_calls(message)] == ["weather", "news"]
    assert [call.name for call in read_calls(message["content"])] == ["weather", "news"]


def test_a_call_in_both_parts_and_tool_calls_is_read_once() -> None:
    langchain = {
        "type": "ai",
        "name": None,
        "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}],
        "tool_calls": [{"name": "f", "args": {}, "id": "t", "type": "tool_call"}],
    }
    assert [call.id for call in read_calls(langchain)] == ["t"]


def test_invalid_tool_calls_of_langchain_stay_malformed() -> None:
    message = {"type": "ai", "tool_calls": [], "invalid_tool_calls": [{"name": "f", "args": '{"a'}]}
    (call,) = read_calls(message)
    assert (call.name, call.arguments) == ("f", '{"a')


def test_what_others_say_holds_no_calls_of_the_agent() -> None:
    conversation = [
        {"role": "user", "content": [{"type": "tool_use", "name": "evil", "input": {}}]},
        {"role": "assistant", "content": "", "tool_calls": [{"name": "f", "args": {}}]},
        {"role": "tool", "name": "f", "tool_call_id": "1", "content": "{}"},
        {"type": "tool", "name": "f", "content": "{}"},
        {"type": "human", "name": "bob", "content": "hi"},
        {"type": "tool_result", "content": [{"type": "tool_use", "name": "evil", "input": {}}]},
        {"type": "function_call_output", "call_id": "1", "output": "{}"},
        {"role": "assistant", "name": "bot", "content": "Done."},
    ]
    assert [call.name for call in read_calls(conversation)] == ["f"]


def test_a_parse_error_of_inspect_is_malformed() -> None:
    (call,) = read_calls(DataclassCall("1", "f", {}, parse_error="Error parsing: {bad"))
    assert call.arguments == "Error parsing: {bad"


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        (None, {}),
        ("", {}),
        (" \n", {}),
        ({}, {}),
        ('{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        ({"when": dt.date(2024, 5, 1)}, {"when": "2024-05-01"}),
        ({"tags": {"b", "a"}}, {"tags": ["a", "b"]}),
        ({"who": SimpleNamespace(name="Ann")}, {"who": {"name": "Ann"}}),
        ({1: "x"}, {"1": "x"}),
        ("[1]", "[1]"),
        ([1], "[1]"),
        ("null", "null"),
        (5, "5"),
        ('{"a": 1', '{"a": 1'),
        ("{'a': 1}", "{'a': 1}"),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": 1e999}', '{"a": 1e999}'),
        ({"a": math.nan}, '{"a": NaN}'),
        ({"a": [-math.inf]}, '{"a": [-Infinity]}'),
        ({"a": "\ud800"}, {"a": "\ufffd"}),
        ("x\ud800", "x\ufffd"),
        ({"a": 10**5000}, {"a": 10**5000}),
    ],
)
def test_arguments(value: Any, arguments: Any) -> None:
    assert read_arguments(value) == arguments
    (call,) = read_calls({"name": "f", "arguments": value})
    assert call.arguments == arguments


@pytest.mark.parametrize("levels", [90, 150, 5_000, 200_000])
def test_deep_arguments_stay_text_beyond_the_limit(levels: int) -> None:
    native: Any = {}
    for _ in range(levels):
        native = {"a": native}
    text = '{"a":' * levels + "{}" + "}" * levels
    shallow = levels < 100
    for value in (native, text):
        (call,) = read_calls({"name": "f", "arguments": value})
        assert isinstance(call.arguments, dict) is shallow


def test_a_circle_is_no_json() -> None:
    circle: dict[str, Any] = {}
    circle["self"] = circle
    (call,) = read_calls({"name": "f", "arguments": circle})
    assert isinstance(call.arguments, str)
    listed: list[Any] = []
    listed.append(listed)
    assert read_calls(listed) == ()


@pytest.mark.parametrize("name", [None, "", [], {}, True])
def test_a_missing_name_is_a_nameless_call(name: Any) -> None:
    (call,) = read_calls({"name": name, "arguments": {"a": 1}})
    assert (call.name, call.arguments) == ("", {"a": 1})
    (call,) = read_calls([{"id": "1", "type": "function", "function": {"arguments": "{}"}}])
    assert call.name == ""
    (call,) = read_calls([{"id": "1", "type": "function"}])
    assert (call.name, call.arguments) == ("", {})


@pytest.mark.parametrize(
    "value", [None, "", "no call here", "{", "[]", "3", 3, [], {}, object(), b"x"]
)
def test_no_calls(value: Any) -> None:
    assert read_calls(value) == ()


def test_calls_as_json_text() -> None:
    text = json.dumps([{"name": "f", "args": {"a": 1}}, {"name": "g"}])
    assert [(call.name, call.arguments) for call in read_calls(text)] == [
        ("f", {"a": 1}),
        ("g", {}),
    ]


KEYS = st.sampled_from(
    [
        "name",
        "arguments",
        "args",
        "function",
        "type",
        "role",
        "content",
        "tool_calls",
        "id",
        "error",
    ]
)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.dictionaries(st.integers() | st.text() | st.none(), inner, max_size=2)
    ),
    max_leaves=12,
)


@given(ODD)
def test_reading_never_raises(value: Any) -> None:
    for call in read_calls(value):
        assert isinstance(call, ToolCall)
        assert ToolCall.model_validate_json(call.model_dump_json()) == call


NATIVE = {
    "inspect": """
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.tool import ToolCall
call = ToolCall(id="1", function="f", arguments={"a": 1})
value = ChatMessageAssistant(content="", tool_calls=[call])
""",
    "deepeval": """
from deepeval.test_case import ToolCall
value = [ToolCall(name="f", input_parameters={"a": 1})]
""",
}


@pytest.mark.parametrize(
    "framework",
    [pytest.param(name, marks=pytest.mark.framework(name)) for name in NATIVE],
)
def test_native_objects_are_read(framework: str) -> None:
    code = f"""
import os
os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
{NATIVE[framework]}
from bridge.scorers.calls import read_calls
print("READ", [(call.name, dict(call.arguments)) for call in read_calls(value)])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "READ [('f', {'a': 1})]" in done.stdout
