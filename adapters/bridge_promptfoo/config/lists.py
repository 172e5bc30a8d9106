"""Comma-separated lists, as promptfoo reads them in a cell and in an assertion's value."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FIELD = re.compile(r'"((?:[^"\\]|""|\\.)*)"\s*|([^,]*)', re.DOTALL)


def comma_separated(text: str) -> Iterator[str]:
    """The items of a comma-separated list in which an item may be quoted, empty ones left out.

    Raises:
        ValueError: If a quoted item does not end, or something follows it.
    """
    place = 0
    while True:
        while place < len(text) and (text[place] == "," or text[place].isspace()):
            place += 1
        if place >= len(text):
            return
        match = _FIELD.match(text, place)
        if match is None or (text[place] == '"' and match[1] is None):
            raise ValueError("a quoted item without an end")
        place = match.end()
        if match[1] is not None:
            if place < len(text) and text[place] != ",":
                raise ValueError("something follows a quoted item")
            yield re.sub(r'\\(["\\])|""', lambda found: found[1] or '"', match[1])
        else:
            yield match[2].strip()
