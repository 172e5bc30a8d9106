"""llama.cpp's server as a script of :class:`JudgeServer`: what it does that hosted ones do not.

Each behaviour was seen of its own server (from the wheel ``xllamacpp`` 2026.10.11549) with a model of
135 million weights and with one of random weights; the bodies are its own.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from judge_server import Act

Model = Callable[[dict[str, Any]], Any]
"""What the model says to a request's body: text, or JSON."""

MOST_REPEATED = 2001
"""Most of one thing in a row that its grammars can ask for."""

TEMPLATE = "Unable to generate parser for this template. Automatic parser generation failed: "
SYSTEM = (
    "\n------------\nWhile executing CallExpression at line 1, column 74 in source:\n"
    "...'role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif..."
)


class LlamaCpp:
    """The server.

    Args:
        model: What it has loaded.
        context: Tokens of one slot; a token is a word here.
        loading: How many requests come while it still loads its model.
        slots: Requests answered at a time; others wait.
        seconds: How long one takes.
        knows_system: Whether the model's chat template does.
        embeds: Whether it was started with ``--embeddings``.
    """

    def __init__(
        self,
        model: Model,
        *,
        context: int = 8192,
        loading: int = 0,
        slots: int = 1,
        seconds: float = 0.0,
        knows_system: bool = True,
        embeds: bool = False,
    ) -> None:
        self._model = model
        self._context = context
        self._loading = loading
        self._slots = threading.Semaphore(slots)
        self._seconds = seconds
        self._knows_system = knows_system
        self._embeds = embeds

    def __call__(self, body: dict[str, Any]) -> Act:
        if self._loading:
            self._loading -= 1
            return refused(503, "Loading model", "unavailable_error")
        if "input" in body and not self._embeds:
            said = "This server does not support embeddings. Start it with `--embeddings`"
            return refused(501, said, "not_supported_error")
        return self._fault(body) or self._answered(body)

    def _fault(self, body: dict[str, Any]) -> Act | None:
        if not self._knows_system and any(m["role"] == "system" for m in body["messages"]):
            return refused(400, TEMPLATE + SYSTEM)
        if any(each.get("minItems", 0) > MOST_REPEATED for each in schemas(schema_of(body))):
            return refused(400, "Failed to initialize samplers: failed to parse grammar")
        read = words(body)
        if read >= self._context:
            has = f"exceeds the available context size ({self._context} tokens)"
            said = f"request ({read} tokens) {has}, try increasing it"
            return refused(400, said, "exceed_context_size_error", n_prompt_tokens=read)
        return None

    def _answered(self, body: dict[str, Any]) -> Act:
        said = self._model(body)
        said = said if isinstance(said, str) else json.dumps(said)
        read, written = words(body), len(said.split())
        most = min(body["max_tokens"], self._context - read)
        cut = written > most
        return Act(
            " ".join(said.split()[:most]) if cut else said,
            finish="length" if cut else "stop",
            usage=(read, min(written, most)),
            slot=self._slots,
            delay_s=self._seconds,
        )


def refused(status: int, said: str, kind: str = "invalid_request_error", **more: Any) -> Act:
    """An error as llama.cpp spells it."""
    error = {"code": status, "message": said, "type": kind, **more}
    return Act(status=status, body=json.dumps({"error": error}).encode())


def schema_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of the reply; it takes one with ``json_object`` too."""
    form = body.get("response_format", {})
    found: dict[str, Any] = form.get("json_schema", form).get("schema", {})
    return found


def schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all in it."""
    if isinstance(schema, dict):
        yield schema
        for each in (*schema.get("properties", {}).values(), schema.get("items")):
            yield from schemas(each)


def words(body: Mapping[str, Any]) -> int:
    return sum(len(message["content"].split()) for message in body["messages"])
