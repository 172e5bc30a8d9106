"""What is asked of a judge, and what it answered."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import msgspec

from bridge.model.judge import JudgeConfig
from bridge.model.values import freeze


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a judge, or texts of which it is to give the vectors.

    Attributes:
        messages: ``{role, content}`` each, content being text.
        schema: JSON Schema (2020-12, an object) that the reply must meet; free text without one.
        sample: Number of a repetition: equal requests with equal samples are one request.
        tag: What it is asked for (case, metric), for the ledger.
        embeds: Texts to be made vectors of; there are no messages then.
    """

    messages: Sequence[Mapping[str, str]]
    schema: Mapping[str, Any] | None = None
    sample: int = 0
    tag: Mapping[str, Any] = field(default_factory=dict)
    embeds: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Read-only, and without what no request can carry (lone surrogates)."""
        for name in ("messages", "schema", "tag", "embeds"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    def numbered(self, sample: int, tag: Mapping[str, Any]) -> Request:
        """The same question once more, for a purpose."""
        return replace(self, sample=sample, tag=tag)


@dataclass(frozen=True, slots=True)
class Reply:
    """A judge's answer.

    Attributes:
        text: What it wrote.
        data: The object that meets the schema; ``None`` where there was none to meet.
        input_tokens: Tokens of the request, where the server says.
        output_tokens: Tokens of the reply, where the server says.
        cost_usd: US dollars, where the judge's price is known.
        vectors: The vector of each text, all of one length.
    """

    text: str
    data: Mapping[str, Any] | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    vectors: Sequence[Sequence[float]] = ()

    def __post_init__(self) -> None:
        """The same whether it came over the wire, from a file or from the server."""
        object.__setattr__(self, "vectors", tuple(map(tuple, self.vectors)))


class Judge(Protocol):
    """Anything that answers as a judge does: the client, the gateway's client, a test's own."""

    def ask(self, request: Request) -> Reply:
        """The answer to one request.

        Raises:
            JudgeError: If there is no usable one.
        """
        ...


ASKED = frozenset(
    {"model", "base_url", "temperature", "seed", "max_tokens", "structured", "options"}
)
LIMITED = ASKED | {"limits"}
"""The fields of a configuration that a reply depends on."""


def request_key(config: JudgeConfig, request: Request) -> str:
    """SHA-256 of all that a reply depends on."""
    asked: list[Any] = [
        config.model_dump(mode="json", include=set(LIMITED if config.limits else ASKED)),
        request.messages,
        request.schema,
        request.sample,
    ]
    if request.embeds:
        asked.append(request.embeds)
    encoded = msgspec.json.encode(asked, order="deterministic")
    return hashlib.sha256(encoded).hexdigest()
