"""Why a judge gave no usable answer: one class of error with a kind a reader can count by."""

from __future__ import annotations

import re
from typing import Literal, get_args

Kind = Literal[
    "no_key",
    "auth",
    "forbidden",
    "not_found",
    "throttled",
    "server",
    "timeout",
    "connect",
    "request",
    "empty",
    "not_json",
    "schema",
    "range",
    "refusal",
    "truncated",
    "budget",
]
"""``no_key`` none is set, ``auth`` 401, ``forbidden`` 403, ``not_found`` 404, ``throttled`` 429,
``server`` 5xx, ``timeout`` and ``connect`` on the way, ``request`` any other refusal by the server;
then, of a reply: ``empty``, ``not_json`` (HTML included), ``schema`` (a field missing or of the
wrong type), ``range`` (a number out of bounds), ``refusal``, ``truncated``; ``budget``: not sent.
"""

KINDS: tuple[Kind, ...] = get_args(Kind)

PASSING: frozenset[Kind] = frozenset({"throttled", "server", "timeout", "connect"})
"""Kinds that may be over at the next attempt."""

LASTING: frozenset[Kind] = frozenset({"no_key", "auth", "forbidden", "not_found", "budget"})
"""Kinds that every further request would meet: after one of them none is sent."""

_MARK = re.compile(r"judge_error\[(\w+)\]")


class JudgeError(RuntimeError):
    """A judge gave no usable answer.

    The text never holds a status code or a provider's words for throttling: frameworks match these
    and ask again by themselves.

    Args:
        kind: What went wrong.
        text: One line on it, redacted.
        wait_s: Seconds that the server asks to wait.
    """

    def __init__(self, kind: Kind, text: str, wait_s: float | None = None) -> None:
        self.kind: Kind = kind
        self.text = text
        self.wait_s = wait_s
        super().__init__(f"judge_error[{kind}]: {text}")


def kind_of(error: str) -> str | None:
    """The kind of a judge's error in a row's ``error``; ``None`` where it is no judge's.

    Args:
        error: The text, whatever a framework has put around it.
    """
    found = _MARK.search(error)
    return found[1] if found and found[1] in KINDS else None
