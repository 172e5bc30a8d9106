"""Examples in the words of a reason."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 5
"""Names shown of a list."""


def few(names: Sequence[str]) -> str:
    """The first names of a list in brackets, and how many more there are; "" of none."""
    if not names:
        return ""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f" ({', '.join(names[:SHOWN])}{more})"
