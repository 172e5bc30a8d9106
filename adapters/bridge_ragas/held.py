"""What RAGAS's native forms keep of a neutral value: each field as it is read back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from bridge.model.message import Passage, as_text, passage_text
from bridge.plugin.carry import Held, held_input, held_reference, held_users
from bridge.plugin.cases.chats import own_extras
from bridge_ragas.calls import Fields, held_calls, held_expected_calls, held_messages
from bridge_ragas.rows import NAME

Kind = Literal["single_turn", "multi_turn"]
SINGLE: Kind = "single_turn"
MULTI: Kind = "multi_turn"

ONLY_RAGAS = {
    SINGLE: ("rubrics", "query_style", "query_length"),
    MULTI: ("rubrics", "reference_topics"),
}
"""Fields of a sample that say something of the case and have no neutral field."""
ONLY_RAGAS_ANSWERS = ("multi_responses",)
"""The same of the output."""


def held_sent(value: Any) -> Any:
    """A case's input as it is read back from messages: a text if a user sent nothing else."""
    if not isinstance(value, list):
        return as_text(value)
    held = held_messages(value)
    if not held:
        return ""
    single = len(held) == 1 and held[0]["role"] == "user"
    return held[0].get("content", "") if single else held


def held_persona(value: Any) -> str | None:
    """A persona as it is read back: its name, if it is no more than that."""
    return value if isinstance(value, str) else None


def to_texts(passages: Sequence[str | Passage]) -> list[str] | None:
    """Contexts as RAGAS has them: texts, or nothing."""
    return [passage_text(each) for each in passages] or None


def to_ids(passages: Sequence[str | Passage]) -> list[str | int] | None:
    """The ids of contexts that all have one."""
    ids: list[str | int] = [
        each.id for each in passages if not isinstance(each, str) and each.id is not None
    ]
    return ids if ids and len(ids) == len(passages) else None


def held_passages(passages: Sequence[Any]) -> list[Any]:
    """Passages as they are read back: their texts, and their ids if all have one."""
    texts = [each if isinstance(each, str) else each["text"] for each in passages]
    ids = [
        each["id"] for each in passages if isinstance(each, Mapping) and each.get("id") is not None
    ]
    return read_passages(texts, ids)


def read_passages(texts: Sequence[str] | None, ids: Sequence[Any] | None) -> list[Any]:
    """Contexts with their ids, if there is one for each."""
    if ids and (texts is None or len(texts) == len(ids)):
        texts = texts or [""] * len(ids)
        return [{"text": text, "id": str(id_)} for text, id_ in zip(texts, ids, strict=True)]
    return list(texts or ())


def held_own(extras: Mapping[str, Any], names: Iterable[str]) -> Fields:
    """RAGAS's own fields among a case's or output's extras."""
    fields = own_extras(extras, NAME)
    return {name: fields[name] for name in names if fields.get(name) is not None}


def _held_extras(names: Iterable[str]) -> Callable[[Mapping[str, Any]], Fields]:
    def held(extras: Mapping[str, Any]) -> Fields:
        own = held_own(extras, names)
        return {NAME: own} if own else {}

    return held


def _held_answers(turns: Sequence[Mapping[str, Any]]) -> list[Fields] | None:
    held = []
    for turn in turns:
        fields: Fields = {}
        if text := as_text(turn.get("text", "")):
            fields["text"] = text
        if turn.get("tool_calls"):
            fields["tool_calls"] = held_calls(turn["tool_calls"])
        held.append(fields)
    return held or None


CASE: Held = {
    "input": held_input,
    "expected": held_reference,
    "reference_contexts": held_passages,
    "persona": held_persona,
    "extras": _held_extras(ONLY_RAGAS[SINGLE]),
}
_CONVERSATION: Held = {"expected": held_reference, "extras": _held_extras(ONLY_RAGAS[MULTI])}
CALLS_CASE: Held = {
    **_CONVERSATION,
    "input": held_sent,
    "expected_calls": held_expected_calls,
}
TURNS_CASE: Held = {**_CONVERSATION, "turns": held_users}
OUTPUT: Held = {
    "text": as_text,
    "retrieved_contexts": held_passages,
    "extras": _held_extras(ONLY_RAGAS_ANSWERS),
}
CALLS_OUTPUT: Held = {"text": as_text, "tool_calls": held_calls}
TURNS_OUTPUT: Held = {"turns": _held_answers}
