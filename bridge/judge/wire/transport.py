"""One request over the wire, by the ``openai`` SDK; every failure as a :class:`JudgeError`.

The SDK is the transport (addresses, authorisation, proxies, TLS), chosen because every server of
this kind is tested with it. Retries, time limits and the reading of replies are ours: its own give
up at other places, and parse a reply of HTML to a text without a word.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any

from bridge.judge.errors import JudgeError, Kind
from bridge.judge.wire.redaction import safe_excerpt
from bridge.model.errors import MissingDependency
from bridge.model.judge import JudgeConfig

if TYPE_CHECKING:
    import openai

LARGEST = 8 << 20
"""Most bytes of a reply."""

COMPLETIONS, EMBEDDINGS = "/chat/completions", "/embeddings"
"""What is asked, as the end of an address."""

LOADING_S = 10.0
"""Seconds to wait where a server says that it is loading its model, as llama.cpp's does."""

OPENAI_KEY = "OPENAI_API_KEY"
INSTALL = "run: pip install 'bridge-evals[judge]'"

_KINDS: Mapping[int, Kind] = {
    401: "auth",
    403: "forbidden",
    404: "not_found",
    408: "timeout",
    501: "request",
}
_SAID: Mapping[Kind, str] = {
    "auth": "the key was refused",
    "forbidden": "the key may not use this model",
    "not_found": "no such model or address",
    "throttled": "the server is throttling",
    "server": "the server failed",
    "timeout": "the server gave up waiting",
    "request": "the server refused the request",
}


def key_of(config: JudgeConfig) -> str:
    """The key that a judge names, from the environment; "" where it needs none.

    Raises:
        JudgeError: Of kind ``no_key``, if the variable is not set.
    """
    name = config.api_key_env or (None if config.base_url else OPENAI_KEY)
    if name is None:
        return ""
    key = os.environ.get(name, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise JudgeError("no_key", f"the environment variable {name} holds no key")
    return key


class Transport:
    """The connections to one judge's server; used on one event loop only.

    Args:
        config: The judge.
        key: Its key, "" for none.

    Raises:
        MissingDependency: If the extra ``judge`` is not installed.
    """

    def __init__(self, config: JudgeConfig, key: str) -> None:
        try:
            import openai
        except ImportError:
            raise MissingDependency("judges need the openai package", fix=INSTALL) from None
        self._config = config
        self._key = key
        self._sdk = openai
        self._client = openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=config.base_url,
            max_retries=0,
            timeout=config.timeout_s,
        )

    async def send(self, body: Mapping[str, Any], path: str = COMPLETIONS) -> bytes:
        """The bytes of the answer to one request, within the judge's time limit.

        Args:
            body: The request.
            path: ``COMPLETIONS`` or ``EMBEDDINGS``.

        Raises:
            JudgeError: If there is none.
        """
        import httpx

        try:
            async with asyncio.timeout(self._config.timeout_s):
                return await self._post(body, path)
        except (TimeoutError, self._sdk.APITimeoutError, httpx.TimeoutException):
            text = f"no answer within {self._config.timeout_s:g} s"
            raise JudgeError("timeout", text) from None
        except self._sdk.APIStatusError as error:
            raise await self._refused(error) from None
        except (self._sdk.APIConnectionError, httpx.HTTPError, OSError) as error:
            cause = error.__cause__ or error
            text = f"no connection ({type(cause).__name__}: {safe_excerpt(str(cause), self._key)})"
            raise JudgeError("connect", text) from None
        except (self._sdk.OpenAIError, httpx.InvalidURL, TypeError, ValueError) as error:
            text = f"{type(error).__name__}: {safe_excerpt(str(error), self._key)}"
            raise JudgeError("request", text) from None

    async def _post(self, body: Mapping[str, Any], path: str) -> bytes:
        client = self._client
        asked: Any = client.embeddings if path == EMBEDDINGS else client.chat.completions
        create = asked.with_streaming_response.create
        chunks: list[bytes] = []
        size = 0
        async with create(**body, extra_body=dict(self._config.options) or None) as response:
            async for chunk in response.iter_bytes():
                chunks.append(chunk)
                size += len(chunk)
                if size > LARGEST:
                    raise JudgeError("not_json", f"the answer is larger than {LARGEST >> 20} MiB")
        return b"".join(chunks)

    async def _refused(self, error: openai.APIStatusError) -> JudgeError:
        code = error.status_code
        kind = _KINDS.get(code) or ("server" if code >= 500 else "request")
        if code == 429:
            kind = "throttled"
        said = safe_excerpt(error.response.text[:2000], self._key)
        text = f"{_SAID[kind]}: {said}" if said else _SAID[kind]
        wait = _wait(error.response.headers)
        if wait is None and code == 503 and "loading model" in said.lower():
            wait = LOADING_S
        return JudgeError(kind, text, wait)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait: ``Retry-After`` as seconds or as a date."""
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time()
        except (TypeError, ValueError):
            return None
    return None if math.isnan(seconds) else max(0.0, seconds)
