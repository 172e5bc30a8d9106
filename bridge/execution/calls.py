"""Calling a Python system: one case in, one output out; its failures are data."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from bridge.model.case import Case
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.message import Message, Usage
from bridge.model.output import Output, OutputTurn
from bridge.model.values import Model
from bridge.scorers.calls import read_calls

System = Callable[..., Any]


def load_system(name: str, folder: Path) -> System:
    """Import ``module:function``; ``folder`` is on the import path already.

    Raises:
        InputError: If it is not there or not callable.
    """
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute or "answer")
    except Exception as error:  # noqa: BLE001  # a user's module may raise anything on import
        raise InputError(
            f"system {name!r} cannot be imported ({type(error).__name__}: {error})",
            where=folder,
            fix="check module:function",
        ) from None
    if not callable(found):
        raise InputError(f"system {name!r} is not callable", fix="name a function")
    function: System = found
    return function


async def ask(system: System, case: Case, epoch: int, name: str, timeout_s: float) -> Output:
    """One answer. An exception or a time-out becomes the output's error."""
    base: dict[str, Any] = {"system": name, "case_id": case.id, "epoch": epoch}
    try:
        if not case.turns:
            answer = await _one(system, plain(case.input), case, timeout_s)
            return Output.model_validate({**base, **answer})
        return await _converse(system, case, base, timeout_s)
    except ValidationError as error:
        return Output(**base, error=f"the answer is not an output: {explain(error)}")
    except Exception as error:  # noqa: BLE001  # whatever users' code raises is data
        return Output(**base, error=describe(error, timeout_s))


def describe(error: BaseException, timeout_s: float) -> str:
    """An exception of a system in one line."""
    if isinstance(error, TimeoutError):
        return f"no answer within {timeout_s:g} s"
    name = "SystemExit" if isinstance(error, _Exited) else type(error).__name__
    return " ".join(f"{name}: {error}".split())


async def _converse(system: System, case: Case, base: dict[str, Any], timeout_s: float) -> Output:
    """Send each user turn with the history so far; stop at the first turn that fails."""
    history: list[Any] = []
    turns: list[OutputTurn] = []
    model = None
    for turn in case.turns:
        history.append({"role": "user", "content": turn.user})
        try:
            answer = await _one(system, list(history), case, timeout_s)
            reply = OutputTurn.model_validate(_turn_fields(answer))
        except ValidationError as error:
            turns.append(OutputTurn(error=f"the answer is not an output: {explain(error)}"))
            break
        except Exception as error:  # noqa: BLE001  # users' code: data
            turns.append(OutputTurn(error=describe(error, timeout_s)))
            break
        turns.append(reply)
        model = answer.get("model", model)
        history.extend(plain(_messages(reply)))
    return Output(**base, **joined(turns), model=model)


def _turn_fields(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key in OutputTurn.model_fields}


def _messages(reply: OutputTurn) -> list[Message]:
    results = [
        Message(role="tool", content=as_text(call.result), tool_call_id=call.id, name=call.name)
        for call in reply.tool_calls
        if call.result is not None
    ]
    answer = Message(role="assistant", content=as_text(reply.text), tool_calls=reply.tool_calls)
    return [answer, *results]


def as_text(value: Any) -> str:
    """A JSON value as the text that a chat message holds."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def joined(turns: Sequence[OutputTurn]) -> dict[str, Any]:
    """A conversation's turns as output fields: the last answer, all calls, amounts summed."""
    return {
        "turns": tuple(turns),
        "text": turns[-1].text,
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


class _Exited(Exception):  # noqa: N818  # stands for SystemExit, which would end the event loop
    """A system called ``sys.exit``."""


async def _one(system: System, value: Any, case: Case, timeout_s: float) -> dict[str, Any]:
    started = time.perf_counter()
    kwargs = {"case": case} if _takes_case(system) else {}
    answer = await asyncio.wait_for(_called(system, value, kwargs), timeout_s)
    elapsed = time.perf_counter() - started
    return {"latency_s": round(elapsed, 6), **read_answer(answer)}


async def _called(system: System, value: Any, kwargs: dict[str, Any]) -> Any:
    """Await an async system, and a sync one in a thread of its own."""
    if inspect.iscoroutinefunction(system):
        return await _awaited(system(value, **kwargs))
    answer = await asyncio.to_thread(_sync, system, value, kwargs)
    return await _awaited(answer) if inspect.isawaitable(answer) else answer


async def _awaited(answer: Awaitable[Any]) -> Any:
    try:
        return await answer
    except SystemExit as error:
        raise _Exited(error.code) from None


def _sync(system: System, value: Any, kwargs: dict[str, Any]) -> Any:
    try:
        return system(value, **kwargs)
    except SystemExit as error:
        raise _Exited(error.code) from None


def _takes_case(system: System) -> bool:
    try:
        parameters = inspect.signature(system).parameters
    except (TypeError, ValueError):
        return False
    return "case" in parameters or any(
        each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()
    )


def plain(value: Any) -> Any:
    """A case's input as plain data: messages as dicts."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Message):
        return {"content": "", **value.model_dump(mode="json", exclude_defaults=True)}
    if isinstance(value, Model):
        return value.model_dump(mode="json", exclude_defaults=True)
    return value


def read_answer(answer: Any) -> dict[str, Any]:
    """What a system returned as output fields: a text, a mapping, or an :class:`Output`."""
    if isinstance(answer, BaseModel):
        answer = answer.model_dump(mode="json", exclude_unset=True)
    if not isinstance(answer, Mapping):
        return {"text": answer}
    fields = {key: value for key, value in answer.items() if key not in Output.model_fields}
    if fields:
        raise InputError(
            f"the answer has unknown keys: {', '.join(map(str, fields))}",
            fix=f"return a text or a mapping with {', '.join(Output.model_fields)}",
        )
    known = {key: value for key, value in answer.items() if key not in ("system", "case_id")}
    if known.get("tool_calls"):
        known["tool_calls"] = read_calls(known["tool_calls"])
    return {key: value for key, value in known.items() if key != "epoch"}
