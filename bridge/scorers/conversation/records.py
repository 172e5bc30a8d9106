"""An answer against what tools found: identifiers, fields of records, states and other words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from bridge.scorers.conversation.clauses import Clause, stem
from bridge.scorers.conversation.contradiction import Contradiction, contradiction
from bridge.scorers.conversation.facts import Fact
from bridge.scorers.conversation.memory import Memory
from bridge.scorers.conversation.values import Value

_CALLED = {
    "price cost amount": "cost price charge",
    "total": "total sum altogether cost gesamt insgesamt",
    "amount refund": "refund amount pay",
    "quantity": "stock left available pair piece unit quantity lager",
    "eta": "expect arrive arrival deliver delivery due eta",
    "restock": "back restock available return",
    "place": "place order",
    "balance": "balance",
    "rate": "rate",
}
SYNONYMS: Mapping[str, frozenset[str]] = {
    stem(key): frozenset(stem(word) for word in words.split())
    for keys, words in _CALLED.items()
    for key in keys.split()
}
"""What texts call the fields of records, stems both."""

SHORTEST_WORD, LONGEST_WORD = 4, 40
"""Characters of a value that is compared as a word."""


def wrong_identifiers(memory: Memory) -> Iterator[Contradiction]:
    """Identifiers that nothing named, one or two characters from one that was."""
    if not memory.complete:
        return
    known = {x for _, _, each in memory.sources if each.kind == "identifier" for x in each.readings}
    known |= {x for _, clause in memory.answers for x in clause.ids}
    found = any(fact.ids for fact in memory.facts)
    stated = [
        each for clause in memory.stated for each in clause.values if each.kind == "identifier"
    ]
    named = {x for each in stated for x in each.readings}
    for value in stated:
        (said,) = value.readings
        if said in known:
            continue
        near = [each for each in known if _near(str(said), str(each))]
        if near and (found or (len(near) == 1 and near[0] not in named)):
            original = str(min(near, key=str)).upper()
            yield contradiction("identifier", value.text, original, "what was named before is")


def _near(a: str, b: str) -> bool:
    if len(a) != len(b) or "@" in a or re.sub(r"\d", "9", a) != re.sub(r"\d", "9", b):
        return False
    return 0 < sum(x != y for x, y in zip(a, b, strict=True)) <= 2


def wrong_facts(memory: Memory) -> Iterator[Contradiction]:
    """Numbers and dates that a tool result gives otherwise, under the name that the answer uses."""
    for clause in memory.stated:
        if clause.negated or clause.asks or clause.bounded:
            continue
        facts = memory.newest(clause.ids)
        for value in clause.values:
            if value.kind == "identifier" or memory.supports(value) or memory.derives(value):
                continue
            named = [fact for fact in facts if _speaks_of(value, clause, fact)]
            if not named and value.kind == "date":
                named = _only_date(clause, facts)
            if named:
                fact = named[0]
                yield contradiction("tool_result", value.text, str(fact.value), f"{fact.source} is")


def _speaks_of(value: Value, clause: Clause, fact: Fact) -> bool:
    """Whether a clause gives a value under the name that a fact has."""
    if not fact.words or not any(each.kind == value.kind for each in fact.values):
        return False
    if len(fact.values) != 1 or len(fact.values[0].text) < len(str(fact.value).strip()) - 2:
        return False
    measured = value.unit in ("%", "mass", "length") or bool(fact.currency and value.unit.isupper())
    if measured and value.unit != fact.currency:
        return False
    called = clause.about | {stem(word) for word in re.findall(r"[a-zäöü]+", value.text.lower())}
    return all(word in called or SYNONYMS.get(word, frozenset()) & called for word in fact.words)


def _only_date(clause: Clause, facts: Iterable[Fact]) -> list[Fact]:
    """The one date that the records have, where the answer gives one date."""
    dated = [fact for fact in facts if len(fact.values) == 1 and fact.values[0].kind == "date"]
    stated = [value for value in clause.values if value.kind == "date"]
    return dated if len(dated) == 1 and len(stated) == 1 else []


def swapped_words(memory: Memory) -> Iterator[Contradiction]:
    """A state, place or other word that belongs to another record than the one spoken of."""
    vocabulary: dict[str, set[str]] = {}
    for fact in memory.facts:
        if (word := _word(fact)) is not None:
            vocabulary.setdefault(fact.key, set()).add(word)
    for clause in memory.stated:
        if len(clause.ids) != 1 or clause.negated or clause.hedged or clause.asks:
            continue
        yield from _swapped(clause, memory.newest(clause.ids), vocabulary)


def _swapped(
    clause: Clause, facts: list[Fact], vocabulary: Mapping[str, set[str]]
) -> Iterator[Contradiction]:
    own = {word for fact in facts if (word := _word(fact)) is not None}
    text = _plain(clause.text)
    for fact in facts:
        word = _word(fact)
        if word is None or _in(word, text):
            continue
        for other in sorted(vocabulary.get(fact.key, set()) - own):
            if _in(other, text):
                yield contradiction("tool_result", other, str(fact.value), f"{fact.source} is")
                break


def _word(fact: Fact) -> str | None:
    """A fact that is a word or a few, as it is compared."""
    if not isinstance(fact.value, str) or fact.values:
        return None
    word = _plain(fact.value)
    return word if SHORTEST_WORD <= len(word) <= LONGEST_WORD else None


def _plain(text: str) -> str:
    return " ".join(text.replace("_", " ").casefold().split())


def _in(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
