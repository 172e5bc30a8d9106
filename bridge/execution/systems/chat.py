"""OpenAI-compatible chat endpoints (https://platform.openai.com/docs/api-reference/chat).

Over httpx, which the core has for other systems anyway: the one request and the few fields of its
reply need no SDK, and every server that speaks the protocol is read the same way.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

from bridge.execution.answers import read_answer
from bridge.execution.systems.http import parse
from bridge.execution.systems.request import Fields, Request, SystemFault
from bridge.execution.systems.transport import Transport, is_html
from bridge.model.case import Case
from bridge.model.system import ChatConfig

NOT_RUN = "(this tool was not run)"
"""The result of a call that nobody ran: the protocol wants one for every call."""


class ChatSystem:
    """A chat endpoint: the history goes in as messages, the case's tools as functions."""

    def __init__(self, config: ChatConfig, headers: Mapping[str, str]) -> None:
        self._config = config
        self._transport = Transport(config.retries, headers)

    async def answer(self, request: Request) -> Fields:
        """One completion."""
        body = completion_request(self._config, request)
        deadline = time.monotonic() + request.timeout_s
        reply = await self._transport.send("POST", self._config.url, deadline, json=body)
        if is_html(reply):
            raise SystemFault("the reply is an HTML page")
        return read_completion(parse(reply.text))


def completion_request(config: ChatConfig, request: Request) -> dict[str, Any]:
    """The body of a request."""
    prompt = config.system_prompt
    first = [] if prompt is None else [{"role": "system", "content": prompt}]
    body = {
        "model": config.model,
        "messages": [*first, *to_messages(request.messages)],
        "temperature": config.temperature,
        "seed": config.seed,
        "tools": to_tools(request.case) or None,
    }
    return {**{key: value for key, value in body.items() if value is not None}, **config.options}


def to_tools(case: Case) -> list[dict[str, Any]]:
    """A case's tools as functions."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters or {"type": "object", "properties": {}},
            },
        }
        for tool in case.tools
    ]


def to_messages(history: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The history as the protocol has it: every call with an id, and answered by a message."""
    sent: list[dict[str, Any]] = []
    waiting: list[str] = []
    for message in history:
        if message["role"] == "tool":
            given = message.get("tool_call_id")
            name = given if given in waiting else next(iter(waiting), None)
            if name is not None:
                waiting.remove(name)
                sent.append({"role": "tool", "tool_call_id": name, "content": message["content"]})
            continue
        sent += _unanswered(waiting)
        waiting = []
        plain = {key: message[key] for key in ("role", "content", "name") if key in message}
        if message.get("tool_calls"):
            calls = [_to_call(call, f"call_{len(sent)}_{n}") for n, call in _numbered(message)]
            plain["tool_calls"] = calls
            waiting = [call["id"] for call in calls]
        sent.append(plain)
    return [*sent, *_unanswered(waiting)]


def _numbered(message: Mapping[str, Any]) -> Iterable[tuple[int, Mapping[str, Any]]]:
    return enumerate(message["tool_calls"])


def _unanswered(waiting: Iterable[str]) -> list[dict[str, Any]]:
    return [{"role": "tool", "tool_call_id": name, "content": NOT_RUN} for name in waiting]


def _to_call(call: Mapping[str, Any], name: str) -> dict[str, Any]:
    arguments = call.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    function = {"name": call["name"], "arguments": text}
    return {"id": call.get("id") or name, "type": "function", "function": function}


def read_completion(reply: Any) -> dict[str, Any]:
    """The fields of an output in a completion.

    Raises:
        SystemFault: If it is an error, or has no message.
    """
    if not isinstance(reply, Mapping):
        raise SystemFault("the reply is no completion (no object)")
    if reply.get("error"):
        raise SystemFault(f"the endpoint says: {json.dumps(reply['error'], ensure_ascii=False)}")
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise SystemFault("the reply is no completion (no choices[0].message)")
    calls = message.get("tool_calls") or message.get("function_call")
    text = _text(message)
    if text is None and not calls:
        raise SystemFault("the completion has neither content nor tool calls")
    fields = {"text": text or "", "tool_calls": calls, "model": reply.get("model")}
    fields |= {"stop_reason": choice.get("finish_reason"), "usage": _usage(reply.get("usage"))}
    return read_answer({key: value for key, value in fields.items() if value is not None})


def _text(message: Mapping[str, Any]) -> str | None:
    """The content, text parts joined; a refusal stands for it."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "\n".join(part for part in parts if isinstance(part, str))
    found = content if content is not None else message.get("refusal")
    if found is not None and not isinstance(found, str):
        raise SystemFault(f"the content is a {type(found).__name__}, not a text")
    return found


def _usage(usage: Any) -> dict[str, Any] | None:
    if not isinstance(usage, Mapping):
        return None
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    found = {ours: usage.get(theirs) for ours, theirs in names.items()}
    return {key: value for key, value in found.items() if type(value) is int} or None
