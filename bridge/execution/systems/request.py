"""What a system is asked, and the protocol that every kind of system speaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bridge.model.case import Case

Fields = Mapping[str, Any]
"""Fields of an output as plain data."""


class SystemFault(Exception):  # noqa: N818  # a failure of the system under evaluation, not of ours
    """A system failed; the message says how, in one line."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a system.

    Attributes:
        case: The case; in a conversation still the whole one.
        epoch: 1-based.
        turn: 0-based; ``None`` for a case without turns.
        step: 0 for the user's turn itself, more where the system answers on tool results.
        input: What is asked now: the case's input, or the user's turn, as plain data.
        messages: The whole history as plain data, what is asked now included; the system's own.
        timeout_s: Seconds that the call may take.
        memory: What the system keeps of this one conversation; empty at its beginning.
    """

    case: Case
    epoch: int
    turn: int | None
    step: int
    input: Any
    messages: list[dict[str, Any]]
    timeout_s: float
    memory: dict[str, Any] = field(default_factory=dict)


class System(Protocol):
    """Something that answers."""

    async def answer(self, request: Request) -> Fields:
        """The answer to one request, as output fields.

        Raises:
            SystemFault: If the system failed in a way that its kind can name.
            Exception: Whatever users' code raises.
        """
        ...
