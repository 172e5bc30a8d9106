"""Systems behind HTTP: a body made from the case, an answer found by JSON Pointer."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any

from bridge.execution.answers import as_text, plain, read_answer
from bridge.execution.systems.request import Fields, Request, SystemFault
from bridge.execution.systems.transport import Reply, Transport, is_html
from bridge.model.system import AnswerPointers, HttpConfig

PLACE = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")
"""``{{name}}``."""

BODY = {"input": "{{input}}", "messages": "{{messages}}"}
"""What is sent where a suite does not say."""


class HttpSystem:
    """A system that answers one HTTP request a turn."""

    def __init__(self, config: HttpConfig, headers: Mapping[str, str]) -> None:
        self._config = config
        self._transport = Transport(config.retries, headers)

    async def answer(self, request: Request) -> Fields:
        """Send the request and read the reply."""
        config = self._config
        known = values(request)
        parts: dict[str, Any] = {}
        if config.query:
            parts["params"] = {k: as_text(fill(v, known)) for k, v in config.query.items()}
        if config.method != "GET":
            parts["json"] = fill(BODY if config.body is None else config.body, known)
        deadline = time.monotonic() + request.timeout_s
        reply = await self._transport.send(config.method, config.url, deadline, **parts)
        return read_reply(reply, config.answer)


def values(request: Request) -> dict[str, Any]:
    """What ``{{name}}`` stands for: the case's own variables, and the names of the driver."""
    case = request.case
    return {
        **case.vars,
        "input": request.input,
        "messages": request.messages,
        "id": case.id,
        "epoch": request.epoch,
        "turn": request.turn,
        "tools": plain(case.tools),
        "metadata": case.metadata,
    }


def fill(template: Any, known: Mapping[str, Any]) -> Any:
    """A template with its places filled; what is filled in is never read as a template again.

    Raises:
        SystemFault: If a place names nothing.
    """
    if isinstance(template, Mapping):
        return {key: fill(item, known) for key, item in template.items()}
    if isinstance(template, list | tuple):
        return [fill(item, known) for item in template]
    if not isinstance(template, str):
        return template
    whole = PLACE.fullmatch(template)
    if whole is not None:
        return _value(whole[1], known)
    return PLACE.sub(lambda place: as_text(_value(place[1], known)), template)


def _value(name: str, known: Mapping[str, Any]) -> Any:
    if name not in known:
        raise SystemFault(f"the request names {{{{{name}}}}}, which is no variable of the case")
    return known[name]


def read_reply(reply: Reply, pointers: AnswerPointers | None) -> dict[str, Any]:
    """The answer in a reply.

    Raises:
        SystemFault: If the reply is empty, an HTML page, no JSON where JSON is due, or lacks the
            answer.
        InputError: If it is an object with keys that an output has not.
    """
    if not reply.text.strip():
        raise SystemFault("the reply is empty")
    if is_html(reply):
        raise SystemFault("the reply is an HTML page")
    if pointers is None and reply.kind == "text/plain":
        return read_answer(reply.text)
    value = parse(reply.text)
    return read_answer(value if pointers is None else _pointed(value, pointers))


def parse(text: str) -> Any:
    """JSON text.

    Raises:
        SystemFault: If it is none; NaN and infinities are none.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise SystemFault(f"the reply is no JSON: {error}") from None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _pointed(value: Any, pointers: AnswerPointers) -> dict[str, Any]:
    found = {}
    for name, pointer in pointers.model_dump(exclude_none=True).items():
        there, part = at(value, pointer)
        if name == "text" and not there:
            raise SystemFault(f"the reply has nothing at {pointer}")
        if there and part is not None:
            found[name] = part
    usage = {key: found.pop(key) for key in ("input_tokens", "output_tokens") if key in found}
    return {"text": "", **found, **({"usage": usage} if usage else {})}


def at(value: Any, pointer: str) -> tuple[bool, Any]:
    """Whether there is anything at a JSON Pointer (RFC 6901), and what."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return False, None
    return True, value
