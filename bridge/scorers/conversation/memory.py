"""What is known when an answer is given: who said what, and what tools found."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from bridge.model.message import as_text
from bridge.scorers.conversation.clauses import Clause, clauses
from bridge.scorers.conversation.dialogue import Exchange
from bridge.scorers.conversation.facts import Fact, facts_of
from bridge.scorers.conversation.values import Value, find_values

MOST_NUMBERS = 60
"""Most known numbers that others are derived from."""
MOST_SOURCES, MOST_CLAUSES = 2_000, 200
"""Most values and clauses that an answer is held against, the newest; and most of its own."""
SMALLEST_DERIVED = 20
"""Least number that may follow from others; small ones would follow from anything."""

Said = tuple[int, Clause]
"""(turn, clause)."""


@dataclass(frozen=True)
class Memory:
    """A dialogue up to an answer.

    Attributes:
        now: The exchange to score.
        turn: Its number, 0-based.
        stated: The clauses of its answer.
        answers: Clauses of earlier answers, oldest first.
        users: Clauses of the users, this turn's last.
        facts: What tools found, oldest first, this turn's last.
        calls: For each call of the dialogue, the identifiers that it is asked about.
        sources: Values from tool results and arguments, users and passages, with their turn.
        complete: Whether every call has a result or an error.
    """

    now: Exchange
    turn: int
    stated: tuple[Clause, ...]
    answers: tuple[Said, ...]
    users: tuple[Said, ...]
    facts: tuple[Fact, ...]
    calls: tuple[frozenset[object], ...]
    sources: tuple[tuple[int, str, Value], ...]
    complete: bool

    @property
    def has_values(self) -> bool:
        """Whether the answer states a number, date or identifier."""
        return any(clause.values for clause in self.stated)

    @property
    def has_past(self) -> bool:
        """Whether any was stated or found before."""
        said = any(clause.values for _, clause in self.answers)
        return said or bool(self.sources or self.facts)

    def supports(self, value: Value, since: int = 0, kinds: Sequence[str] = ("all",)) -> bool:
        """Whether a source of turn ``since`` or later states a value."""
        return any(
            turn >= since and (kinds == ("all",) or kind in kinds) and value.agrees(known)
            for turn, kind, known in self.sources
        )

    def derives(self, value: Value) -> bool:
        """Whether a number is a sum, difference, product or quotient of known ones."""
        wanted = [x for x in value.bare if isinstance(x, float) and abs(x) >= SMALLEST_DERIVED]
        if value.kind != "number" or not wanted:
            return False
        return any(_near(want, self._made) for want in wanted)

    @cached_property
    def _made(self) -> list[float]:
        """What follows from known numbers, sorted: of two of them, or of all under one name."""
        known = dict.fromkeys(
            x for _, _, each in self.sources for x in each.bare if isinstance(x, float) and x
        )
        made = [number * factor for number in known for factor in (2, 3, 4, 5, 6, 10, 12)]
        for a, b in combinations(list(known)[-MOST_NUMBERS:], 2):
            share = a * b / 100
            made += (a + b, a - b, b - a, a * b, a / b, b / a)
            made += (share, a - share, b - share, a + share, b + share)
        sums: dict[tuple[str, int], float] = {}
        for fact in self.facts:
            if isinstance(fact.value, int | float):
                key = (fact.key, fact.call)
                sums[key] = sums.get(key, 0.0) + fact.value
        return sorted([*made, *sums.values()])

    def newest(self, ids: frozenset[object]) -> list[Fact]:
        """Facts of the records with one of these identifiers, from the last call about them.

        That is the last one asked about such an identifier, or else the last one to find it.
        Without identifiers, the facts of this turn.
        """
        if not ids:
            return [fact for fact in self.facts if fact.turn == self.turn]
        found = [fact for fact in self.facts if fact.ids & ids]
        asked = [index for index, named in enumerate(self.calls) if named & ids]
        last = asked[-1] if asked else max((fact.call for fact in found), default=-1)
        return [fact for fact in found if fact.call == last]


def _near(wanted: float, made: Sequence[float]) -> bool:
    """Whether a number is among others but for rounding."""
    slack = 0.5 if wanted.is_integer() else 0.011
    index = bisect_left(made, wanted - slack)
    return index < len(made) and made[index] <= wanted + slack


def remember(dialogue: Sequence[Exchange]) -> Memory:
    """The memory of a dialogue whose last answer is to be scored."""
    now, turn = dialogue[-1], len(dialogue) - 1
    facts: list[Fact] = []
    calls: list[frozenset[object]] = []
    for index, exchange in enumerate(dialogue):
        found = facts_of(exchange.calls, index, len(calls))
        calls += [_ids(find_values(as_text(call.arguments))) for call in exchange.calls]
        facts += found
    users = [(i, each) for i, past in enumerate(dialogue) for each in clauses(past.user)]
    answers = [(i, each) for i, past in enumerate(dialogue[:-1]) for each in clauses(past.answer)]
    return Memory(
        now=now,
        turn=turn,
        stated=tuple(clauses(now.answer))[:MOST_CLAUSES],
        answers=tuple(answers)[-MOST_CLAUSES:],
        users=tuple(users)[-MOST_CLAUSES:],
        facts=tuple(facts),
        calls=tuple(calls),
        sources=tuple(dict.fromkeys(_sources(dialogue)))[-MOST_SOURCES:],
        complete=all(
            call.result is not None or call.error is not None
            for exchange in dialogue
            for call in exchange.calls
        ),
    )


def _ids(values: Sequence[Value]) -> frozenset[object]:
    return frozenset(x for each in values if each.kind == "identifier" for x in each.readings)


def _sources(dialogue: Sequence[Exchange]) -> Iterator[tuple[int, str, Value]]:
    for turn, exchange in enumerate(dialogue):
        texts = [("user", exchange.user)]
        for call in exchange.calls:
            texts += [("tool", as_text(call.arguments)), ("tool", as_text(call.result or ""))]
            texts.append(("tool", call.error or ""))
        texts += [("passage", context) for context in exchange.contexts]
        for kind, text in texts:
            yield from ((turn, kind, value) for value in find_values(text))
