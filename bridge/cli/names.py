"""Names that an option takes several of."""

from __future__ import annotations


def names_in(text: str) -> tuple[str, ...]:
    """Comma-separated names in their order, each once; spaces and empty ones are passed over."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
