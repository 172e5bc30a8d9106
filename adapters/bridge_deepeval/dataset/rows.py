"""Goldens and test cases as rows: neutral to native, and native to neutral."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bridge.files.foreign.cells import is_blank, parse_list, to_number
from bridge.model.case import Case
from bridge.model.message import Passage, ToolCall, as_text, passage_text
from bridge.model.output import Output
from bridge.plugin.carry import KEY, held_input, held_reference, plain
from bridge.plugin.cases.chats import (
    kept_in_extras,
    own_extras,
    read_calls,
    read_expected,
    read_input,
    read_metadata,
)
from bridge.plugin.cases.columns import folded
from bridge_deepeval.calls import Fields
from bridge_deepeval.dataset.conversations import read_conversation, to_turns, tools_of
from bridge_deepeval.dataset.fields import CONVERSATION, SEPARATOR, SINGLE, TOOLS
from bridge_deepeval.rows import NAME

_TAKEN = {folded(n) for table in (SINGLE, CONVERSATION) for names in table.values() for n in names}
_TAKEN.add("opening")
"""Names that would be read as a field."""
SCENARIO = "a conversation"
"""The scenario of a conversation without one: DeepEval tells it from a golden by that."""

_SOURCED = re.compile(r"deepeval_source=(.*?),deepeval_context=(.*)", re.DOTALL)
"""A passage with its source, as DeepEval saves it."""


# --- neutral to native ------------------------------------------------------------------------


def to_row(case: Case, output: Output | None) -> Fields:
    """A case with its answer as a golden; a conversational one if the case has turns.

    Fields at their default are left out, and so is what the case carries.
    """
    row = _to_conversation(case, output) if case.turns else _to_single(case, output)
    kept = own_extras(case.extras, NAME)
    if isinstance(kept.get("name"), str):
        row |= {"name": kept["name"], "id": case.id}
    row |= {"id": kept["id"]} if "id" in kept else {}
    return row | {key: plain(kept[key]) for key in kept if folded(key) not in _TAKEN}


def _to_single(case: Case, output: Output | None) -> Fields:
    row: Fields = {
        "name": case.id,
        "input": held_input(plain(case)["input"]),
        "expected_output": held_reference(case.expected) or None,
        "context": _passages(case.reference_contexts),
        "tags": list(case.tags) or None,
        "additional_metadata": _metadata(case),
    }
    if case.expected_calls is not None:
        row["expected_tools"] = [
            {"name": call.name, "inputParameters": plain(call.arguments)}
            if call.arguments or call.extra == "forbid"
            else {"name": call.name}
            for call in case.expected_calls.calls
        ]
    if output is not None:
        usage = output.usage
        row |= {
            "actual_output": as_text(output.text),
            "retrieval_context": _passages(output.retrieved_contexts),
            "tools_called": to_tools(output.tool_calls) or None,
            "token_cost": output.cost_usd,
            "input_token_count": None if usage is None else usage.input_tokens,
            "output_token_count": None if usage is None else usage.output_tokens,
            "completion_time": output.latency_s,
        }
        if output.error is not None and not output.text:
            row["actual_output"] = None
    return {key: value for key, value in row.items() if value is not None}


def _to_conversation(case: Case, output: Output | None) -> Fields:
    scenario = held_input(plain(case)["input"])
    row: Fields = {
        "name": case.id,
        "scenario": scenario if scenario.strip() else SCENARIO,
        "turns": to_turns(case, output),
        "expected_outcome": held_reference(case.expected) or None,
        "context": _passages(case.reference_contexts),
        "tags": list(case.tags) or None,
        "additional_metadata": _metadata(case),
    }
    persona = {"characteristics": case.persona} if isinstance(case.persona, str) else case.persona
    if isinstance(persona, Mapping):
        known = {key: persona.get(key) for key in ("name", "characteristics")}
        row["persona"] = {key: text for key, text in known.items() if isinstance(text, str)}
    return {key: value for key, value in row.items() if value is not None}


def to_tools(calls: Sequence[ToolCall]) -> list[Fields]:
    """Tool calls as they stand in DeepEval's files."""
    tools = []
    for call in calls:
        tool: Fields = {"name": call.name}
        if isinstance(call.arguments, Mapping):
            tool["inputParameters"] = plain(call.arguments)
        if call.result is not None:
            tool["output"] = call.result
        known = own_extras(call.extras, NAME)
        tools.append({**{k: known[k] for k in _OF_TOOL if isinstance(known.get(k), str)}, **tool})
    return tools


_OF_TOOL = ("type", "description", "reasoning")


def _passages(passages: Sequence[str | Passage]) -> list[str] | None:
    return [_passage(each) for each in passages] or None


def _passage(passage: str | Passage) -> str:
    if isinstance(passage, Passage) and passage.source is not None:
        return f"deepeval_source={passage.source},deepeval_context={passage.text}"
    return passage_text(passage)


def _metadata(case: Case) -> Fields | None:
    return {key: plain(value) for key, value in case.metadata.items() if key != KEY} or None


# --- native to neutral ------------------------------------------------------------------------


def read_single(row: Mapping[str, Any], rest: Mapping[str, Any]) -> tuple[Fields, Fields | None]:
    """A golden or test case as the fields of a case and, where it is answered, of an output.

    Args:
        row: Values by field.
        rest: Everything else of the row, kept in ``extras``.

    Raises:
        ValueError: If a value is nothing that its field can hold.
    """
    expected = row.get("expected_output")
    case: Fields = {
        "input": read_input(row.get("input"), NAME),
        "expected": "" if expected is None else expected,
        "reference_contexts": read_passages(row.get("context")),
        "tags": [as_text(each) for each in parse_list(row.get("tags"), ",;|")],
        "metadata": read_metadata(row.get("additional_metadata")),
        **kept_in_extras(rest, NAME),
    }
    if (tools := row.get("expected_tools")) is not None:
        case["expected_calls"] = _calls(tools, read_expected, "expected_tools")
    return case, _read_answer(row)


def read_turned(row: Mapping[str, Any], rest: Mapping[str, Any]) -> tuple[Fields, Fields | None]:
    """A conversational golden or test case, likewise."""
    conversation = read_conversation(row.get("turns"))
    scenario = row.get("scenario")
    expected = row.get("expected_outcome")
    own = {**rest, **({"opening": conversation.opening} if conversation.opening else {})}
    case: Fields = {
        "input": "" if scenario is None else read_input(scenario, NAME) or "",
        "expected": "" if expected is None else expected,
        "reference_contexts": read_passages(row.get("context")),
        "tags": [as_text(each) for each in parse_list(row.get("tags"), ",;|")],
        "metadata": read_metadata(row.get("additional_metadata")),
        "persona": row.get("persona"),
        "turns": conversation.turns,
        **kept_in_extras(own, NAME),
    }
    return case, {"turns": conversation.answers} if conversation.answers else None


def _read_answer(row: Mapping[str, Any]) -> Fields | None:
    names = ("input_token_count", "output_token_count")
    tokens = {name.removesuffix("_count") + "s": to_number(row.get(name)) for name in names}
    usage = {name: count for name, count in tokens.items() if count is not None}
    answer: Fields = {
        "retrieved_contexts": read_passages(row.get("retrieval_context")),
        "cost_usd": to_number(row.get("token_cost")),
        "latency_s": to_number(row.get("completion_time")),
    }
    if tools := row.get("tools_called"):
        answer["tool_calls"] = _calls(tools, read_calls, "tools_called")
    answer = {name: value for name, value in answer.items() if value not in (None, [])}
    if usage:
        answer["usage"] = usage
    text = row.get("actual_output")
    if text is not None:
        return answer | {"text": text}
    return answer | {"error": "the golden has no actual_output"} if answer else None


def _calls(value: Any, read: Any, field: str) -> Any:
    found = read(tools_of(value), NAME)
    if found is None:
        raise ValueError(f"{field} holds something that is no tool call: {TOOLS}")
    return found


def read_passages(value: Any) -> list[Any]:
    """Contexts: a list in any spelling, or one text that DeepEval joined with ``|``."""
    return [_read_passage(each) for each in parse_list(value, SEPARATOR) if not is_blank(each)]


def _read_passage(value: Any) -> Any:
    if isinstance(value, dict) and isinstance(value.get("context"), str):
        return {"text": value["context"], "source": value.get("source")}
    match = _SOURCED.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        return {"text": match[2], "source": match[1]}
    return as_text(value)
