"""Systems that are a program: the case as JSON on its standard input, the answer on its output."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from asyncio.subprocess import Process
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bridge.execution.answers import plain, read_answer
from bridge.execution.systems.http import parse
from bridge.execution.systems.request import Fields, Request, SystemFault
from bridge.model.output import Output

LONGEST = 10_000_000
"""Most bytes of an answer."""
KEPT = 65_536
"""Most bytes kept of what a program says on its standard error."""
GRACE_S = 1.0
"""Seconds for the pipes of a killed program to close."""


class CommandSystem:
    """A program started once a turn, in the suite's folder, without a shell."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._command = command
        self._folder = folder

    async def answer(self, request: Request) -> Fields:
        """Run the program."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            cwd=self._folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            text, said = await _talk(process, question(request).encode())
        finally:  # cancelled by the time-out, too
            await _end(process)
        if len(text) > LONGEST:
            raise SystemFault(f"the program printed more than {LONGEST:,} bytes")
        _refuse_failure(await process.wait(), said.decode("utf-8", "replace"))
        return read_printed(text.decode("utf-8", "replace"))


async def _talk(process: Process, asked: bytes) -> tuple[bytes, bytes]:
    """Feed a program and read what it prints, both at once, until it ends."""
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise SystemFault("the program has no pipes")

    async def feed() -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(asked)
            await stdin.drain()
        stdin.close()

    _, text, said = await asyncio.gather(feed(), _read(stdout, process), _tail(stderr))
    await process.wait()
    return text, said


async def _end(process: Process) -> None:
    """Kill a program that still runs, and empty its pipes so that they close."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    with contextlib.suppress(TimeoutError):  # a grandchild may hold them
        async with asyncio.timeout(GRACE_S):
            await process.communicate()


async def _read(stream: asyncio.StreamReader, process: Process) -> bytes:
    read = bytearray()
    while chunk := await stream.read(65_536):
        read += chunk[: LONGEST + 1 - len(read)]
        if len(read) > LONGEST:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
    return bytes(read)


async def _tail(stream: asyncio.StreamReader) -> bytes:
    kept = b""
    while chunk := await stream.read(65_536):
        kept = (kept + chunk)[-KEPT:]
    return kept


def _refuse_failure(code: int, said: str) -> None:
    if code == 0:
        return
    last = (said.strip().splitlines() or ["it said nothing"])[-1]
    if code > 0:
        raise SystemFault(f"the program ended with exit code {code}: {last}")
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    raise SystemFault(f"the program was killed by {name}: {last}")


def question(request: Request) -> str:
    """What a program reads: the case, in a conversation the turn's; ``input`` is what is asked."""
    case = request.case if request.turn is None else request.case.at_turn(request.turn)
    asked: dict[str, Any] = {
        **plain(case),
        "input": request.input,
        "messages": request.messages,
        "epoch": request.epoch,
        "turn": request.turn,
    }
    return json.dumps(asked, ensure_ascii=False)


def read_printed(text: str) -> dict[str, Any]:
    """What a program printed: an output as a JSON object, or a text.

    An object without any field of an output is a text: an answer that happens to be JSON.

    Raises:
        SystemFault: If it begins like an object and is no JSON.
        InputError: If it is an object with fields of an output and others.
    """
    stripped = text.strip()
    if not stripped.startswith("{"):
        return read_answer(text.removesuffix("\n").removesuffix("\r"))
    value = parse(stripped)
    return read_answer(value if set(value) & set(Output.model_fields) else stripped)
