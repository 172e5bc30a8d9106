"""The prefilter: the injection scanner between the user and the system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bridge.model.output import Prefilter
from bridge.scorers.injection import scan, scanner_version

Mode = Literal["off", "flag", "block"]

SEVERITY = {"allow": 0, "flag": 1, "block": 2}


def screen(mode: Mode, text: str, history: Sequence[str] = ()) -> Prefilter | None:
    """Scan one user turn before the system sees it.

    What only an earlier turn gives away was dealt with then; what a turn completes counts.

    Args:
        mode: The suite's ``prefilter``.
        text: The turn.
        history: The user turns that the system saw before, oldest first.

    Returns:
        What was done; ``None`` if the prefilter is off.
    """
    if mode == "off":
        return None
    found = scan(text, "user", history)
    here = [match for match in found.matches if match.turn == 0]
    action = found.action if here else "allow"
    return Prefilter(
        action=action,
        blocked=mode == "block" and action == "block",
        score=found.score if here else 0.0,
        rules=tuple(dict.fromkeys(match.rule for match in here)),
        scanner_version=scanner_version(),
    )


def worst(done: Sequence[Prefilter | None]) -> Prefilter | None:
    """The most suspicious of several turns."""
    known = [each for each in done if each is not None]
    return max(known, key=lambda each: (SEVERITY[each.action], each.score), default=None)
