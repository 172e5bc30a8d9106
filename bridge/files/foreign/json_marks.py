"""The marks of JSON text that stand outside its texts: brackets, commas; as columns of numpy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
Kinds = NDArray[np.uint8]

_QUOTE, _BACKSLASH = 254, 255


class Marks:
    """Finds marks in JSON text that comes in chunks.

    Args:
        kinds: The marks, each with a number from 1 to 253.

    Attributes:
        quoted: Whether the text so far ends inside a text.
    """

    def __init__(self, kinds: Mapping[str, int]) -> None:
        table = bytearray(256)
        for mark, kind in {**kinds, '"': _QUOTE, "\\": _BACKSLASH}.items():
            table[ord(mark)] = kind
        self._table = bytes(table)
        self.quoted = False
        self._escaping = False

    def outside(self, chunk: bytes) -> tuple[Places, Kinds]:
        """Place and kind of each mark outside texts in the next bytes."""
        kind = np.frombuffer(chunk.translate(self._table), np.uint8)
        place = np.flatnonzero(kind != 0)  # a mask of truth values: numpy's quickest
        kind = kind[place]
        quotes = (kind == _QUOTE) & ~self._escaped(place, kind, len(chunk))
        inside = (np.cumsum(quotes, dtype=np.uint8) + self.quoted) & 1  # odd is odd, wrapped or not
        if len(inside):
            self.quoted = bool(inside[-1])
        outside = (kind < _QUOTE) & (inside == 0)
        return place[outside], kind[outside]

    def _escaped(self, place: Places, kind: Kinds, length: int) -> NDArray[np.bool_]:
        """Which of the characters stand behind a backslash that escapes them."""
        slash = kind == _BACKSLASH
        carried, self._escaping = self._escaping, self._escaping and not length
        first = carried and len(place) > 0 and place[0] == 0
        found = np.zeros(len(place), bool)
        found[:1] = first
        if not slash.any():
            return found
        behind = np.diff(place) == 1
        fresh = slash.copy()
        fresh[1:] &= ~(slash[:-1] & behind)
        index = np.arange(len(place))
        start = np.maximum.accumulate(np.where(fresh, index, 0))
        escapes = slash & (((index - start + (first & (start == 0))) & 1) == 0)
        found[1:] = escapes[:-1] & behind
        self._escaping = bool(escapes[-1]) and int(place[-1]) == length - 1
        return found


def count_leaves_of(texts: Iterable[bytes]) -> int:
    """How many values some JSON documents hold that hold no others, without parsing them.

    A list or object of ``n`` items has ``n - 1`` commas, so that a document has one leaf more than
    it has commas outside its texts.
    """
    count = 0
    for text in texts:
        count += 1 + len(Marks({",": 1}).outside(text)[0])
    return count
