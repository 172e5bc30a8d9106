"""The process that carries out checks for promptfoo: ``python -m bridge_promptfoo.child [DIR]``.

Scorers beside the suite are imported from ``DIR``: ``PYTHONPATH`` cannot hold one with a colon.

One JSON document a line on standard input and output, in UTF-8: a test comes in, the results of
all its checks go out, under the same ``id``.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from typing import Any, BinaryIO

import msgspec

from bridge_promptfoo.scorers import measure


def main() -> None:
    """Answer until there is no more input."""
    sys.path[:0] = sys.argv[1:]
    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "wb") as replies:
        _set_apart()
        threading.Thread(target=_end_with_parent, daemon=True).start()
        gc.freeze()
        serve(requests, replies)


def _set_apart() -> None:
    """What scorers and their children read and print must not get between the answers."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)


def _end_with_parent() -> None:
    """End when Node has died, even in the middle of a check."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(3)


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer each line of ``requests``."""
    for line in requests:
        replies.write(msgspec.json.encode(answer(line)) + b"\n")
        replies.flush()


def answer(line: bytes) -> dict[str, Any]:
    """The reply to one request: its results, or why there are none."""
    request: dict[str, Any] = msgspec.json.decode(line)
    try:
        return {"id": request["id"], "results": measure(request)}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one faulty test must not end the others
        return {"id": request["id"], "error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    main()
