"""A judge as plain data: an OpenAI-compatible endpoint, how it is asked and what it may cost."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from bridge.model.values import EMPTY, Flag, JsonObject, Model, Name, Number, Text, Whole

_SECRET = re.compile(r"(?i)authorization|api[-_]?key|token$|secret|password|headers")


class Price(Model):
    """US dollars for a million tokens, in and out."""

    input: Number = Field(ge=0)
    output: Number = Field(ge=0)


class JudgeBudget(Model):
    """The most that a judge may take in one run; what is over is an ``error``, never asked.

    Attributes:
        calls: Requests sent, repeated ones included.
        tokens: Tokens in and out.
        usd: US dollars; needs the judge's ``price``.

    The last two are known only after an answer: requests already on their way (``concurrency`` at
    most) may exceed them.
    """

    calls: Whole | None = Field(default=None, ge=0)
    tokens: Whole | None = Field(default=None, ge=0)
    usd: Number | None = Field(default=None, ge=0)


class EmbeddingsConfig(Model):
    """Where the vectors of texts come from, for metrics that compare texts by them.

    Attributes:
        model: The model's name there.
        base_url: Address up to ``/v1``; the judge's own if left out.
        api_key_env: Environment variable with the key; the judge's own where the address is.
        price: What a million tokens cost, in US dollars; ``output`` counts for nothing.
    """

    model: Name
    base_url: Text | None = None
    api_key_env: Name | None = None
    price: Price | None = None

    @model_validator(mode="after")
    def _is_safe(self) -> EmbeddingsConfig:
        if self.base_url is not None:
            _refuse_address(self.base_url)
        return self


class ReplyLimits(Model):
    """Bounds of every list and text in a structured reply, for small models that ramble.

    A long answer may then have more to say of it than the reply holds.

    Attributes:
        items: Most items of a list.
        characters: Most characters of a text.
    """

    items: Whole | None = Field(default=None, ge=1)
    characters: Whole | None = Field(default=None, ge=1)


class JudgeConfig(Model):
    """A judge: an OpenAI-compatible endpoint. The key is named, never written.

    Attributes:
        model: The model's name there.
        base_url: Address up to ``/v1``; OpenAI's own if left out.
        api_key_env: Environment variable with the key; ``OPENAI_API_KEY`` where there is no
            ``base_url``, no key at all where there is one.
        temperature: 0 unless said otherwise; null leaves it to the server.
        seed: Asks the server for the same answer again, where it knows how.
        max_tokens: Most tokens of a reply; a reply cut off there is an error.
        structured: How a reply is made to fit its schema: ``json_schema`` (the server's own
            structured output), ``json_object`` (any JSON, the schema in the prompt), ``prompt``
            (the schema in the prompt alone); ``auto`` takes the first that the server does not
            refuse.
        limits: Bounds of what a structured reply holds; none where left out.
        timeout_s: Seconds one request may take from sending to the last byte.
        retries: Repetitions of a request that failed for a reason that may pass.
        concurrency: Requests at a time.
        requests_per_minute: Most requests sent in a minute.
        budget: The most that it may take.
        price: What tokens cost, for the budget and the report.
        cache: Whether replies are kept beside the run and used again.
        embeddings: Where the vectors of texts come from, for metrics that need them.
        options: Further fields of the request's body.
    """

    model: Name
    base_url: Text | None = None
    api_key_env: Name | None = None
    temperature: Number | None = Field(default=0.0, ge=0)
    seed: Whole | None = None
    max_tokens: Whole = Field(default=1024, ge=1)
    structured: Literal["auto", "json_schema", "json_object", "prompt"] = "auto"
    limits: ReplyLimits | None = None
    timeout_s: Number = Field(default=60.0, gt=0)
    retries: Whole = Field(default=3, ge=0, le=20)
    concurrency: Whole = Field(default=4, ge=1, le=256)
    requests_per_minute: Number | None = Field(default=None, gt=0)
    budget: JudgeBudget = JudgeBudget()
    price: Price | None = None
    cache: Flag = True
    embeddings: EmbeddingsConfig | None = None
    options: JsonObject = EMPTY

    @model_validator(mode="after")
    def _is_safe_and_complete(self) -> JudgeConfig:
        if self.base_url is not None:
            _refuse_address(self.base_url)
        if secret := next((name for name in self.options if _SECRET.search(name)), None):
            raise ValueError(f"options hold {secret}; name the key's variable by api_key_env")
        if self.budget.usd is not None and self.price is None:
            raise ValueError("a budget in usd needs the judge's price: {input, output}")
        return self

    def for_embeddings(self) -> JudgeConfig | None:
        """The same with what its embeddings change; ``None`` where it has none."""
        own = self.embeddings
        if own is None:
            return None
        key = own.api_key_env or (None if own.base_url else self.api_key_env)
        changed = {
            "model": own.model,
            "base_url": own.base_url or self.base_url,
            "api_key_env": key,
            "price": own.price,
            "embeddings": None,
            "options": EMPTY,
        }
        return self.model_copy(update=changed)


def _refuse_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("base_url is an address such as http://127.0.0.1:8080/v1")
    if parts.username is not None or parts.password is not None or parts.query:
        raise ValueError("base_url holds no user, password or query; use api_key_env")
