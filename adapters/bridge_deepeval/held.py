"""What DeepEval's native forms keep of a neutral value: each field as it is read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from bridge.model.message import as_text
from bridge.plugin.carry import (
    Held,
    exactly,
    held_input,
    held_metadata,
    held_reference,
    held_users,
)
from bridge_deepeval.calls import Fields, held_calls, held_expected_calls


def held_passages(passages: Iterable[Any]) -> list[str]:
    """Passages as they are read back: their texts."""
    return [each if isinstance(each, str) else each["text"] for each in passages]


def held_usage(value: Mapping[str, Any]) -> Fields | None:
    """Tokens as they are read back."""
    names = ("input_tokens", "output_tokens")
    return {name: value[name] for name in names if value.get(name) is not None} or None


def _held_answers(asked: int, turns: Sequence[Mapping[str, Any]]) -> list[Fields]:
    held = []
    for turn in turns[:asked]:
        fields: Fields = {}
        if text := as_text(turn.get("text", "")):
            fields["text"] = text
        if turn.get("tool_calls"):
            fields["tool_calls"] = held_calls(turn["tool_calls"])
        if turn.get("retrieved_contexts"):
            fields["retrieved_contexts"] = held_passages(turn["retrieved_contexts"])
        held.append(fields)
    return held


_CASE: Held = {
    "id": exactly,
    "input": held_input,
    "expected": held_reference,
    "reference_contexts": held_passages,
    "tags": exactly,
    "metadata": held_metadata,
}
CASE: Held = {**_CASE, "expected_calls": held_expected_calls}
TURNS_CASE: Held = {**_CASE, "turns": held_users}
OUTPUT: Held = {
    "case_id": exactly,
    "text": as_text,
    "tool_calls": held_calls,
    "retrieved_contexts": held_passages,
    "latency_s": exactly,
    "cost_usd": exactly,
    "usage": held_usage,
}


def turns_output(asked: int) -> Held:
    """What is held of an output to a case with ``asked`` turns; further answers are carried."""
    return {"case_id": exactly, "turns": partial(_held_answers, asked)}
