"""On the path of a process under test: notes every address it looks up or connects to."""

import os
import sys

LOG = os.environ.get("NETWORK_GUARD_LOG")


def _note(event: str, args: tuple[object, ...]) -> None:
    if event == "socket.getaddrinfo":
        _write(f"{event} {args[0]!r}")
    elif event in ("socket.connect", "socket.sendto"):
        _write(f"{event} {args[1]!r}")


def _write(line: str) -> None:
    if LOG:
        with open(LOG, "a", encoding="utf-8") as file:  # noqa: PTH123  # nothing may be imported
            file.write(f"{os.getpid()} {line}\n")


sys.addaudithook(_note)
