"""Child processes: started apart, watched for progress, ended with their whole group."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from bridge.model.errors import InfrastructureError

GRACE_S = 3.0
"""Seconds between asking a child to end and killing it."""


@dataclass(slots=True)
class Child:
    """A running child and the file whose growth is its sign of life."""

    process: subprocess.Popen[bytes]
    watched: Path
    timeout_s: float
    started: float = field(default_factory=time.monotonic)
    lines: int = 0
    hung: bool = False
    _offset: int = 0
    _alive: float = field(default_factory=time.monotonic)

    def poll(self, *, excused: bool = False) -> bool:
        """Note progress; True once the child has ended. A child that hangs is killed.

        Args:
            excused: Whether something else is known to keep the child waiting.
        """
        if excused:
            self._alive = time.monotonic()
        ended = self.process.poll() is not None
        self._count()
        if ended:
            _signal_group(self.process, signal.SIGKILL)  # what a killed child leaves running
        if not ended and time.monotonic() - self._alive > self.timeout_s:
            self.hung = True
            self.kill()
            return True
        return ended

    def _count(self) -> None:
        try:
            with self.watched.open("rb") as file:
                file.seek(self._offset)
                while chunk := file.read(1 << 20):
                    self._offset += len(chunk)
                    self.lines += chunk.count(b"\n")
                    self._alive = time.monotonic()
        except FileNotFoundError:
            return

    def kill(self) -> None:
        """End the child and everything it started: first asked, then killed."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            _signal_group(self.process, number)
            try:
                self.process.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                continue
            break
        _signal_group(self.process, signal.SIGKILL)

    def how_it_ended(self) -> str:
        """One phrase on the end of the child; "" if it ended well."""
        if self.hung:
            return f"hung (no progress for {self.timeout_s:g} s) and was killed"
        code = self.process.returncode
        if code is None or code == 0:
            return ""
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
            return f"was killed by {name}"
        return f"ended with exit code {code}"


def start(
    module: str,
    folder: Path,
    watched: Path,
    *,
    timeout_s: float,
    python: str | None = None,
    cwd: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Child:
    """Start ``python -m module folder`` in a session of its own, its output going to a log.

    Raises:
        InfrastructureError: If the interpreter cannot be started.
    """
    command = [python or sys.executable, "-P", "-m", module, str(folder.absolute())]
    try:
        with (folder / "log.txt").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd=cwd,
                env={**os.environ, "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1", **environment},
            )
    except OSError as error:
        raise InfrastructureError(
            f"cannot start {command[0]} ({error.strerror})", fix="check the interpreter's path"
        ) from None
    return Child(process, watched, timeout_s)


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return


def end_with_parent() -> None:
    """In a child: end at once if the parent dies, so that no worker is left behind."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(3)

    threading.Thread(target=watch, daemon=True, name="end-with-parent").start()
