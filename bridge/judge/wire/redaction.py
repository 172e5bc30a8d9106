"""Keys taken out of every text that reaches a row, a file or a log."""

from __future__ import annotations

import re

from bridge.model.redaction import REDACTED, SHAPES

SHORTEST = 8
"""Fewest characters of a key: replacing a shorter one would destroy the text around it."""

LONGEST = 300
"""Most characters of a server's words in an error."""

_CODES = re.compile(r"\b429\b|(?i:rate[ _-]?limit\w*|too many requests)")


def without_key(text: str, key: str) -> str:
    """A text with the key itself replaced."""
    return text.replace(key, REDACTED) if len(key) >= SHORTEST else text


def safe_excerpt(text: str, key: str) -> str:
    """A server's own words on one short line: no key of any known shape, no throttling code."""
    line = " ".join(without_key(text, key).split())
    line = _CODES.sub("throttling", SHAPES.sub(REDACTED, line))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
