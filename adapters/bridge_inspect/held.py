"""What Inspect's native forms keep of a neutral value: each field as it is read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from bridge.model.message import as_text
from bridge.plugin.carry import Held, exactly, held_metadata, held_users
from bridge_inspect.calls import Fields, held_calls, held_messages

STOP_REASONS = frozenset({"stop", "max_tokens", "model_length", "tool_calls", "content_filter"})


def held_input(value: Any) -> Any:
    """A case's input as it is read back."""
    return held_messages(value) if isinstance(value, list) else as_text(value)


def held_expected(value: Any) -> Any:
    """A reference answer as it is read back from a target."""
    if value is None or value == []:
        return ""
    if not isinstance(value, list):
        return as_text(value)
    texts = [as_text(item) for item in value]
    return texts[0] if len(texts) == 1 else texts


def held_stop(value: str | None) -> str | None:
    """A stop reason, if Inspect knows it."""
    return value if value in STOP_REASONS else None


def held_usage(value: Mapping[str, Any]) -> Fields | None:
    """Tokens as they are read back: both counts, not both 0."""
    sent, received = value.get("input_tokens"), value.get("output_tokens")
    if sent is None or received is None or (sent, received) == (0, 0):
        return None
    return {"input_tokens": sent, "output_tokens": received}


def _held_answers(asked: int, turns: Sequence[Mapping[str, Any]]) -> list[Fields]:
    held = []
    for turn in turns[:asked]:
        fields: Fields = {}
        if text := as_text(turn.get("text", "")):
            fields["text"] = text
        if turn.get("tool_calls"):
            fields["tool_calls"] = held_calls(turn["tool_calls"])
        held.append(fields)
    return held


_CASE: Held = {
    "id": exactly,
    "expected": held_expected,
    "choices": exactly,
    "metadata": held_metadata,
}
CASE: Held = {**_CASE, "input": held_input}
TURNS_CASE: Held = {**_CASE, "turns": held_users}
_OUTPUT: Held = {
    "case_id": exactly,
    "epoch": exactly,
    "latency_s": exactly,
    "usage": held_usage,
    "cost_usd": exactly,
    "model": lambda value: value or None,
    "stop_reason": held_stop,
    "error": exactly,
}
OUTPUT: Held = {**_OUTPUT, "text": as_text, "tool_calls": held_calls}


def turns_output(asked: int) -> Held:
    """What is held of an output to a case with ``asked`` turns; further answers are carried."""
    return {**_OUTPUT, "turns": partial(_held_answers, asked)}
