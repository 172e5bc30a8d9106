"""Tool results as facts: which record says what under which name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.model.message import ToolCall
from bridge.scorers.conversation.clauses import stem
from bridge.scorers.conversation.units import CURRENCIES
from bridge.scorers.conversation.values import Value, find_values

MOST = 5_000
"""Most values read of one result."""

PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_GENERIC = "id no num number code by on at is in of the date"
GENERIC = frozenset(map(stem, _GENERIC.split()))
"""Words of a key that say nothing about what a text would call it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One value in a tool result.

    Attributes:
        key: Its name there.
        words: Stems of the words in that name.
        value: A text, number or flag.
        values: The same, read as a text would state it.
        ids: Identifiers in the same record, and in those around it.
        tool: The tool that said so.
        turn: 0-based.
        call: How many calls came before, over all turns.
        currency: Currency of the record, if it names one.
    """

    key: str
    words: frozenset[str]
    value: Any
    values: tuple[Value, ...]
    ids: frozenset[object]
    tool: str
    turn: int
    call: int
    currency: str

    @property
    def source(self) -> str:
        """Where it is from, for a reason."""
        return f"{self.tool} (turn {self.turn}): {self.key}"


def facts_of(calls: Sequence[ToolCall], turn: int, before: int) -> list[Fact]:
    """The facts in the results of a turn's calls; ``before`` is how many calls came earlier."""
    found: list[Fact] = []
    for index, call in enumerate(calls):
        result = _parsed(call.result)
        if call.error is None and isinstance(result, dict | list):
            read = _walk(result, "", frozenset(), "", call.name, turn, before + index)
            found += [fact for fact, _ in zip(read, range(MOST), strict=False)]
    return found


def _parsed(result: Any) -> Any:
    if isinstance(result, str) and result.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(result)
        except (ValueError, RecursionError):
            return result
    return result


def _walk(
    value: Any, key: str, ids: frozenset[object], currency: str, tool: str, turn: int, call: int
) -> Iterator[Fact]:
    if isinstance(value, Mapping):
        own = frozenset(x for item in value.values() for x in _ids(item))
        code = str(value.get("currency", "")).lower()
        currency = CURRENCIES.get(code, currency)
        for name, item in value.items():
            yield from _walk(item, str(name), ids | own, currency, tool, turn, call)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _walk(item, key, ids, currency, tool, turn, call)
    elif value is not None and not isinstance(value, bool):
        text = as_written(value)
        words = frozenset(stem(part.lower()) for part in PARTS.findall(key)) - GENERIC
        values = tuple(find_values(text))
        yield Fact(key, words, value, values, ids, tool, turn, call, currency)


def _ids(item: Any) -> Iterator[object]:
    if isinstance(item, str) and len(item) <= 60:
        for value in find_values(item):
            if value.kind == "identifier" and len(value.text) == len(item.strip()):
                yield from value.readings


def as_written(value: Any) -> str:
    """A leaf of a result as a text would state it."""
    if isinstance(value, float):
        whole = value.is_integer() and abs(value) < 1e15
        return repr(int(value)) if whole else f"{value:.6f}".rstrip("0")
    return str(value)[:2000]
