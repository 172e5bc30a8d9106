"""Text of unknown origin made inert before a person, a terminal or a CI log sees it."""

from __future__ import annotations

import re

_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]+"
)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+!|~:@&-])")


def one_line(text: object, limit: int = 200) -> str:
    """Text on one line, of at most ``limit`` characters, safe to print.

    Control, bidirectional and invisible characters go; ANSI escapes and CI commands at the start
    of a line need them, and so go too.
    """
    cleaned = " ".join(_CONTROL.sub(" ", str(text)[: 4 * limit]).split())
    return cleaned if len(cleaned) <= limit else f"{cleaned[: limit - 1]}…"


def markdown(text: object, limit: int = 200) -> str:
    """:func:`one_line` with every character that Markdown or HTML reads escaped."""
    return _MARKDOWN.sub(_escape, one_line(text, limit))


def _escape(match: re.Match[str]) -> str:
    char = match.group(1)
    if char in "<>&@|:":
        return f"&#{ord(char)};"
    return f"\\{char}"
