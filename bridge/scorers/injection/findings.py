"""What a scan answers: matches with their places, and what to do about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bridge.scorers.injection.rules import Severity

Action = Literal["allow", "flag", "block"]

KEPT_MATCHES = 200
"""Most matches of a result."""
KEPT_TEXT = 500
"""Most characters of a match's text."""


@dataclass(frozen=True, slots=True)
class Match:
    """One place where one rule matched.

    Attributes:
        rule: the rule's id.
        category: the kind of attack.
        severity: the rule's, one step up where the text had to be decoded to match.
        start: first character, in the turn's original text.
        end: one past the last character; for decoded text the whole encoded part.
        text: what matched, as it was read (at most 500 characters).
        how: ``plain``, ``normalised``, ``homoglyphs``, ``leet``, ``typos``, ``spaced``, or the
            encoding: ``base64``, ``hex``, ``rot13``, ``reversed``, ``tags``, ...
        owasp: entry of the OWASP Top 10 for LLM applications, 2025.
        turn: 0 for the scanned text, -1 for the last turn of the history, -2 for the one before.
        split: whether it began in an earlier turn; the span is then its part in ``turn``.
    """

    rule: str
    category: str
    severity: Severity
    start: int
    end: int
    text: str
    how: str
    owasp: str
    turn: int = 0
    split: bool = False


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What a scan found.

    Attributes:
        action: ``allow``, ``flag`` (let a person or a second stage look), or ``block``.
        severity: the highest of the matches; None without matches.
        score: suspicion in [0, 1]. Of rules alone: noisy-or over those that matched near each
            other, and a tenth of what is left up to 1 for the share of the text that matched, so
            that equal evidence ranks higher where it is most of the text. With the second stage,
            what that makes of rules and wording together.
        categories: of the matches, sorted.
        matches: by turn, start and rule; at most 200. In more than 65,536 characters, the search
            ends where it is sure of ``block``.
    """

    action: Action
    severity: Severity | None
    score: float
    categories: tuple[str, ...]
    matches: tuple[Match, ...]


CLEAN = ScanResult("allow", None, 0.0, (), ())
"""Nothing was found."""


def place(match: Match) -> tuple[int, int, str]:
    """What matches are sorted by."""
    return match.turn, match.start, match.rule
