"""Reading under watch, in a fresh process: ``python watched.py FORMAT FILE...``.

Prints one JSON object: what was executed while the files were read, and which modules were loaded
by the end. Every file is read twice, and the second time counts: modules that a reader imports late
are code too, and are there by then. A file that is refused is as good as one that is read. It is
run as a file: importing ``bridge.testing`` would load much itself.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from bridge.plugin.format import Format, ReadOptions
from bridge.plugin.registry import get_format

STARTED = {
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "pty.spawn",
    "socket.connect",
    "socket.getaddrinfo",
    "subprocess.Popen",
}
"""Audit events of programs and connections: https://docs.python.org/3/library/audit_events.html"""

APART = {"bridge.files.foreign.parquet", "bridge.files.foreign.workbook"}
"""Ours, which read a binary table in a process of their own, with limits: that is no execution."""
LONGEST = 200


class Watch:
    """Notes what is executed while it is on; an audit hook cannot be taken away again."""

    def __init__(self) -> None:
        self.on = False
        self.seen: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event in STARTED and not _reads_apart(event, args):
            self.seen.append(f"{event}: {args}"[:LONGEST])
        elif event == "pickle.find_class":
            self.seen.append(f"{event}: {args[0]}.{args[1]}")
        elif event == "exec" and _is_made_of_text(args[0]):
            self.seen.append(f"exec: code compiled from text ({args[0].co_filename})")


def _reads_apart(event: str, args: tuple[Any, ...]) -> bool:
    return (
        event == "subprocess.Popen"
        and list(args[1][:3]) == [sys.executable, "-P", "-m"]
        and args[1][3] in APART
    )


def _is_made_of_text(code: Any) -> bool:
    """Whether code is of no file: ``<string>`` from eval or exec, ``<template>`` from Jinja."""
    name = getattr(code, "co_filename", "")
    return name.startswith("<") and not name.startswith("<frozen")


def read(format_: Format, path: Path) -> None:
    """Read a file; what is refused in our way is fine, and anything else is for other tests."""
    with suppress(Exception, SystemExit):
        format_.read(path, ReadOptions())


def main(name: str, *files: str) -> None:
    """Read, and say what happened."""
    format_ = get_format(name)
    watch = Watch()
    for file in files:
        path = Path(file)
        read(format_, path)
        watch.on = True
        read(format_, path)
        watch.on = False
    loaded = sorted({module.partition(".")[0] for module in sys.modules})
    print(json.dumps({"executed": watch.seen, "loaded": loaded}))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
