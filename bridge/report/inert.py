"""Text of unknown origin made inert before a person, a terminal or a CI log sees it."""

from __future__ import annotations

import re

_INVISIBLE = (
    "\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Control, bidirectional and other characters that are not seen: C1, Cf, fillers, selectors."""

_CONTROL = re.compile(f"[\x00-\x1f{_INVISIBLE}]+")
_UNSEEN = re.compile(f"[{_INVISIBLE}]")
# GitHub reads ::command:: at the start of a line and ##[command] anywhere in it; Azure reads
# ##vso[...] and TeamCity ##teamcity[...].
_COMMAND = re.compile(r"(?<!\S):{2,}|#{2,}")
_BACKTICKS = re.compile("`+")


def one_line(text: object, limit: int = 200) -> str:
    """Text on one line, of at most ``limit`` characters, safe to print.

    Control, bidirectional and invisible characters go, and with them ANSI escapes; what a CI
    system would read as a command is broken by a blank.
    """
    whole = str(text)
    cleaned = " ".join(_CONTROL.sub(" ", whole[: 4 * limit]).split())
    cleaned = _COMMAND.sub(lambda match: " ".join(match[0]), cleaned)
    if len(cleaned) > limit or len(whole) > 4 * limit:
        return f"{cleaned[: limit - 1]}…"
    return cleaned


def code(text: object, limit: int = 200) -> str:
    """:func:`one_line` as a Markdown code span, also fit for a table cell; "" stays "".

    Nothing is read inside a code span: no link, image, mention, issue number or HTML.
    """
    shown = one_line(text, limit)
    if not shown:
        return ""
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    escaped = shown.replace("|", "\\|")
    return f"{fence}{pad}{escaped}{pad}{fence}"


def json_text(document: str) -> str:
    """A JSON document that is the same value, and as text on a terminal or in a CI log inert."""
    return _UNSEEN.sub(_json_escape, document).replace("##", "\\u0023\\u0023")


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
