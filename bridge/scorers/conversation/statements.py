"""An answer against what was said: by the system before, and by the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from bridge.scorers.conversation.clauses import Clause, stem
from bridge.scorers.conversation.contradiction import Contradiction, contradiction
from bridge.scorers.conversation.memory import Memory
from bridge.scorers.conversation.values import Value

ALIKE = 0.75
"""Least share of content words (Jaccard) that two statements about one thing have in common."""
SHARED = 2
"""Fewest of them."""

COUNTED = re.compile(r"(?:[\s-]+(?!(?:in|on|of|and|or|for|to|with|at|are|is)\b)[^\W\d_]{2,}){1,3}")
"""The words right after a number, up to the next small word."""
YOURS = re.compile(
    r"(?i)\b(?:your|you (?:have|had|said|mentioned|told (?:me|us)|gave)|ihre?n?|sie haben|"
    r"su|sus|usted tiene|tiene)\s+(?:\w+\s+){0,2}$"
)
MINE = re.compile(
    r"(?i)\b(?:i|i'm|i've|my|we|our|ich|mein\w*|wir|unser\w*|yo|tengo|mi|mis|nuestr\w*)\b"
)
CORRECTS = re.compile(
    r"(?i)\b(?:i meant?|meant|correction|typo|actually|make (?:it|that)|"
    r"change (?:it|that) to|wrong|mistake|not \S+ but|instead|ich mein\w*|"
    r"korrektur|doch|stattdessen|quise decir|perdón|mejor dicho|je voulais dire|plutôt)\b"
)
ADDS = re.compile(
    r"(?i)\b(?:also|too|another|as well|both|plus|auch|noch|beide|también|además|aussi)\b"
)
WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
WEEKDAY = re.compile(rf"(?i)\b({'|'.join(WEEKDAYS)})\b(?:,? (?:the )?)?$")


def changed_statements(memory: Memory) -> Iterator[Contradiction]:
    """A number or date that an earlier answer gave otherwise, in a statement about the same."""
    stated = [value for clause in memory.stated for value in clause.values]
    for clause in memory.stated:
        if clause.negated or clause.asks or clause.bounded:
            continue
        for value in clause.values:
            if value.kind == "identifier" or (value.kind == "number" and not value.unit):
                continue
            for turn, earlier in memory.answers:
                other = _other_value(clause, value, earlier)
                if other is None or any(other.agrees(each) for each in stated):
                    continue
                if not memory.supports(value, turn + 1, ("user", "tool")):
                    source = f"the answer of turn {turn} says"
                    yield contradiction("earlier_answer", value.text, other.text, source)


def _other_value(clause: Clause, value: Value, earlier: Clause) -> Value | None:
    """The value that an earlier statement about the same thing has in place of this one."""
    if earlier.negated or earlier.asks or earlier.bounded or clause.ids != earlier.ids:
        return None
    shared = clause.about & earlier.about
    if len(shared) < SHARED or len(shared) < ALIKE * len(clause.about | earlier.about):
        return None
    alike = [each for each in earlier.values if (each.kind, each.unit) == (value.kind, value.unit)]
    if len(alike) != 1 or value.agrees(alike[0]):
        return None
    mine = [each for each in clause.values if each is not value]
    theirs = [each for each in earlier.values if each is not alike[0]]
    same = len(mine) == len(theirs) and all(any(a.agrees(b) for b in theirs) for a in mine)
    return alike[0] if same else None


def misquoted_user(memory: Memory) -> Iterator[Contradiction]:
    """``your 300 points`` to a user who said ``I have 400 points``."""
    told = [
        (turn, value)
        for turn, clause in memory.users
        if MINE.search(clause.text) and not clause.asks and not clause.negated
        for value in clause.values
        if value.kind == "number"
    ]
    for clause in memory.stated:
        for value in clause.values:
            if value.kind != "number" or clause.negated or clause.bounded:
                continue
            if YOURS.search(clause.text[max(0, value.start - 60) : value.start]) is None:
                continue
            noun = _noun(clause.text, value)
            same = [(t, v) for t, v in told if _noun_of(memory, t, v) == noun and noun]
            if same and not memory.supports(value) and not memory.derives(value):
                turn, other = same[-1]
                said = value.text if value.unit else f"{value.text} {noun}"
                yield contradiction("user", said, other.text, f"the user said in turn {turn}")


def _noun(text: str, value: Value) -> str:
    """What a number counts: its unit, or the last of the words after it that go together."""
    if value.unit:
        return value.unit
    after = COUNTED.match(text, value.end)
    return stem(after[0].casefold().split()[-1]) if after else ""


def _noun_of(memory: Memory, turn: int, value: Value) -> str:
    for said, clause in memory.users:
        if said == turn and any(each is value for each in clause.values):
            return _noun(clause.text, value)
    return ""


def missed_corrections(memory: Memory) -> Iterator[Contradiction]:
    """The value that a user corrected, where the answer should have the corrected one."""
    now = [clause for turn, clause in memory.users if turn == memory.turn]
    text = " ".join(clause.text for clause in now)
    values = [value for clause in now for value in clause.values]
    if memory.turn == 0 or len(values) != 1 or not CORRECTS.search(text) or ADDS.search(text):
        return
    (new,) = values
    before = [
        value
        for said, clause in memory.users
        if said < memory.turn
        for value in clause.values
        if value.kind == new.kind and _shape(value) == _shape(new)
    ]
    stated = [(clause, value) for clause in memory.stated for value in clause.values]
    if not before or before[-1].agrees(new) or any(new.agrees(value) for _, value in stated):
        return
    for clause, value in stated:
        if value.agrees(before[-1]) and not clause.negated and not clause.bounded:
            yield contradiction("correction", value.text, new.text, "the user has corrected it to")
            return


def _shape(value: Value) -> str:
    """What makes a corrected value one of the same sort: its unit, or its letters and digits."""
    if value.kind == "identifier":
        (text,) = value.readings
        return "@" if "@" in str(text) else re.sub(r"\d", "9", str(text))
    return value.unit


def wrong_weekdays(memory: Memory) -> Iterator[Contradiction]:
    """``Friday, 30 June 2026``, which is a Tuesday."""
    for clause in memory.stated:
        for value in clause.values:
            if value.kind != "date" or len(value.readings) != 1:
                continue
            (parts,) = value.readings
            found = WEEKDAY.search(clause.text[max(0, value.start - 20) : value.start])
            if found is None or not isinstance(parts, tuple) or parts[0] is None:
                continue
            right = WEEKDAYS[date(*parts).weekday()]
            if found[1].lower() != right:
                yield contradiction("weekday", found[1], right.title(), f"{value.text} is a")
