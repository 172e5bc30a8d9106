"""The judge client: one for every framework and every scorer.

It asks a question once: an equal one gets the same answer, from memory or from the cache, whoever
asks. Its event loop runs in a thread of its own, since frameworks open and close theirs freely.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from bridge.judge.errors import LASTING, PASSING, JudgeError
from bridge.judge.exchange import Reply, Request, request_key
from bridge.judge.structured import limited
from bridge.judge.wire.cache import ReplyCache
from bridge.judge.wire.dialect import Dialect, Tongue
from bridge.judge.wire.ledger import Ledger, Spending
from bridge.judge.wire.pace import LONGEST_WAIT_S, Pace
from bridge.judge.wire.reading import (
    Tokens,
    read_document,
    read_reply,
    read_tokens,
    read_vectors,
    refuse_cut_question,
)
from bridge.judge.wire.slots import Slots
from bridge.judge.wire.transport import COMPLETIONS, EMBEDDINGS, Transport, key_of
from bridge.model.judge import JudgeConfig

BACKOFF_S = 0.5


class JudgeClient:
    """A judge that answers over the network.

    Args:
        name: The judge's name in the suite.
        config: What it is.
        cache: Where replies are kept; in memory alone without one.
        ledger: Where every request is noted.
        backoff_s: Seconds before the first repetition.
        spending: What it took so far, where several clients share a budget.

    Raises:
        MissingDependency: If the extra ``judge`` is not installed.
    """

    def __init__(
        self,
        name: str,
        config: JudgeConfig,
        *,
        cache: ReplyCache | None = None,
        ledger: Ledger | None = None,
        backoff_s: float = BACKOFF_S,
        spending: Spending | None = None,
    ) -> None:
        self.name = name
        self.config = config
        self.spending = spending or Spending()
        self._cache = cache if config.cache else None
        self._ledger = ledger
        self._tongue = Tongue(config)
        self._broken: JudgeError | None = None
        self._known: dict[str, Future[Reply]] = {}
        self._lock = threading.Lock()
        self._key = self._read_key()
        self._transport = Transport(config, self._key)
        self._pace = Pace(config.requests_per_minute, backoff_s)
        self._slots = Slots(config.concurrency)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, daemon=True, name=f"judge-{name}"
        )
        self._thread.start()
        self._embedder = self._make_embedder(cache, ledger, backoff_s)

    def _make_embedder(
        self, cache: ReplyCache | None, ledger: Ledger | None, backoff_s: float
    ) -> Embedder | None:
        config = self.config.for_embeddings()
        if config is None:
            return None
        common: dict[str, Any] = {"cache": cache, "ledger": ledger, "spending": self.spending}
        return Embedder(self.name, config, backoff_s=backoff_s, **common)

    def _read_key(self) -> str:
        try:
            return key_of(self.config)
        except JudgeError as error:
            self._broken = error
            return ""

    def ask(self, request: Request) -> Reply:
        """The answer to one request; from any thread.

        Raises:
            JudgeError: If there is no usable one.
        """
        return self.submit(request).result()

    async def ask_async(self, request: Request) -> Reply:
        """Like :meth:`ask`, awaited on the caller's own event loop."""
        return await asyncio.shield(asyncio.wrap_future(self.submit(request)))

    def submit(self, request: Request) -> Future[Reply]:
        """The answer to come; equal requests share one, whatever became of it."""
        if request.embeds:
            if self._embedder is None:
                raise JudgeError("request", f"judge {self.name} names no model for embeddings")
            return self._embedder.submit(request)
        return self._submit(request)

    def _submit(self, request: Request) -> Future[Reply]:
        limits = self.config.limits
        if limits is not None and request.schema is not None:
            request = replace(request, schema=limited(request.schema, limits))
        key = request_key(self.config, request)
        with self._lock:
            known = self._known.get(key)
            if known is None:
                answer = self._answer(key, request)
                known = asyncio.run_coroutine_threadsafe(answer, self._loop)
                self._known[key] = known
            return known

    async def _answer(self, key: str, request: Request) -> Reply:
        started = time.monotonic()
        kept = self._cache.get(key) if self._cache is not None else None
        if kept is not None:
            self.spending.cached += 1
            self._note(key, request, kept, started, attempts=0)
            return kept
        attempts, outcome, started = await self._try(request)
        if isinstance(outcome, JudgeError):
            self.spending.errors += 1
            self._note(key, request, outcome, started, attempts)
            raise outcome
        if self._cache is not None:
            self._cache.put(key, outcome)
        self._note(key, request, outcome, started, attempts)
        return outcome

    async def _try(self, request: Request) -> tuple[int, Reply | JudgeError, float]:
        """Ask until there is an answer, a failure that will stay, or no attempt left.

        Returns:
            The requests sent, what came of the last one, and when the first was.
        """
        attempts = repeated = 0
        started: float | None = None
        dialect: Dialect | None = None
        while True:
            async with self._slots:
                started = started or time.monotonic()
                dialect = dialect or self._tongue.dialect_for(request)
                try:
                    await self._depart()
                    attempts += 1
                    return attempts, await self._send(dialect, request), started
                except JudgeError as error:
                    failure = error
                    self._take_note(error)
            other = self._other_way(dialect, failure, request)
            if other is None:
                if not await self._may_repeat(failure, repeated):
                    return attempts, failure, started
                repeated += 1
            dialect = other or dialect

    async def _depart(self) -> None:
        """Wait for a turn to send a request.

        Raises:
            JudgeError: If none may be sent any more.
        """
        if self._broken is not None:
            raise self._broken
        await self._pace.depart()
        self.spending.claim(self.config.budget)

    def _take_note(self, error: JudgeError) -> None:
        if error.kind in LASTING:
            self._broken = error
        elif error.kind == "timeout":
            self._slots.narrow()

    async def _send(self, dialect: Dialect, request: Request) -> Reply:
        document, tokens = await self._fetch(dialect.body(self.config, request), COMPLETIONS)
        self._tongue.understood(dialect, request)
        refuse_cut_question((message["content"] for message in request.messages), tokens)
        most = self.config.max_tokens
        return read_reply(document, tokens, request.schema, self._key, most=most)

    async def _fetch(self, body: Mapping[str, Any], path: str) -> tuple[dict[str, Any], Tokens]:
        answer = await self._transport.send(body, path)
        document = read_document(answer, self._key)
        tokens = read_tokens(document, self.config.price)
        self.spending.add(tokens)
        return document, tokens

    def _other_way(self, dialect: Dialect, error: JudgeError, request: Request) -> Dialect | None:
        """How the server wants to be asked instead, if its refusal is about that."""
        if error.kind != "request":
            return None
        return dialect.after_refusal(error.text, with_schema=request.schema is not None)

    async def _may_repeat(self, error: JudgeError, repeated: int) -> bool:
        """Wait for the next attempt; ``False`` if there is none to make."""
        wait = error.wait_s
        if error.kind not in PASSING or repeated >= self.config.retries:
            return False
        if wait is not None and wait > LONGEST_WAIT_S:
            return False
        if wait is not None:
            self._pace.hold(wait)
        await asyncio.sleep(max(wait or 0.0, self._pace.backoff(repeated)))
        return True

    def _note(
        self, key: str, request: Request, outcome: Reply | JudgeError, started: float, attempts: int
    ) -> None:
        if self._ledger is None:
            return
        line: dict[str, Any] = {
            "judge": self.name,
            "model": self.config.model,
            "request": key[:16],
            "attempts": attempts,
            "cached": attempts == 0 and isinstance(outcome, Reply),
            "latency_s": round(time.monotonic() - started, 4),
            "tag": dict(request.tag),
        }
        if isinstance(outcome, Reply):
            fields = ("input_tokens", "output_tokens", "cost_usd")
            line |= {"error": None, **{name: getattr(outcome, name) for name in fields}}
        else:
            line |= {"error": outcome.kind}
        self._ledger.note(line)

    def close(self) -> None:
        """End the requests under way and close the connections."""
        if self._embedder is not None:
            self._embedder.close()
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._wind_up(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    async def _wind_up(self) -> None:
        own = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not own]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._transport.close()


class Embedder(JudgeClient):
    """Where a judge has the vectors of texts from: requests with ``embeds`` and no others."""

    def submit(self, request: Request) -> Future[Reply]:
        """The vectors to come; equal requests share them, whatever became of them."""
        return self._submit(request)

    async def _send(self, dialect: Dialect, request: Request) -> Reply:
        del dialect  # there is one way to ask
        body = {"model": self.config.model, "input": list(request.embeds)}
        document, tokens = await self._fetch(body, EMBEDDINGS)
        return read_vectors(document, tokens, len(request.embeds), self._key)
