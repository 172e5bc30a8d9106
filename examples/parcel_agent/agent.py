"""An agent with `respond(messages, tools)` and the tool it calls; no model, no key.

A new `ParcelAgent` is made for each conversation. It asks for a look-up when the customer names a
parcel; `run_tool` answers; then it speaks. `system:` in `bridge.yaml` names both.
"""

from __future__ import annotations

import re
from typing import Any

PARCELS = {
    "NP1001": {"parcel": "NP1001", "status": "in transit", "city": "Lille", "eta": "2026-06-18"},
    "NP1002": {"parcel": "NP1002", "status": "delivered", "city": "Oslo", "eta": "2026-06-11"},
}


def run_tool(name: str, arguments: dict[str, Any]) -> Any:
    """Run a tool call: what the suite's `tools` names."""
    if name != "track_parcel":
        raise LookupError(f"there is no tool {name}")
    return PARCELS[arguments["number"]]


class ParcelAgent:
    """Remembers the parcel that its conversation is about."""

    def __init__(self) -> None:
        self.parcel: dict[str, Any] | None = None

    def respond(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Any:
        """Answer the newest message: a text, or a text and tool calls."""
        last = messages[-1]
        if last["role"] == "tool":
            call = messages[-2]["tool_calls"][0]
            self.parcel = call.get("result")
            return self.report() if self.parcel else "I cannot find that parcel."
        number = re.search(r"NP\d{4}", last["content"])
        if number and any(tool["name"] == "track_parcel" for tool in tools):
            return "", [{"name": "track_parcel", "arguments": {"number": number[0]}}]
        if self.parcel is None:
            return "Which parcel is it? The number begins with NP."
        if re.search(r"(?i)when|day|arrive", last["content"]):
            return f"Parcel {self.parcel['parcel']} is expected on {self.parcel['eta']}."
        return self.report()

    def report(self) -> str:
        """Where the parcel is."""
        parcel = self.parcel or {}
        return f"Parcel {parcel['parcel']} is {parcel['status']}; last seen in {parcel['city']}."
