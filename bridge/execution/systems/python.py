"""Systems in Python: a function asked with the input, or an agent with ``respond``."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bridge.execution.answers import plain, read_answer
from bridge.execution.systems.request import Fields, Request, System
from bridge.model.errors import InputError

Function = Callable[..., Any]

AGENT = ("messages", "tools")
"""The first parameters of a function that is an agent."""


class Exited(Exception):  # noqa: N818  # stands for SystemExit, which would end the event loop
    """A system called ``sys.exit``."""


def find(name: str, folder: Path, what: str = "system") -> Any:
    """Import ``module:attribute``; ``folder`` is on the import path already.

    Raises:
        InputError: If it is not there.
    """
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute or "answer")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # users' modules may do anything
        raise InputError(
            f"{what} {name!r} cannot be imported ({type(error).__name__}: {error})",
            where=folder,
            fix="check module:attribute",
        ) from None


def load_python(name: str, folder: Path) -> System:
    """A function or an agent, told apart by their shape.

    An agent is an object with a method ``respond``, a class of such objects (made anew for each
    conversation), or a function whose first parameters are ``messages`` and ``tools``.

    Raises:
        InputError: If it is not there or is neither.
    """
    found = find(name, folder)
    if callable(getattr(found, "respond", None)):
        return Agent(found)
    if not callable(found):
        raise InputError(
            f"system {name!r} is not callable", fix="name a function, or an agent with respond"
        )
    return Agent(found) if parameters_of(found)[:2] == AGENT else PythonFunction(found)


def parameters_of(function: Function) -> tuple[str, ...]:
    """Names of a function's parameters; none where Python does not know them."""
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


class PythonFunction:
    """A function of the case's input, or of the messages so far; of the case too, if it asks."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._takes_case = _takes_case(function)

    async def answer(self, request: Request) -> Fields:
        """Call the function."""
        alone = request.turn is None and request.step == 0
        asked = request.input if alone else request.messages
        kwargs = {"case": request.case} if self._takes_case else {}
        return read_answer(await called(self._function, asked, **kwargs))


class Agent:
    """``respond(messages, tools)``, which returns a text, (text, tool calls), or a mapping."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent

    async def answer(self, request: Request) -> Fields:
        """Call ``respond`` with the messages so far and the tools on offer."""
        agent = self._agent
        if inspect.isclass(agent):
            if "agent" not in request.memory:
                request.memory["agent"] = await called(agent)
            agent = request.memory["agent"]
        respond = getattr(agent, "respond", agent)
        reply = await called(respond, request.messages, plain(request.case.tools))
        if isinstance(reply, tuple | list) and len(reply) == 2 and _is_calls(reply[1]):
            return read_answer({"text": reply[0], "tool_calls": reply[1] or ()})
        return read_answer(reply)


def _is_calls(value: Any) -> bool:
    return value is None or (isinstance(value, Sequence) and not isinstance(value, str))


async def called(function: Function, *args: Any, **kwargs: Any) -> Any:
    """Await an async function, and a sync one in a thread of its own."""
    if inspect.iscoroutinefunction(function):
        return await _awaited(function(*args, **kwargs))
    answer = await asyncio.to_thread(_sync, function, args, kwargs)
    return await _awaited(answer) if inspect.isawaitable(answer) else answer


async def _awaited(answer: Awaitable[Any]) -> Any:
    try:
        return await answer
    except SystemExit as error:
        raise Exited(error.code) from None


def _sync(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    try:
        return function(*args, **kwargs)
    except SystemExit as error:
        raise Exited(error.code) from None


def _takes_case(function: Function) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return "case" in parameters or any(
        each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()
    )
