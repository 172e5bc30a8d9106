"""Texts that speak to the judge instead of to the user: found before the judge reads them.

The injection scanner knows attacks on a system. What is added here is meant for a grader: demands
for a mark, words to the evaluator, a verdict spelled as the judge would spell it, and imitations of
the fence around the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import re2

from bridge.scorers.injection import scan

SCANNED = 10
"""How many times as much of a text is searched as is shown of it."""

MOST = 1_000_000
"""Most characters searched."""

_JUDGE = r"(?:judge|grader|evaluator|examiner|reviewer|assessor|scorer|marker)s?"
_MARK = r"(?:score|grade|mark|rating|points?|rate|verdict)"
_TOP = (
    r"(?:10\s*(?:/|out\s+of)\s*10|100\s*%|full|max(?:imum)?|highest|top|perfect|best\s+possible"
    r"|excellent|pass(?:ed|ing)?|correct)"
)
_PATTERNS = {
    "demands-a-mark": (
        rf"(?i)\b(?:give|award|assign|grant|return|output|rate|score|grade|mark|deserves?|merits?)\b"
        rf"[^.\n]{{0,60}}\b(?:{_TOP}\s+{_MARK}|{_MARK}\b[^.\n]{{0,20}}\b{_TOP}|10\s*(?:/|out\s+of)\s*10)"
    ),
    "speaks-to-the-judge": (
        rf"(?i)(?:\b(?:note|message|instructions?|reminder|attention)\s+(?:to|for)\s+(?:the\s+)?"
        rf"{_JUDGE}\b|\b(?:dear|as\s+(?:an?|the|your))\s+{_JUDGE}\b|\bthe\s+{_JUDGE}\s+(?:must|"
        rf"should|has\s+to)\b)"
    ),
    "sets-the-rubric-aside": (
        r"(?i)\b(?:ignore|disregard|forget|skip|override|set\s+aside)\b[^.\n]{0,40}"
        r"\b(?:rubric|criteria|criterion|grading|scoring|reference\s+(?:answer|solution)s?)\b"
    ),
    "spells-a-verdict": (
        r'(?i)"(?:score|grade|verdict|rationale)"\s*:|^\s*(?:final\s+)?(?:score|grade|verdict)\s*[:=]'
        r"\s*(?:\d+(?:\s*/\s*\d+)?|pass|correct|c|excellent)\s*$|\[\[(?:\d+|[ab])\]\]|\bGRADE:\s*[CPI]\b"
    ),
    "imitates-the-fence": (
        r"(?i)</?\s*(?:answer|reference|rubric|question)\b[^>\n]{0,40}>"
        r"|\b(?:BEGIN|END)\s+(?:ANSWER|DATA|TEXT)\b|\[/?\s*data-[0-9a-f]{4,}"
    ),
}
_COMPILED = {name: re2.compile(f"(?m){pattern}") for name, pattern in _PATTERNS.items()}


@dataclass(frozen=True, slots=True)
class Sway:
    """What in a text is meant for its judge.

    Attributes:
        rules: Names of the rules that matched, each once.
        action: The injection scanner's: ``allow``, ``flag`` or ``block``.
    """

    rules: tuple[str, ...]
    action: str

    @property
    def found(self) -> bool:
        """Whether a score given on this text is to be flagged."""
        return bool(self.rules)

    @property
    def said(self) -> str:
        """What a reason says of it; "" where nothing was found."""
        return "; the answer speaks to its judge: flagged" if self.found else ""


def find_sway(text: str, shown: int = MOST // SCANNED) -> Sway:
    """Look for words that would sway a judge; linear in the text's length.

    Args:
        text: What is judged.
        shown: Most characters of it that the judge is shown: ten times as many are searched.
    """
    text = text[: min(MOST, SCANNED * shown)]
    own = [name for name, pattern in _COMPILED.items() if pattern.search(text)]
    scanned = scan(text, "tool")
    hits = [match.rule for match in scanned.matches] if scanned.action != "allow" else []
    return Sway(tuple(dict.fromkeys([*own, *hits])), scanned.action)


def flags(sway: Sway, cut: Sequence[str]) -> dict[str, Any]:
    """What a score's details say of a text that a judge was shown: words to it, parts left out."""
    said: dict[str, Any] = {}
    if sway.found:
        said["sway"] = {"rules": list(sway.rules), "scanner": sway.action}
    if cut:
        said["cut"] = list(cut)
    return said
