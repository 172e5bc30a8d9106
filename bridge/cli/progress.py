"""Progress on stderr: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

EVERY_S = 5.0
"""Seconds between two plain lines about one thing."""


class ProgressLines:
    """Shows how far each part is."""

    def __init__(self) -> None:
        self._bars: Any = None
        self._tasks: dict[str, Any] = {}
        self._said: dict[str, tuple[float, int]] = {}

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bars = Progress(console=Console(stderr=True), transient=True)
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def update(self, what: str, done: int, owed: int) -> None:
        """Note that ``done`` of ``owed`` rows or answers are there."""
        if self._bars is not None:
            if what not in self._tasks:
                self._tasks[what] = self._bars.add_task(what, total=owed)
            self._bars.update(self._tasks[what], completed=done)
            return
        said_at, said = self._said.get(what, (0.0, -1))
        now = time.monotonic()
        if done != said and (done == owed or now - said_at >= EVERY_S) and (done or said >= 0):
            self.say(f"{what}: {done} of {owed}")
            self._said[what] = (now, done)
        elif what not in self._said:
            self._said[what] = (now, -1)

    def say(self, text: str) -> None:
        """One line on stderr."""
        print(text, file=sys.stderr, flush=True)
