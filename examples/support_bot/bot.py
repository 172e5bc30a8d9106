"""The support bot of Fjordline Outdoor: tools where a message asks for one, else the policies.

`answer` is version 1. `answer_v2` is the same bot with two planted regressions, so that a gate has
something to find:

* superseded policy pages are searched as well (failure mode `stale_policy`);
* only the arguments that a tool's schema requires are passed on, so that a shoe size, a limit or
  the articles of a refund get lost (failure mode `wrong_tool_argument`).

Both versions are deterministic: no model is called. Tokens are counted as words, and the cost is
what those words would be billed at `PRICES`, a price list of this example.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import actions
import lookups
import shop
import slots
from clauses import Clause, cut
from desk import Arguments, Desk, calls_in
from policy_pages import Passage, terms
from policy_search import look_up

JsonObject = dict[str, Any]

PRICES = {"input": 0.15e-6, "output": 0.60e-6}
"""US dollars a word."""

_HANDLERS: tuple[Callable[[Clause, Desk], str | None], ...] = (
    lookups.own_data_only,
    lookups.whole_number,
    actions.person,
    actions.ticket,
    actions.address,
    actions.refund,
    actions.cancel,
    lookups.price,
    lookups.stock,
    lookups.parcel,
    lookups.orders,
    lookups.order,
    lookups.recall,
)
_NOT_FOUND = {
    "en": "I could not find this in our policies. Our support team can help: "
    "help@fjordline.example.",
    "de": "Dazu habe ich in unseren Richtlinien nichts gefunden. Unser Kundendienst hilft: "
    "help@fjordline.example.",
    "es": "No he encontrado nada sobre esto en nuestras normas. Escriba a help@fjordline.example.",
}
_CAN_DO = (
    "I can look up, cancel and refund orders, track parcels, change addresses, check stock, "
    "convert prices, open tickets, connect you to a person, and explain our policies."
)


@dataclass(frozen=True, slots=True)
class Version:
    """What tells one version of the bot from another."""

    name: str
    newest_only: bool
    arguments: Arguments


def _as_planned(_: str, arguments: JsonObject) -> JsonObject:
    return arguments


def _required_only(name: str, arguments: JsonObject) -> JsonObject:
    schema = next(tool["parameters"] for tool in shop.TOOLS if tool["name"] == name)
    return {key: value for key, value in arguments.items() if key in schema["required"]}


V1 = Version("support-bot-v1", newest_only=True, arguments=_as_planned)
V2 = Version("support-bot-v2", newest_only=False, arguments=_required_only)


def answer(input: Any, case: Any = None) -> JsonObject:  # noqa: A002
    """Answer a customer with version 1.

    Args:
        input: The message, or the messages so far, each with `role`, `content` and, for the bot's
            own, `tool_calls`; the customer's last one is answered. What a tool message says is
            never read: a call without a recorded result is made again.
        case: The case being asked; only its `tools` are read: they are the tools on offer.

    Returns:
        text, tool_calls, retrieved_contexts, usage (words), cost_usd (US dollars) and model.
    """
    return _answer(input, case, V1)


def answer_v2(input: Any, case: Any = None) -> JsonObject:  # noqa: A002
    """Answer a customer with version 2, which has the regressions named above."""
    return _answer(input, case, V2)


def _answer(asked: Any, case: Any, version: Version) -> JsonObject:
    messages = [{"role": "user", "content": asked}] if isinstance(asked, str) else list(asked)
    *said, message = [_content(each) for each in messages if each["role"] == "user"]
    desk = Desk(said, calls_in(messages), _offered(case), version.arguments)
    passages: tuple[Passage, ...] = ()
    text = _small_talk(message) or " ".join(_act(message, desk))
    if not text:
        text, passages = _from_policies(message, said, version)
    return _output(text, desk, passages, messages, version)


def _content(message: Mapping[str, Any]) -> str:
    return str(message.get("content") or "")


def _words(text: str) -> int:
    return len(text.split())


def _offered(case: Any) -> frozenset[str]:
    tools: Sequence[Any] = getattr(case, "tools", None) or ()
    return frozenset(tool.name for tool in tools) or frozenset(tool["name"] for tool in shop.TOOLS)


def _small_talk(message: str) -> str | None:
    if re.match(r"(?i)(?:thanks|thank you)\b.*\bthat is all\b", message):
        return "You are welcome. Have a good trip!"
    return _CAN_DO if re.search(r"(?i)\bwhat can you (?:help|do)\b", message) else None


def _act(message: str, desk: Desk) -> list[str]:
    """The replies to the clauses that a tool or the conversation's memory can answer."""
    replies: list[str] = []
    before = ""
    for clause in cut(message):
        if clause.condition and not _holds(clause.condition, before, desk):
            replies.append("So I did nothing else.")
            continue
        found = (handler(clause, desk) for handler in _HANDLERS)
        reply = next((text for text in found if text), None)
        replies += [reply] if reply and reply not in replies else []
        before = clause.text
    return replies


def _holds(condition: str, before: str, desk: Desk) -> bool:
    """Whether the last result meets a condition; a bare `it is` repeats the clause before."""
    if not desk.calls:
        return True
    result = desk.calls[-1].result or {}
    facts: dict[str, bool] = {
        "lost": result.get("status") == "lost",
        "process": result.get("status") == "processing",
        "out of stock": result.get("quantity") == 0,
        "in stock": bool(result.get("quantity")),
    }
    said = (words for text in (condition, before) for words in facts if words in text)
    return facts.get(next(said, ""), True)


def _from_policies(
    message: str, said: Sequence[str], version: Version
) -> tuple[str, tuple[Passage, ...]]:
    """Answer from the policies; what is too short to stand alone is read with what was said."""
    language = slots.language(message)
    in_context = f"{said[-1].rstrip('?.! ')} {message}" if said else message
    short = len(terms(message, language)) < 3
    questions = (in_context, message) if short else (message, in_context)
    findings = [look_up(question, language, version.newest_only) for question in questions]
    finding = next((each for each in findings if each.confident), findings[0])
    text = " ".join(finding.sentences) if finding.confident else _NOT_FOUND[language]
    return text, finding.passages


def _output(
    text: str,
    desk: Desk,
    passages: tuple[Passage, ...],
    messages: Sequence[Mapping[str, Any]],
    version: Version,
) -> JsonObject:
    contexts = [passage.text for passage in passages]
    read = [*map(_content, messages), *contexts]
    usage = {"input_tokens": sum(map(_words, read)), "output_tokens": _words(text)}
    return {
        "text": text,
        "tool_calls": [
            {
                "name": call.name,
                "arguments": call.arguments,
                "id": f"call_{index}",
                "result": call.result,
                "error": call.error,
            }
            for index, call in enumerate(desk.calls, start=len(desk.past) + 1)
        ],
        "retrieved_contexts": contexts,
        "usage": usage,
        "cost_usd": round(
            usage["input_tokens"] * PRICES["input"] + usage["output_tokens"] * PRICES["output"], 9
        ),
        "model": version.name,
    }
