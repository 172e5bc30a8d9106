"""Samples as rows of a dataset file: neutral to native, and native to neutral."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from bridge.files.foreign.cells import is_blank, parse_cell, parse_list
from bridge.model.case import Case
from bridge.model.message import as_text
from bridge.model.output import Output
from bridge.plugin.carry import KEY, held_input, held_reference, plain
from bridge.plugin.cases.chats import (
    kept_in_extras,
    own_extras,
    read_expected,
    read_input,
    read_messages,
)
from bridge.plugin.cases.columns import folded
from bridge_ragas.calls import Fields
from bridge_ragas.cases import digest_of, kind_of
from bridge_ragas.dataset.fields import FIELDS
from bridge_ragas.dataset.messages import to_conversation
from bridge_ragas.held import MULTI, held_persona, read_passages, to_ids, to_texts
from bridge_ragas.rows import NAME

_TAKEN = {KEY, *(folded(name) for names in FIELDS.values() for name in names)}


# --- neutral to native ------------------------------------------------------------------------


def to_row(case: Case, output: Output | None) -> Fields:
    """A case with its answer as a sample; fields without a value are left out."""
    if kind_of(case, output or Output(case_id=case.id)) == MULTI:
        row: Fields = {"user_input": to_conversation(case, output)}
        if case.expected_calls is not None:
            row["reference_tool_calls"] = [
                {"name": call.name, "args": plain(call.arguments)}
                for call in case.expected_calls.calls
            ]
    else:
        row = _to_single(case, output)
    row["reference"] = held_reference(case.expected) or None
    kept = {**own_extras(case.extras, NAME)}
    kept |= {} if output is None else own_extras(output.extras, NAME)
    others = {key: plain(value) for key, value in kept.items() if folded(key) not in _TAKEN}
    return {key: value for key, value in {**others, **row}.items() if value is not None}


def _to_single(case: Case, output: Output | None) -> Fields:
    row: Fields = {
        "user_input": held_input(plain(case)["input"]),
        "reference_contexts": to_texts(case.reference_contexts),
        "reference_context_ids": to_ids(case.reference_contexts),
        "persona_name": held_persona(case.persona),
    }
    if output is not None:
        row["response"] = as_text(output.text)
        row["retrieved_contexts"] = to_texts(output.retrieved_contexts)
        row["retrieved_context_ids"] = to_ids(output.retrieved_contexts)
        if output.error is not None and not output.text:
            row["response"] = None
    return row


# --- native to neutral ------------------------------------------------------------------------


def read_row(
    values: Mapping[str, Any], rest: Mapping[str, Any], *, turned: bool = False
) -> tuple[Fields, Fields | None]:
    """A row as the fields of a case and, where it is answered, of an output.

    Args:
        values: Values by field.
        rest: Everything else of the row, kept in ``extras``.
        turned: Whether its conversation is that of a case with turns.

    Raises:
        ValueError: If a value is nothing that its field can hold.
    """
    said = conversation_of(values.get("user_input"))
    case: Fields = {"expected": _reference(values.get("reference")), "persona": None}
    persona = values.get("persona_name")
    if isinstance(persona, str) and persona:
        case["persona"] = persona
    case |= kept_in_extras(rest, NAME)
    case["reference_contexts"] = _passages(values, "reference_context")
    if (calls := values.get("reference_tool_calls")) is not None:
        case["expected_calls"] = read_expected(parse_list(calls), NAME)
        if case["expected_calls"] is None:
            raise ValueError("reference_tool_calls holds something that is no tool call")
    if said is None:
        case["input"] = read_input(values.get("user_input"), NAME)
        return case, _single_answer(values)
    if turned:
        case["input"] = ""
        case["turns"], answers = _turns(said)
        return case, {"turns": answers} if answers else None
    case["input"], answer = _exchange(said)
    contexts = _passages(values, "retrieved_context")
    response = values.get("response")
    if contexts or response is not None:
        answer = {**(answer or {}), **({"retrieved_contexts": contexts} if contexts else {})}
        answer |= {} if response is None else {"text": response, "error": None}
    return case, answer


def conversation_of(value: Any) -> list[Fields] | None:
    """A list of messages, also from a cell, as the fields of neutral ones."""
    found = read_messages(parse_cell(value), NAME)
    for message in found or ():
        role = own_extras(message.get("extras", {}), NAME).get("metadata", {})
        role = role.get("role") if isinstance(role, Mapping) else None
        if role in ("system", "user", "assistant", "tool"):
            message["role"] = role
    return found


def _reference(value: Any) -> Any:
    if value is None:
        return ""
    parsed = parse_cell(value)
    texts = isinstance(parsed, list) and all(isinstance(each, str) for each in parsed)
    return parsed if texts else value


def _passages(values: Mapping[str, Any], name: str) -> list[Any]:
    texts = [as_text(each) for each in parse_list(values.get(f"{name}s")) if not is_blank(each)]
    ids = [as_text(each) for each in parse_list(values.get(f"{name}_ids"))]
    if not ids or (texts and len(texts) != len(ids)):
        return list(texts)
    return read_passages(texts or None, ids)


def _single_answer(values: Mapping[str, Any]) -> Fields | None:
    contexts = _passages(values, "retrieved_context")
    answer: Fields = {"retrieved_contexts": contexts} if contexts else {}
    response = values.get("response")
    if response is not None:
        return answer | {"text": response}
    return answer | {"error": "the sample has no response"} if answer else None


def _exchange(said: Sequence[Fields]) -> tuple[Any, Fields | None]:
    """What was sent, which ends with the last user message, and what was answered."""
    asked = [index for index, each in enumerate(said) if each["role"] == "user"]
    split = asked[-1] + 1 if asked else 0
    sent, answered = list(said[:split]), [e for e in said[split:] if e["role"] == "assistant"]
    if not any(each["role"] == "assistant" for each in said):
        return _sent(said), None
    answer: Fields = {"messages": list(said)}
    if answered:
        answer["text"] = answered[-1].get("content", "")
    else:
        answer["error"] = "the conversation has no answer"
    if calls := _calls(said):
        answer["tool_calls"] = calls
    return _sent(sent), answer


def _sent(messages: Sequence[Fields]) -> Any:
    """What was sent: a text if a user sent nothing else."""
    if not messages:
        return ""
    alone = len(messages) == 1 and set(messages[0]) <= {"role", "content"}
    alone = alone and messages[0]["role"] == "user"
    return messages[0].get("content", "") if alone else list(messages)


def _calls(messages: Sequence[Fields]) -> list[Fields]:
    """Every tool call in order; a result belongs to the first call before it without one."""
    calls: list[Fields] = []
    waiting: list[Fields] = []
    for message in messages:
        if message["role"] == "assistant":
            waiting = [dict(call) for call in message.get("tool_calls", ())]
            calls += waiting
        elif message["role"] == "tool" and waiting:
            call = waiting.pop(0)
            metadata = own_extras(message.get("extras", {}), NAME).get("metadata")
            error = metadata.get("error") if isinstance(metadata, Mapping) else None
            if message.get("content") or error is None:
                call["result"] = message.get("content", "")
            if error is not None:
                call["error"] = as_text(error)
    return calls


def _turns(said: Sequence[Fields]) -> tuple[list[Fields], list[Fields]]:
    """The user turns of a conversation, and the answers to them."""
    starts = [index for index, each in enumerate(said) if each["role"] == "user"]
    users = [{"user": as_text(said[index].get("content", ""))} for index in starts]
    answers: list[Fields] = []
    for start, end in zip(starts, [*starts[1:], len(said)], strict=True):
        spoken = [each for each in said[start:end] if each["role"] == "assistant"]
        answer: Fields = {}
        if spoken and spoken[-1].get("content"):
            answer["text"] = spoken[-1]["content"]
        if calls := _calls(said[start:end]):
            answer["tool_calls"] = calls
        answers.append(answer)
    while answers and not answers[-1]:
        answers.pop()
    return users, answers


def id_of(values: Mapping[str, Any]) -> str:
    """The id of a row without one, as the reader of RAGAS's results makes it."""
    asked = values.get("user_input")
    said = parse_cell(asked)
    if isinstance(said, list) and all(isinstance(each, dict) for each in said):
        asked = [
            SimpleNamespace(
                type=each.get("type", ""),
                content=each.get("content"),
                metadata=each.get("metadata") if isinstance(each.get("metadata"), dict) else None,
            )
            for each in said
            if each.get("type") == "human"
        ]
    elif isinstance(asked, list):
        asked = as_text(asked)
    reference = values.get("reference")
    return digest_of(SimpleNamespace(user_input=asked, reference=reference))


def line_of(row: Mapping[str, Any]) -> str:
    """A row as a line of a file."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
