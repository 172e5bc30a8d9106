"""Asking a system: one case in, one output out, turn by turn; its failures are data."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from bridge.execution.answers import as_text, joined, messages_of, plain, turn_fields
from bridge.execution.prefilter import screen, worst
from bridge.execution.systems.python import Exited
from bridge.execution.systems.request import Fields, Request, System, SystemFault
from bridge.execution.systems.tools import ToolRunner, open_calls
from bridge.model.case import Case
from bridge.model.errors import BridgeError
from bridge.model.explain import explain
from bridge.model.message import Message
from bridge.model.output import Output, OutputTurn, Prefilter
from bridge.model.system import SystemConfig

LONGEST_ERROR = 1000
"""Most characters of an exception kept in an error."""


async def ask(
    system: System,
    case: Case,
    epoch: int,
    config: SystemConfig,
    tools: ToolRunner | None = None,
) -> Output:
    """One answer. Whatever goes wrong becomes an error, of the output or of one of its turns."""
    dialogue = _Dialogue(system, case, epoch, config, tools)
    return await (dialogue.converse() if case.turns else dialogue.single())


def describe(error: BaseException, timeout_s: float) -> str:
    """An exception of a system in one line of bounded length."""
    if isinstance(error, TimeoutError):
        return f"no answer within {timeout_s:g} s"
    if isinstance(error, ValidationError):
        return f"the answer is not an output: {explain(error)}"
    name = "SystemExit" if isinstance(error, Exited) else type(error).__name__
    try:
        said = str(error) if isinstance(error, SystemFault | BridgeError) else f"{name}: {error}"
    except Exception:  # noqa: BLE001  # users' exceptions may break on being read
        said = name
    line = " ".join(said.split())
    return line if len(line) <= LONGEST_ERROR else f"{line[: LONGEST_ERROR - 1]}…"


@dataclass(slots=True)
class _Dialogue:
    """One conversation with a system, under way."""

    system: System
    case: Case
    epoch: int
    config: SystemConfig
    tools: ToolRunner | None
    history: list[dict[str, Any]] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    memory: dict[str, Any] = field(default_factory=dict)

    @property
    def _base(self) -> dict[str, Any]:
        return {"system": self.config.name, "case_id": self.case.id, "epoch": self.epoch}

    async def single(self) -> Output:
        """The answer to a case without turns."""
        asked = plain(self.case.input)
        found = self._screened(_user_texts(self.case.input))
        if found is not None and found.blocked:
            return Output(**self._base, prefilter=found)
        messages = isinstance(self.case.input, tuple)
        self.history = asked if messages else [{"role": "user", "content": as_text(asked)}]
        steps: list[OutputTurn] = []
        answer: Fields = {}
        try:
            async for answer in self._steps(asked, None, steps):  # noqa: B007 # the last one counts
                pass
            fields = {**answer, **({} if len(steps) == 1 else joined(steps))}
            fields = {**fields, "tool_calls": joined(steps)["tool_calls"], "prefilter": found}
            return Output.model_validate({**self._base, **fields})
        except Exception as error:  # noqa: BLE001  # whatever users' code raises is data
            failed = describe(error, self.config.timeout_s)
            return Output(**self._base, **joined(steps), error=failed, prefilter=found)

    async def converse(self) -> Output:
        """Each user turn with the history so far; after a failed one as the suite says."""
        turns: list[OutputTurn] = []
        model = None
        for index, turn in enumerate(self.case.turns):
            found = self._screened([turn.user])
            if found is not None and found.blocked:
                turns.append(OutputTurn(prefilter=found))
                continue
            self.history.append({"role": "user", "content": turn.user})
            reply, model = await self._turn(index, turn.user, model)
            turns.append(reply.model_copy(update={"prefilter": found}))
            if reply.error is not None and self.config.on_turn_error == "stop":
                break
        return Output(
            **self._base,
            **joined(turns),
            turns=tuple(turns),
            model=model,
            prefilter=worst([turn.prefilter for turn in turns]),
        )

    async def _turn(self, index: int, user: str, model: Any) -> tuple[OutputTurn, Any]:
        """The answer to one user turn, in one or more steps, and the model that gave it."""
        steps: list[OutputTurn] = []
        length = len(self.history)
        try:
            async for answer in self._steps(user, index, steps):
                model = answer.get("model", model)
            error = steps[-1].error
        except Exception as failed:  # noqa: BLE001  # users' code: data
            error = describe(failed, self.config.timeout_s)
        if error is not None:
            del self.history[length:]
        if len(steps) == 1:
            return steps[0].model_copy(update={"error": error}), model
        return OutputTurn(**joined(steps), error=error), model

    async def _steps(
        self, asked: Any, turn: int | None, steps: list[OutputTurn]
    ) -> AsyncIterator[Fields]:
        """Answers until one leaves no tool call open; what they say goes into the history."""
        for step in range(self.config.max_steps):
            request = Request(
                case=self.case,
                epoch=self.epoch,
                turn=turn,
                step=step,
                input=asked,
                messages=copy.deepcopy(self.history),
                timeout_s=self.config.timeout_s,
                memory=self.memory,
            )
            answer = await self._answer(request)
            reply = OutputTurn.model_validate(turn_fields(answer))
            waits = self.tools is not None and reply.error is None and open_calls(reply.tool_calls)
            if self.tools is not None and waits:
                calls = await self.tools.run(reply.tool_calls)
                reply = reply.model_copy(update={"tool_calls": calls})
            steps.append(reply)
            self.history.extend(plain(messages_of(reply)))
            yield answer
            if not waits:
                return
        raise SystemFault(f"tools were still called after {self.config.max_steps} steps")

    async def _answer(self, request: Request) -> dict[str, Any]:
        started = time.perf_counter()
        answer = await asyncio.wait_for(self.system.answer(request), self.config.timeout_s)
        return {"latency_s": round(time.perf_counter() - started, 6), **answer}

    def _screened(self, texts: Sequence[str]) -> Prefilter | None:
        """What the prefilter says of user texts; those it lets through are part of the history."""
        done = []
        for text in texts:
            found = screen(self.config.prefilter, text, self.seen)
            done.append(found)
            if found is None or not found.blocked:
                self.seen.append(text)
        return worst(done)


def _user_texts(value: Any) -> list[str]:
    """What users say in a case's input."""
    if isinstance(value, tuple):
        messages: tuple[Message, ...] = value
        return [message.text for message in messages if message.role == "user"]
    return [as_text(plain(value))]
