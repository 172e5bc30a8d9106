"""A text as clauses: what each is about, what it states, and whether it means it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from bridge.scorers.conversation.values import READ, Value, find_values

BREAK = re.compile(
    r"(?<=[.!?…])\s+|[;\n]+|\s[–—-]\s"
    r"|,\s+(?=(?:but|however|while|whereas|although|and it|and they|aber|pero|mais)\b)"
)
WORD = re.compile(r"[^\W\d_]+")

NEGATION = re.compile(
    r"(?i)\b(?:not|no|never|without|instead of|rather than|nicht|kein\w*|nie|statt|nunca|sin|"
    r"en lugar de|pas|jamais|cannot|neither|nor|wrong|incorrect|unlike)\b|n['’]t\b"
)
HEDGE = re.compile(
    r"(?i)\b(?:if|unless|would|could|should|may|might|can|will|was|were|had|used to|previous\w*|"
    r"earlier|former\w*|old|until|before|after|once|when|soon|example|e\.g|between|from|at least|"
    r"at most|up to|minimum|maximum|over|under|less than|more than|about|around|approximately|"
    r"roughly|nearly|almost|typically|usually|normally|estimate\w*|other|another|"
    r"wenn|falls|wird|werden|könnte|bis zu|mindestens|höchstens|etwa|ungefähr|"
    r"si|hasta|podría|aproximadamente|unos|environ)\b|≈|~|<|>|≥|≤"
)
"""What makes a statement one of another time, of a condition, or of about a value."""
BOUND = re.compile(
    r"(?i)\b(?:between|from|at least|at most|up to|minimum|maximum|over|under|less than|more than|"
    r"about|around|approximately|roughly|nearly|almost|was|were|had|used to|previous\w*|earlier|"
    r"former\w*|old|if|unless|would|could|might|example|bis zu|mindestens|höchstens|etwa|ungefähr|"
    r"wenn|falls|hasta|aproximadamente|unos|environ)\b|≈|~|<|>|≥|≤"
)
"""The hedges that concern a value itself."""
RANGE = re.compile(r"\d\s?[-–—]\s?\d|\b(?:to|bis|and|und|y|a|à)\s+\d")


_STOP = """
a an the is are was were be been being am do does did have has had i you he she it we they me him
her us them my your his its our their this that these those there here of in on at to for by with
from as and or but so than then too also very just only still already now again will can could
would should may might must shall if not no yes please thanks thank hello hi ok okay within about
up per each any every all some which what when where who how
der die das ein eine einen einem einer ist sind war und oder aber in im am an auf zu zum zur für
mit von vom nach bei sie ich wir ihr ihre ihren ihnen es nicht auch noch
el la los las un una unos unas es son fue y o pero en de del al a para por con su sus se que
le les est sont et ou mais dans du des au aux pour avec votre vos
"""
STOP = frozenset(_STOP.split())
ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "en", "s", "e")
"""Word endings, longer ones before those that they end in."""


@dataclass(frozen=True)
class Clause:
    """A part of a text that states something.

    Attributes:
        text: As it was written.
        values: What it states.
        about: Its content words, cut to their stems; without the values.
    """

    text: str
    values: tuple[Value, ...]
    about: frozenset[str]

    @cached_property
    def negated(self) -> bool:
        """Whether something in it is denied."""
        return NEGATION.search(self.text) is not None

    @cached_property
    def hedged(self) -> bool:
        """Whether it speaks of another time, a condition, or roughly."""
        return HEDGE.search(self.text) is not None

    @cached_property
    def bounded(self) -> bool:
        """Whether its values are bounds, ranges, or of another time."""
        text = list(self.text)
        for value in self.values:
            if value.kind != "number":
                text[value.start : value.end] = " " * (value.end - value.start)
        bare = "".join(text)
        return BOUND.search(bare) is not None or RANGE.search(bare) is not None

    @cached_property
    def asks(self) -> bool:
        """Whether it is a question."""
        return self.text.rstrip().endswith("?")

    @cached_property
    def ids(self) -> frozenset[object]:
        """The identifiers it names."""
        return frozenset(
            x for each in self.values if each.kind == "identifier" for x in each.readings
        )


def clauses(text: str) -> list[Clause]:
    """The clauses of a text, in order."""
    found = []
    for part in map(str.strip, BREAK.split(text[:READ])):
        if part:
            values = tuple(find_values(part))
            found.append(Clause(part, values, about(part, values)))
    return found


def about(text: str, values: tuple[Value, ...] = ()) -> frozenset[str]:
    """Stems of the content words of a text outside its values."""
    characters = list(text)
    for value in values:
        characters[value.start : value.end] = " " * (value.end - value.start)
    words = WORD.findall("".join(characters).casefold())
    return frozenset(stem(word) for word in words if word not in STOP and len(word) > 1)


def stem(word: str) -> str:
    """A word without its commonest endings; crude, and the same for both sides of a comparison."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
