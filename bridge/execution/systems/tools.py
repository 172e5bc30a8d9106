"""Running the tool calls that a system leaves open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bridge.execution.systems.python import Function, called, find
from bridge.model.errors import InputError
from bridge.model.message import ToolCall


def open_calls(calls: Sequence[ToolCall]) -> bool:
    """Whether a call has neither a result nor an error yet."""
    return any(call.result is None and call.error is None for call in calls)


class ToolRunner:
    """A function of a tool's name and its arguments, as a suite names it."""

    def __init__(self, function: Function, timeout_s: float) -> None:
        self._function = function
        self._timeout_s = timeout_s

    @classmethod
    def load(cls, name: str, folder: Path, timeout_s: float) -> ToolRunner:
        """Import ``module:function``.

        Raises:
            InputError: If it is not there or not callable.
        """
        found = find(name, folder, "tool runner")
        if not callable(found):
            raise InputError(f"tool runner {name!r} is not callable", fix="name a function")
        return cls(found, timeout_s)

    async def run(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """The calls in order, each open one with its result, or with what went wrong."""
        return tuple([await self._run(call) if open_calls([call]) else call for call in calls])

    async def _run(self, call: ToolCall) -> ToolCall:
        if isinstance(call.arguments, str):
            return call.model_copy(update={"error": "the arguments are no JSON object"})
        try:
            working = called(self._function, call.name, dict(call.arguments))
            result: Any = await asyncio.wait_for(working, self._timeout_s)
            fields = {"result": "" if result is None else result}
            return ToolCall.model_validate({**call.model_dump(), **fields})
        except TimeoutError:
            error = f"no result within {self._timeout_s:g} s"
        except Exception as broken:  # noqa: BLE001  # a failing tool is data for the system
            error = " ".join(f"{type(broken).__name__}: {broken}".split())
        return call.model_copy(update={"error": error[:1000] or "failed"})
