"""A contradiction: what was said, and what it goes against."""

from __future__ import annotations

from dataclasses import dataclass

SHOWN = 120


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What contradicts what.

    Attributes:
        kind: ``identifier``, ``tool_result``, ``earlier_answer``, ``user``, ``correction``,
            ``weekday`` or ``name``.
        said: The value, as the answer has it.
        against: The value that it contradicts.
        source: Where that one is from.
        reason: One sentence.
    """

    kind: str
    said: str
    against: str
    source: str
    reason: str


def contradiction(kind: str, said: str, against: str, source: str) -> Contradiction:
    """One with its sentence."""
    said, against = _cut(said), _cut(against)
    return Contradiction(kind, said, against, source, f"says {said}, but {source} {against}")


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
