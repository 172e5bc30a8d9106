"""How many requests to one judge are under way at a time: fewer, once its server cannot keep up."""

from __future__ import annotations

import asyncio


class Slots:
    """Places for requests under way, held by ``async with``; used on one event loop only.

    A local server answers as many at a time as it has slots and lets the others wait, and their
    time runs: what would be answered in good time by itself is not answered at all.

    Args:
        most: Requests at a time.
    """

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)
        self._most = most
        self._held = self._surplus = 0

    async def __aenter__(self) -> None:
        await self._free.acquire()
        self._held += 1

    async def __aexit__(self, *_: object) -> None:
        self._held -= 1
        if self._surplus:
            self._surplus -= 1
        else:
            self._free.release()

    def narrow(self) -> None:
        """Half as many from now on: one waited in vain, and others were under way beside it."""
        if self._held > 1:
            fewer = max(1, self._most // 2)
            self._surplus += self._most - fewer
            self._most = fewer
