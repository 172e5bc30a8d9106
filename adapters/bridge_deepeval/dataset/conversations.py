"""The turns of a conversation: neutral to native, and native to neutral in home-made shapes too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.files.foreign.cells import parse_cell, parse_list, to_number
from bridge.model.case import Case
from bridge.model.message import as_text
from bridge.model.output import Output
from bridge.plugin.carry import plain
from bridge.plugin.cases.chats import ROLES, kept_in_extras, own_extras, read_calls, read_expected
from bridge_deepeval.calls import Fields
from bridge_deepeval.dataset.fields import (
    ASSISTANT,
    EXPECTED,
    SEPARATOR,
    TOOL_SEPARATOR,
    TOOLS,
    USER,
)
from bridge_deepeval.rows import NAME

_CALLS = ("tools_called", "toolsCalled", "tool_calls")
_CONTEXTS = ("retrieval_context", "retrievalContext")
_EXPECTED_CALLS = ("expected_tools", "expectedTools", "expected_calls", "expected_tool_calls")
_LATENCY = ("latency_ms", "latencyMs")


@dataclass(slots=True)
class Conversation:
    """A conversation as turns of a case and answers to them.

    Attributes:
        turns: Fields of the case's turns.
        answers: Fields of the answers; one for each turn up to the last one answered.
        opening: What the assistant says before the user does, as it stands.
    """

    turns: list[Fields] = field(default_factory=list)
    answers: list[Fields] = field(default_factory=list)
    opening: list[Fields] = field(default_factory=list)


# --- neutral to native ------------------------------------------------------------------------


def to_turns(case: Case, output: Output | None) -> list[Fields]:
    """The turns of a case with their answers; an answer in which nothing is said is left out."""
    opening = own_extras(case.extras, NAME).get("opening")
    turns: list[Fields] = [each for each in opening or () if _is_turn(each)]
    answers = () if output is None else output.turns or ()
    for index, turn in enumerate(case.turns):
        turns.append({"role": "user", "content": turn.user, **_of_turn(turn.extras)})
        if index < len(answers) and (answer := plain(answers[index])):
            turns.append(_to_answer(answer))
    return turns


def _is_turn(value: Any) -> bool:
    """Whether DeepEval takes a turn, of which it knows two roles."""
    known = isinstance(value, Mapping) and value.get("role") in ("user", "assistant")
    return known and isinstance(value.get("content"), str)


def _to_answer(answer: Mapping[str, Any]) -> Fields:
    turn: Fields = {"role": "assistant", "content": as_text(answer.get("text", ""))}
    passages = [
        each if isinstance(each, str) else each["text"]
        for each in answer.get("retrieved_contexts", ())
    ]
    if passages:
        turn["retrieval_context"] = passages
    tools = [_to_tool(call) for call in answer.get("tool_calls", ())]
    if tools:
        turn["tools_called"] = tools
    return {**_of_turn(answer.get("extras", {})), **turn}


def _to_tool(call: Mapping[str, Any]) -> Fields:
    tool: Fields = {"name": call["name"]}
    if isinstance(call.get("arguments"), Mapping):
        tool["inputParameters"] = call["arguments"]
    if call.get("result") is not None:
        tool["output"] = call["result"]
    return tool


def _of_turn(extras: Mapping[str, Any]) -> Fields:
    """What DeepEval's own turns may hold beside what we know, from extras."""
    fields = own_extras(extras, NAME)
    return {key: plain(fields[key]) for key in _OF_TURN if fields.get(key) is not None}


_OF_TURN = ("user_id", "metadata", "mcp_tools_called", "mcp_resources_called", "mcp_prompts_called")


# --- native to neutral ------------------------------------------------------------------------


def read_conversation(value: Any) -> Conversation:
    """Turns in any shape: a message each, a question with its answer, or what is expected.

    Args:
        value: A list, or its JSON.

    Raises:
        ValueError: If a turn is nothing of these.
    """
    made = Conversation()
    for number, turn in enumerate(parse_list(value)):
        if isinstance(turn, str):
            turn = {"role": "user", "content": turn}
        if not isinstance(turn, dict) or not _read_turn(made, turn):
            what = f"turn {number} is no message, and no question with its answer"
            raise ValueError(f"{what}: write {{role, content}} or {{user, assistant}}")
    return made


def _read_turn(made: Conversation, turn: Mapping[str, Any]) -> bool:
    said = turn.get("role", turn.get("speaker", turn.get("from")))
    role = ROLES.get(said.lower()) if isinstance(said, str) else None
    if role is not None:
        key = next((key for key in ("content", "text", "message", "value") if key in turn), "")
        taken = {"role", "speaker", "from", key}
        content = as_text(turn[key]) if turn.get(key) is not None else ""
        if role == "user":
            _ask(made, content, turn, taken)
        elif role == "tool":
            if not _take_result(made, content, turn):
                _answer(made, "", turn, taken - {key}, role)
        else:
            _answer(made, content, turn, taken, role)
        return True
    asked = next((key for key in USER if turn.get(key) is not None), None)
    if asked is None:
        return False
    answered = next((key for key in ASSISTANT if turn.get(key) is not None), None)
    taken = {asked, *([answered] if answered else ())}
    _ask(made, as_text(turn[asked]), turn, taken, answered=answered is not None)
    if answered is not None:
        picked = {k: turn[k] for k in (*_CALLS, *_CONTEXTS, *_LATENCY) if k in turn}
        _answer(made, as_text(turn[answered]), picked, set(), "assistant")
    return True


def _ask(
    made: Conversation,
    content: str,
    turn: Mapping[str, Any],
    taken: set[str],
    answered: bool = False,
) -> None:
    fields: Fields = {"user": content}
    expected = next((key for key in EXPECTED if turn.get(key) is not None), None)
    if expected is not None:
        fields["expected"] = turn[expected]
        taken.add(expected)
    calls = next((key for key in _EXPECTED_CALLS if turn.get(key) is not None), None)
    if calls is not None:
        fields["expected_calls"] = _expected(turn[calls])
        taken.add(calls)
    if answered:
        taken |= {*_CALLS, *_CONTEXTS, *_LATENCY}
    rest = {key: value for key, value in turn.items() if key not in taken}
    made.turns.append(fields | kept_in_extras(rest, NAME))


def _expected(value: Any) -> Fields:
    found = read_expected(tools_of(value), NAME)
    if found is None:
        raise ValueError(f"a turn's expected tools hold something that is no tool call: {TOOLS}")
    return found


def tools_of(value: Any) -> list[Any]:
    """Tools in any spelling; that one is a function goes without saying."""
    return [
        {key: item for key, item in tool.items() if (key, item) != ("type", "FUNCTION")}
        if isinstance(tool, dict)
        else tool
        for tool in parse_list(value, TOOL_SEPARATOR)
    ]


def _answer(
    made: Conversation, content: str, turn: Mapping[str, Any], taken: set[str], role: str
) -> None:
    if not made.turns or role == "system":
        made.opening.append(dict(turn))
        return
    made.answers += [{} for _ in range(len(made.turns) - len(made.answers))]
    answer = made.answers[-1]
    if content:
        before = answer.get("text")
        answer["text"] = f"{before}\n{content}" if before else content
    _add_fields(answer, turn)
    taken |= {*_CALLS, *_CONTEXTS, *_LATENCY}
    rest = {key: value for key, value in turn.items() if key not in taken}
    if extras := kept_in_extras(rest, NAME):
        known = answer.get("extras", {}).get(NAME, {})
        answer["extras"] = {NAME: {**known, **extras["extras"][NAME]}}


def _take_result(made: Conversation, content: str, turn: Mapping[str, Any]) -> bool:
    """Give a tool's message to the call that it answers, if there is one.

    That is the call it names, else the first of the answer's that has no result yet.
    """
    calls = made.answers[-1].get("tool_calls", ()) if made.answers else ()
    waiting = [call for call in calls if not {"result", "error"} & call.keys()]
    named = [call for call in waiting if call.get("id", "") == turn.get("tool_call_id")]
    for call in (named or waiting)[:1]:
        call["result"] = content
        return True
    return False


def _add_fields(answer: Fields, turn: Mapping[str, Any]) -> None:
    """Add to an answer what a message of it says beside its text."""
    for key in _CALLS:
        if turn.get(key):
            calls = read_calls(tools_of(turn[key]), NAME)
            if calls is None:
                raise ValueError(
                    f"a turn's tools_called hold something that is no tool call: {TOOLS}"
                )
            answer["tool_calls"] = [*answer.get("tool_calls", ()), *calls]
    for key in _CONTEXTS:
        if turn.get(key):
            passages = [_passage(each) for each in parse_list(turn[key], SEPARATOR)]
            answer["retrieved_contexts"] = [*answer.get("retrieved_contexts", ()), *passages]
    for key in _LATENCY:
        if (taken := to_number(turn.get(key))) is not None:
            answer["latency_s"] = answer.get("latency_s", 0) + taken / 1000


def _passage(value: Any) -> Any:
    value = parse_cell(value)
    if isinstance(value, dict) and isinstance(value.get("context"), str):
        return {"text": value["context"], "source": value.get("source")}
    return as_text(value)
