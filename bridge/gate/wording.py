"""Counts and examples in the words of a reason."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 5
"""Names shown of a list."""


def count(number: int, noun: str) -> str:
    """``1 row``, ``2 rows``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def few(names: Sequence[str]) -> str:
    """The first names of a list in brackets, and how many more there are; "" of none."""
    if not names:
        return ""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f" ({', '.join(names[:SHOWN])}{more})"
