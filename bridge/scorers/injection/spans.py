"""Ways back from a position in a rewritten text to the text it was made from.

A view of a text (folded, decoded, reversed, ...) keeps one of these functions so that a match in
the view is reported where it stands in the original.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain, islice
from typing import NamedTuple

import re2

CUT = "\n.\n"
"""Stands for what a view leaves out; no rule matches across it."""

Spans = Callable[[int, int], tuple[int, int]]
"""Maps a half-open span of the view to a half-open span of its source."""


class Edit(NamedTuple):
    """One fragment of a source text that a view replaces.

    Attributes:
        start: first character of the fragment in the source.
        end: one past the last character of the fragment in the source.
        text: what stands there in the view.
        how: the name of the rewriting, such as ``base64``.
    """

    start: int
    end: int
    text: str
    how: str


def same(start: int, end: int) -> tuple[int, int]:
    """The span itself, for views that keep every character in its place."""
    return start, end


def backwards(length: int) -> Spans:
    """Spans of a text of ``length`` characters read from its end."""
    return lambda start, end: (length - end, length - start)


def then(inner: Spans, outer: Spans) -> Spans:
    """First ``inner`` (view to parent), then ``outer`` (parent to source)."""
    return lambda start, end: outer(*inner(start, end))


def apply(source: str, edits: Sequence[Edit]) -> str:
    """``source`` with every fragment replaced; ``edits`` are sorted and do not overlap."""
    pieces: list[str] = []
    position = 0
    for edit in edits:
        pieces += (source[position : edit.start], edit.text)
        position = edit.end
    pieces.append(source[position:])
    return "".join(pieces)


def with_cuts(edits: Sequence[Edit], length: int, near: int) -> list[Edit]:
    """``edits`` and, where more than ``near`` characters on both sides is left, cuts.

    Args:
        edits: sorted and apart from each other.
        length: of the source.
        near: characters kept on each side of an edit.
    """
    kept: list[Edit] = []
    position = -near
    for edit in (*edits, Edit(length + near, length + near, "", "")):
        if edit.start - position > 4 * near:
            kept.append(Edit(position + near, edit.start - near, CUT, ""))
        kept.append(edit)
        position = edit.end
    return kept[:-1]


def edited(edits: Sequence[Edit]) -> Spans:
    """Spans of ``apply(source, edits)``; a part of a fragment maps to the whole fragment."""
    if not edits:
        return same
    grown = list(accumulate(len(edit.text) - (edit.end - edit.start) for edit in edits))
    starts = [edit.start + before for edit, before in zip(edits, [0, *grown], strict=False)]

    def locate(position: int, last: bool) -> int:
        index = bisect_right(starts, position) - 1
        if index < 0:
            return position
        edit = edits[index]
        if position < starts[index] + len(edit.text):
            return edit.end - 1 if last else edit.start
        return position - grown[index]

    return lambda start, end: (locate(start, False), locate(end - 1, True) + 1)


def touching(edits: Sequence[Edit]) -> Callable[[int, int], Edit | None]:
    """A function from a span of the source to the first edit that overlaps it, or None."""
    ends = [edit.end for edit in edits]

    def first(start: int, end: int) -> Edit | None:
        index = bisect_right(ends, start)
        return edits[index] if index < len(edits) and edits[index].start < end else None

    return first


def chunked(source: str, lengths: Sequence[int], size: int, fold: Callable[[str], str]) -> Spans:
    """Spans of a text folded character by character in chunks of ``size`` source characters.

    Args:
        source: the text before folding.
        lengths: the length of each folded chunk.
        size: source characters in a chunk.
        fold: the folding of one character or chunk; it must not look at neighbours.
    """
    ends = list(accumulate(lengths))

    @lru_cache(maxsize=256)
    def locate(position: int) -> int:
        index = min(bisect_right(ends, position), len(ends) - 1)
        rest = position - (ends[index - 1] if index else 0)
        offset = index * size
        for character in source[offset : offset + size]:
            rest -= len(fold(character))
            if rest < 0:
                break
            offset += 1
        return min(offset, len(source) - 1)

    return lambda start, end: (locate(start), locate(end - 1) + 1) if source else (0, 0)


def in_characters(data: bytes, offsets: Iterable[int]) -> dict[int, int]:
    """Byte offsets of UTF-8 ``data`` and the character offsets they stand for, in one pass."""
    characters: dict[int, int] = {}
    position = count = 0
    for offset in sorted(set(offsets)):
        count += len(data[position:offset].decode("utf-8", "replace"))
        characters[offset] = count
        position = offset
    return characters


def find(pattern: re2._Regexp, text: str, most: int | None = None) -> list[tuple[int, int]]:
    """Spans of the first ``most`` matches; faster than a search of the ``str`` itself."""
    data = text.encode()
    found = [match.span() for match in islice(pattern.finditer(data), most)]
    if len(data) == len(text):
        return found
    at = in_characters(data, chain.from_iterable(found))
    return [(at[start], at[end]) for start, end in found]
