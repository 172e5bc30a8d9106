"""When the next request may go out: at most so many a minute, and none while told to wait."""

from __future__ import annotations

import asyncio
import secrets

LONGEST_WAIT_S = 120.0
"""Most seconds that a server's ``Retry-After`` is waited for."""

LONGEST_BACKOFF_S = 30.0

_RANDOM = secrets.SystemRandom()


class Pace:
    """The departures of one judge's requests; used on one event loop only.

    Args:
        per_minute: Most requests a minute, evenly spaced; ``None`` for no limit.
        backoff_s: Seconds before the first repetition, doubled for each further one.
    """

    def __init__(self, per_minute: float | None, backoff_s: float) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._backoff_s = backoff_s
        self._next = 0.0

    async def depart(self) -> None:
        """Wait for a turn."""
        now = asyncio.get_running_loop().time()
        turn = max(now, self._next)
        self._next = turn + self._gap if self._gap else self._next
        if turn > now:
            await asyncio.sleep(turn - now)

    def hold(self, seconds: float) -> None:
        """Let nothing depart for a while: the server said so."""
        now = asyncio.get_running_loop().time()
        self._next = max(self._next, now + min(seconds, LONGEST_WAIT_S))

    def backoff(self, attempt: int) -> float:
        """Seconds before repetition ``attempt`` (0-based): exponential, with full jitter's half.

        Source: "Exponential Backoff And Jitter", AWS Architecture Blog (2015), "equal jitter".
        """
        most = min(LONGEST_BACKOFF_S, self._backoff_s * 2.0**attempt)
        return most * _RANDOM.uniform(0.5, 1.0)
