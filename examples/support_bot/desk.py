"""One conversation at the desk: what was said, what the tools answered, and the calls made now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import shop

JsonObject = dict[str, Any]
Arguments = Callable[[str, JsonObject], JsonObject]
"""(tool name, arguments) to the arguments really passed."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call with its outcome: a result, or the error that may be shown."""

    name: str
    arguments: JsonObject
    result: JsonObject | None
    error: str | None = None


@dataclass
class Desk:
    """Calls tools and remembers their answers.

    Attributes:
        said: Earlier messages of the customer, oldest first.
        past: Calls of earlier turns.
        offered: Names of the tools that may be called.
        arguments: How arguments are passed on.
        calls: Calls of this turn.
    """

    said: Sequence[str]
    past: Sequence[Call]
    offered: frozenset[str]
    arguments: Arguments
    calls: list[Call] = field(default_factory=list)

    def call(self, name: str, **arguments: Any) -> Call | None:
        """Call a tool, or reuse the answer of the same call in this turn; None if not offered."""
        if name not in self.offered:
            return None
        passed = {key: value for key, value in arguments.items() if value is not None}
        passed = self.arguments(name, passed)
        for made in self.calls:
            if (made.name, made.arguments) == (name, passed):
                return made
        self.calls.append(_carry_out(name, passed))
        return self.calls[-1]

    @property
    def history(self) -> list[Call]:
        """All calls of the conversation, oldest first."""
        return [*self.past, *self.calls]

    def last(self, *names: str) -> Call | None:
        """The latest successful call of one of these tools."""
        done = (call for call in reversed(self.history) if call.error is None)
        return next((call for call in done if call.name in names), None)

    def result(self, name: str) -> JsonObject:
        """The latest result of a tool, empty if there is none."""
        call = self.last(name)
        return (call.result or {}) if call else {}


def _carry_out(name: str, arguments: JsonObject) -> Call:
    try:
        return Call(name, arguments, shop.call(name, arguments))
    except shop.ToolError as error:
        return Call(name, arguments, None, str(error))


def calls_in(messages: Sequence[Mapping[str, Any]]) -> list[Call]:
    """The tool calls of earlier assistant messages; a result that is not recorded is asked again.

    Asking again is safe: the shop's tools are pure.
    """
    found = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            name, arguments = call["name"], dict(call.get("arguments") or {})
            if call.get("result") is None and call.get("error") is None:
                found.append(_carry_out(name, arguments))
            else:
                found.append(Call(name, arguments, call.get("result"), call.get("error")))
    return found
