"""Where a case stands: ``path:line`` taken apart, for tools that point at it."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import NamedTuple
from urllib.parse import quote


class Place(NamedTuple):
    """A line of a file; ``line`` is 1-based, ``None`` where it is not known."""

    path: str
    line: int | None

    @property
    def uri(self) -> str:
        """The path as a URI reference: relative paths stay relative."""
        pure = PurePath(self.path)
        return Path(self.path).as_uri() if pure.is_absolute() else quote(pure.as_posix())


def place_of(where: str | None) -> Place | None:
    """The place that ``path:line`` names; ``None`` where nothing is named."""
    if not where:
        return None
    path, colon, line = where.rpartition(":")
    if colon and line.isascii() and line.isdigit() and path:
        return Place(path, int(line))
    return Place(where, None)
