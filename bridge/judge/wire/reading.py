"""A server's bytes to a reply that meets its schema, or the kind of fault in them."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from bridge.judge.errors import JudgeError, Kind
from bridge.judge.exchange import Reply
from bridge.judge.structured import with_nulls
from bridge.judge.wire.redaction import safe_excerpt, without_key
from bridge.model.judge import Price
from bridge.model.values import clean_text, freeze
from bridge.scorers.structure.contract import Violation, violations

MOST_STARTS = 64
"""Most places of a chatty reply at which a JSON object is looked for."""

LEAST_CONTEXT = 1000
"""Fewest tokens of a question that a server may have cut; contexts are larger."""

_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_DECODER = json.JSONDecoder()


class Tokens(NamedTuple):
    """What an answer took, as far as the server says; the cost where the price is known."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


def read_document(body: bytes, key: str = "") -> dict[str, Any]:
    """The JSON object of a response.

    Args:
        body: The response's body.
        key: The key in use, which no text may hold.

    Raises:
        JudgeError: Of kind ``empty`` or ``not_json`` (HTML included).
    """
    text = body.decode("utf-8", "replace").strip()
    if not text:
        raise JudgeError("empty", "the server's answer has no body")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        what = "HTML" if text.startswith("<") else "no JSON"
        raise JudgeError("not_json", f"the server answered {what}: {_shown(text, key)}") from None
    if not isinstance(document, dict):
        raise JudgeError("not_json", f"the server answered no object: {_shown(text, key)}")
    return document


def read_tokens(document: Mapping[str, Any], price: Price | None) -> Tokens:
    """What an answer took, whether it is of use or not."""
    used = document.get("usage")
    used = used if isinstance(used, dict) else {}
    read, written = _count(used.get("prompt_tokens")), _count(used.get("completion_tokens"))
    if written is None and "data" in document:  # embeddings write nothing
        written = 0
    if price is None or read is None or written is None:
        return Tokens(read, written)
    return Tokens(read, written, (read * price.input + written * price.output) / 1e6)


def refuse_cut_question(question: Iterable[str], tokens: Tokens) -> None:
    """Make sure that the server has read a whole question, as far as its count of tokens shows.

    Ollama drops what goes beyond its context (4,096 tokens unless told otherwise), half of it at
    least, and answers the rest as if nothing was. No usual tokenizer has fewer tokens than words.
    Source: https://github.com/ollama/ollama/issues/4967 and /17889.

    Args:
        question: The texts of the messages.
        tokens: What the server counted.

    Raises:
        JudgeError: Of kind ``truncated``, if there are fewer tokens than words.
    """
    read = tokens.input_tokens
    if read is None or read < LEAST_CONTEXT:
        return
    words = sum(len(text.split()) for text in question)
    if words > read:
        what = f"the server read {read} tokens of a question of {words} words"
        raise JudgeError(
            "truncated", f"{what}: its context is too small, and it says nothing of it"
        )


def read_reply(
    document: Mapping[str, Any],
    tokens: Tokens,
    schema: Mapping[str, Any] | None,
    key: str = "",
    *,
    most: int | None = None,
) -> Reply:
    """A chat completion as a reply.

    Args:
        document: The response.
        tokens: What it took.
        schema: What the reply must meet; any text without one.
        key: The key in use, which no text may hold.
        most: The tokens that the reply could have.

    Raises:
        JudgeError: Of the kind of fault: ``empty``, ``not_json``, ``schema``, ``range``,
            ``refusal``, ``truncated``.
    """
    choice = _first_choice(document, key)
    if choice.get("finish_reason") == "length":
        raise JudgeError("truncated", _cut_off(choice, tokens.output_tokens, most))
    text = without_key(_content(choice), key)
    if not text.strip():
        raise JudgeError("empty", "the judge said nothing")
    data = None if schema is None else read_object(text, schema)
    return Reply(text, data, *tokens)


def read_vectors(document: Mapping[str, Any], tokens: Tokens, count: int, key: str = "") -> Reply:
    """The answer to a request for embeddings.

    Args:
        document: The response.
        tokens: What it took.
        count: How many texts were sent.
        key: The key in use, which no text may hold.

    Raises:
        JudgeError: Of kind ``empty`` or ``schema``.
    """
    data = document.get("data")
    if not isinstance(data, list):
        error = document.get("error")
        said = f": {_shown(json.dumps(error), key)}" if error else ""
        raise JudgeError("empty", f"the server's answer holds no embeddings{said}")
    places = [each.get("index", at) for at, each in enumerate(data) if isinstance(each, dict)]
    if sorted(places, key=str) != sorted(range(count), key=str):
        raise JudgeError("schema", f"the server gave {len(data)} embeddings of {count} texts")
    ordered = [each for _, each in sorted(zip(places, data, strict=True))]
    vectors = tuple(_vector(each.get("embedding")) for each in ordered)
    if len({len(vector) for vector in vectors}) != 1:
        raise JudgeError("schema", "the embeddings are of different lengths")
    return Reply("", None, *tokens, vectors=vectors)


def _vector(value: Any) -> tuple[float, ...]:
    """A vector as JSON numbers, or as the little-endian floats that OpenAI's SDK asks for."""
    if isinstance(value, str):
        try:
            raw = base64.b64decode(value, validate=True)
            value = list(struct.unpack(f"<{len(raw) // 4}f", raw))
        except (ValueError, struct.error):
            value = None
    numbers = value if isinstance(value, list) else []
    if not numbers or not all(type(each) in (int, float) and isfinite(each) for each in numbers):
        raise JudgeError("schema", "an embedding is no list of numbers")
    if not any(numbers):
        raise JudgeError("schema", "an embedding is zero everywhere")
    return tuple(map(float, numbers))


def _shown(text: str, key: str) -> str:
    return safe_excerpt(text[:2000], key)


def _first_choice(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    choices = document.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        error = document.get("error")
        said = f": {_shown(json.dumps(error), key)}" if error else ""
        raise JudgeError("empty", f"the server's answer holds no message{said}")
    _raise_refusal(choice, key)
    return choice


def _raise_refusal(choice: dict[str, Any], key: str) -> None:
    """A reply that was refused is not read."""
    finish, refusal = choice.get("finish_reason"), choice["message"].get("refusal")
    if finish == "content_filter":
        raise JudgeError("refusal", "the provider's filter held the reply back")
    if isinstance(refusal, str) and refusal.strip():
        raise JudgeError("refusal", f"the judge refused: {_shown(refusal, key)}")


def _cut_off(choice: dict[str, Any], written: int | None, most: int | None) -> str:
    """Where a reply was cut off, and what helps."""
    if written is not None and most is not None and written < most:
        own = "the server's context is full, or it has a limit of its own"
        return f"the reply was cut off after {written} tokens, before max_tokens: {own}"
    if not _content(choice).strip() and choice["message"].get("reasoning_content"):
        return "max_tokens were used up by the model's reasoning; raise it, or turn that off"
    return "the reply was cut off at max_tokens; raise it, or bound lists and texts by limits"


def _content(choice: dict[str, Any]) -> str:
    content = choice["message"].get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return clean_text(content) if isinstance(content, str) else ""


def read_object(text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The one JSON object in a reply that meets a schema.

    What a reasoning model thought first, code fences and chatter around it are passed over. Two
    different objects that both meet the schema are a fault: one of them may be quoted from the
    text that is judged. A text longer than its ``maxLength`` is none: that bound is there to stop a
    server that generates by the schema, and nothing depends on it.

    Raises:
        JudgeError: Of kind ``empty``, ``not_json``, ``schema`` or ``range``.
    """
    text = _THOUGHT.sub("", text).strip()
    if not text:
        raise JudgeError("empty", "the judge said nothing")
    found = [with_nulls(schema, each) for each in _objects(text)]
    if not found:
        raise JudgeError("not_json", "the reply holds no JSON object")
    schema = _any_length(schema)
    fitting = [each for each in found if not violations(schema, each)]
    if not fitting:
        raise _misfit(violations(schema, found[-1]))
    if any(each != fitting[0] for each in fitting):
        raise JudgeError("schema", f"the reply holds {len(fitting)} different answers")
    try:
        frozen: Mapping[str, Any] = freeze(fitting[0])
    except ValueError as error:
        raise JudgeError("not_json", f"the reply is no plain JSON ({error})") from None
    return frozen


def _any_length(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema without the bounds on the length of texts."""

    def lax(value: Any) -> Any:
        if isinstance(value, Mapping):
            kept = value.keys() - {"maxLength"} if value.get("type") == "string" else value.keys()
            return {name: lax(each) for name, each in value.items() if name in kept}
        return [lax(each) for each in value] if isinstance(value, list | tuple) else value

    found: Mapping[str, Any] = lax(schema)
    return found


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in a text, which may be nothing but one."""
    place, starts = text.find("{"), 0
    while place >= 0 and starts < MOST_STARTS:
        starts += 1
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            place = text.find("{", place + 1)
            continue
        yield value
        place = text.find("{", end)


def _misfit(faults: list[Violation]) -> JudgeError:
    kind: Kind = "range" if all(fault.keyword in _BOUNDS for fault in faults) else "schema"
    fault = faults[0]
    place = f" at {fault.path}" if fault.path else ""
    return JudgeError(kind, f"the reply does not fit its schema: {fault.message}{place}")


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 53 else None
