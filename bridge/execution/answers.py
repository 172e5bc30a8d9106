"""What systems answer, read into the fields of an output; and their failures in one line."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from bridge.model.errors import InputError
from bridge.model.message import Message, Usage
from bridge.model.output import Output, OutputTurn
from bridge.model.values import Model
from bridge.scorers.calls import read_calls

OURS = ("system", "case_id", "epoch", "prefilter")
"""Fields of an output that the driver knows better than the system."""


def read_answer(answer: Any) -> dict[str, Any]:
    """What a system returned as output fields: a text, a mapping, or an :class:`Output`.

    Raises:
        InputError: If there is none, or a mapping has keys that an output has not.
    """
    if answer is None:
        raise InputError("the system returned nothing", fix="return a text or a mapping")
    if isinstance(answer, BaseModel):
        answer = answer.model_dump(mode="json", exclude_unset=True)
    if not isinstance(answer, Mapping):
        return {"text": answer}
    unknown = [key for key in answer if key not in Output.model_fields]
    if unknown:
        known = ", ".join(name for name in Output.model_fields if name not in OURS)
        raise InputError(
            f"the answer has unknown keys: {', '.join(map(str, unknown))}",
            fix=f"return a text or a mapping with {known}",
        )
    fields = {key: value for key, value in answer.items() if key not in OURS}
    if fields.get("tool_calls"):
        fields["tool_calls"] = read_calls(fields["tool_calls"])
    return fields


def turn_fields(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Those fields of an answer that one turn of a conversation has."""
    return {key: value for key, value in answer.items() if key in OutputTurn.model_fields}


def messages_of(reply: OutputTurn) -> list[Message]:
    """An answer as the messages that stand for it in the history: itself, then tool results."""
    results = [
        Message(role="tool", content=as_text(told), tool_call_id=call.id, name=call.name)
        for call in reply.tool_calls
        if (told := call.result if call.error is None else {"error": call.error}) is not None
    ]
    answer = Message(role="assistant", content=as_text(reply.text), tool_calls=reply.tool_calls)
    return [answer, *results]


def as_text(value: Any) -> str:
    """A JSON value as the text that a chat message holds."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def plain(value: Any) -> Any:
    """A value of the model as plain data: messages as dicts."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Message):
        return {"content": "", **value.model_dump(mode="json", exclude_defaults=True)}
    if isinstance(value, Model):
        return value.model_dump(mode="json", exclude_defaults=True)
    return value


def joined(turns: Sequence[OutputTurn]) -> dict[str, Any]:
    """Several answers as fields of one: the last text, all calls, amounts summed."""
    return {
        "text": turns[-1].text if turns else "",
        "tool_calls": tuple(call for turn in turns for call in turn.tool_calls),
        "retrieved_contexts": tuple(each for turn in turns for each in turn.retrieved_contexts),
        "latency_s": _total([turn.latency_s for turn in turns]),
        "cost_usd": _total([turn.cost_usd for turn in turns]),
        "usage": _usage([turn.usage for turn in turns if turn.usage is not None]),
    }


def _total(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return math.fsum(known) if known else None


def _usage(usages: Sequence[Usage]) -> Usage | None:
    if not usages:
        return None
    incoming = [usage.input_tokens for usage in usages if usage.input_tokens is not None]
    outgoing = [usage.output_tokens for usage in usages if usage.output_tokens is not None]
    return Usage(
        input_tokens=sum(incoming) if incoming else None,
        output_tokens=sum(outgoing) if outgoing else None,
    )
