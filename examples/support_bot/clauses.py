"""A message cut into clauses, each of which asks for at most one thing."""

from __future__ import annotations

import re
from dataclasses import dataclass

import slots

_QUOTE = re.compile(r"[\"“«]([^\"”»]+)[\"”»]")
_NOT_THIS = re.compile(r"(?i)\bnot (?:FO-\d{5}|NP\d{9}NO|[A-Z]{3}-\d{3}),?\s*")
_TAKEN_BACK = re.compile(r"(?i)^.*\bno, sorry\b.*?\bI mean\b")
_CUT = re.compile(
    r"(?i)(?<=[.!?])\s+|;\s+|,?\s+and (?=if\b|then\b|track\b|cancel\b|tell me\b)"
    r"|,\s+and (?=where\b|what\b)"
)
_CONDITION = re.compile(r"(?i)^(?:and )?(?:if|once) ([^,]+), (.+)$")
_HANDS_OFF = re.compile(
    r"(?i)\b(?:do not cancel|don't cancel|only explain|must stay|forget about|keeping the order"
    r"|not decided)\b"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a message.

    Attributes:
        text: The clause with quotations left out.
        message: The whole message, quotations left out, to find what the clause leaves unsaid.
        quotes: Quotations, which are passed on and never read as a wish.
        condition: What has to hold first, as in `if it is lost`.
        language: `en`, `de` or `es`.
    """

    text: str
    message: str
    quotes: tuple[str, ...]
    condition: str
    language: str

    def says(self, pattern: str) -> bool:
        """Whether a pattern occurs in the clause, in either case."""
        return re.search(f"(?i){pattern}", self.text) is not None

    @property
    def asks(self) -> bool:
        """Whether the clause is a question."""
        return self.text.rstrip().endswith("?")

    @property
    def hands_off(self) -> bool:
        """Whether the message asks that nothing be changed."""
        return _HANDS_OFF.search(self.message) is not None

    @property
    def order_ids(self) -> list[str]:
        """Order numbers of the clause, or else of the message."""
        return slots.order_ids(self.text) or slots.order_ids(self.message)


def cut(message: str) -> list[Clause]:
    """The clauses of a message, without what it takes back."""
    quotes = tuple(_QUOTE.findall(message))
    said = _QUOTE.sub("that", message).replace("no. FO", "FO")
    said = _TAKEN_BACK.sub("Track", _NOT_THIS.sub("", said))
    language = slots.language(said)
    return [
        _clause(text.strip(), said, quotes, language) for text in _CUT.split(said) if text.strip()
    ]


def _clause(text: str, said: str, quotes: tuple[str, ...], language: str) -> Clause:
    found = _CONDITION.match(text)
    condition, wish = found.groups() if found else ("", text)
    return Clause(wish, said, quotes, condition, language)
