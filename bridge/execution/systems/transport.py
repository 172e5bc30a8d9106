"""HTTP for systems: one request, made again where that may help, its failures in one line."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import httpx

from bridge.execution.systems.request import SystemFault

LONGEST_REPLY = 10_000_000
"""Most bytes of a reply."""

SHOWN = 200
"""Most characters of a refused request's reply in an error."""

AGAIN = frozenset({408, 409, 429})
"""Statuses below 500 after which a request is made again, as OpenAI's own client does."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of status 2xx; ``kind`` is its media type, without parameters."""

    kind: str
    text: str


class Transport:
    """A connection pool that keeps no cookies, since cases must not know of one another."""

    def __init__(self, retries: int, headers: Mapping[str, str]) -> None:
        self._retries = retries
        self._client = httpx.AsyncClient(headers=dict(headers), timeout=None)  # noqa: S113  # the caller's
        self._client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))

    async def send(self, method: str, url: str, deadline: float, **parts: Any) -> Reply:
        """Make a request until it is answered.

        Args:
            method: HTTP method.
            url: Where to.
            deadline: ``time.monotonic()`` after which waiting for another try is no use.
            parts: ``params`` and ``json``, as httpx has them.

        Raises:
            SystemFault: If it is refused, the connection fails, or the reply is too long.
        """
        tries = 0
        while True:
            tries += 1
            reply, fault, wait = await self._try(method, url, tries, parts)
            if reply is not None:
                return reply
            if wait is None or tries > self._retries or time.monotonic() + wait >= deadline:
                more = f" (after {tries} tries)" if tries > 1 else ""
                raise SystemFault(f"{fault}{more}")
            await asyncio.sleep(wait)

    async def _try(
        self, method: str, url: str, tries: int, parts: Mapping[str, Any]
    ) -> tuple[Reply | None, str, float | None]:
        """A reply, or what went wrong and after how many seconds to try again, if at all."""
        wait = 0.25 * 2.0**tries
        try:
            async with self._client.stream(method, url, **parts) as response:
                reply = await _read(response)
                if response.is_success:
                    return reply, "", None
                fault = f"HTTP {response.status_code}{_shown(reply)}"
                again = response.status_code in AGAIN or response.status_code >= 500
                return None, fault, _retry_after(response, wait) if again else None
        except httpx.TransportError as error:
            said = " ".join(str(error).split()) or "no reason given"
            return None, f"the connection failed ({type(error).__name__}: {said})", wait
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SystemFault(f"{type(error).__name__}: {error}") from None


async def _read(response: httpx.Response) -> Reply:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > LONGEST_REPLY:
            raise SystemFault(f"the reply is longer than {LONGEST_REPLY:,} bytes")
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        return Reply(kind, body.decode(response.charset_encoding or "utf-8", "replace"))
    except LookupError:
        return Reply(kind, body.decode("utf-8", "replace"))


def _shown(reply: Reply) -> str:
    """The beginning of a refusal; of an HTML page only that it is one."""
    if is_html(reply):
        return ": an HTML page"
    text = " ".join(reply.text[: 4 * SHOWN].split())[:SHOWN]
    return f": {text}" if text else ""


def is_html(reply: Reply) -> bool:
    """Whether a reply is a page for people, such as a proxy's or a login's."""
    start = reply.text[:100].lstrip("\ufeff \t\r\n").lower()
    return reply.kind == "text/html" or start.startswith(("<!doctype html", "<html"))


def _retry_after(response: httpx.Response, wait: float) -> float:
    """Seconds that the server asks to wait, where it does so in seconds."""
    asked = response.headers.get("retry-after", "")
    return max(float(asked), wait) if asked.isascii() and asked.isdigit() else wait
