"""What the replies behind one score took."""

from __future__ import annotations

import math
from typing import Any

from bridge.judge.exchange import Reply, Request
from bridge.judge.session import judge_in_force
from bridge.model.message import Usage


class Meter:
    """Asks the judges in force for one score, and counts.

    A reply counts with what it took when it was given, from the cache as well: a score says what
    it costs to find, the run's record what was paid.
    """

    def __init__(self) -> None:
        self._replies: list[Reply] = []

    def ask(self, judge: str | None, request: Request) -> Reply:
        """The answer of a judge by name.

        Raises:
            JudgeError: If there is no usable one.
        """
        reply = judge_in_force(judge).ask(request)
        self._replies.append(reply)
        return reply

    @property
    def took(self) -> dict[str, Any]:
        """The ``usage`` and ``cost_usd`` of a measurement, as far as the servers say."""
        read = [each.input_tokens for each in self._replies if each.input_tokens is not None]
        written = [each.output_tokens for each in self._replies if each.output_tokens is not None]
        costs = [each.cost_usd for each in self._replies if each.cost_usd is not None]
        found: dict[str, Any] = {}
        if read or written:
            found["usage"] = Usage(input_tokens=sum(read), output_tokens=sum(written))
        return found | ({"cost_usd": math.fsum(costs)} if costs else {})
