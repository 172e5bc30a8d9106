"""What promptfoo's provider response keeps of an output: each field as it is read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.model.message import as_text
from bridge.plugin.carry import Held, exactly
from bridge_promptfoo.calls import Fields


def held_latency(value: float) -> float:
    """Seconds as they are read back from milliseconds."""
    return value * 1000 / 1000


def held_usage(value: Mapping[str, Any]) -> Fields | None:
    """Tokens as they are read back: both counts, not both 0."""
    sent, received = value.get("input_tokens"), value.get("output_tokens")
    if sent is None or received is None or (sent, received) == (0, 0):
        return None
    return {"input_tokens": sent, "output_tokens": received}


CASE: Held = {}
TURNS_OUTPUT: Held = {
    "latency_s": held_latency,
    "cost_usd": exactly,
    "usage": held_usage,
    "error": exactly,
}
OUTPUT: Held = {**TURNS_OUTPUT, "text": as_text}
