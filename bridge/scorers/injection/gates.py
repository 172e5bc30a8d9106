"""Where in long text any rule may match: a few joined patterns instead of every rule by itself.

A pattern costs about 2 ms a megabyte, whatever it finds. Rules are joined four to a gate, those
for languages other than English twelve: more in one would need more automaton states than
``max_mem`` holds, and fewer would read the text more often (measured on prose and on shuffled words
of the rules). A gate matches where any of its rules does, so only the lines around its matches are
left to look at, for its own rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

import re2

from bridge.scorers.injection.rules import Rule, options

_RULES, _FOREIGN_RULES = 4, 12
_MEMORY = 64 << 20
_MOST_MATCHES = 2_048
_MARGIN = 512


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of the text, in bytes, and whether each of its ends is the end of a line."""

    start: int
    end: int
    opens: bool
    closes: bool


def _is_foreign(rule: Rule) -> bool:
    return not {"en", "mul"} & set(rule.languages)


def _groups(patterns: Sequence[tuple[Rule, str]]) -> Iterator[list[int]]:
    """Indices of ``patterns`` that go into one gate."""
    foreign = [index for index, (rule, _) in enumerate(patterns) if _is_foreign(rule)]
    yield from _dealt(foreign, _FOREIGN_RULES)
    native = [index for index, (rule, _) in enumerate(patterns) if not _is_foreign(rule)]
    for _, same in groupby(native, key=lambda index: patterns[index][0].category):
        yield from _dealt(list(same), _RULES)


def _dealt(indices: list[int], most: int) -> Iterator[list[int]]:
    """``indices`` dealt out to as few lists of at most ``most`` as hold them."""
    count = -(-len(indices) // most)
    return (indices[first::count] for first in range(count))


class Gates:
    """The joined patterns of some rules, which come sorted by category."""

    def __init__(self, patterns: Sequence[tuple[Rule, str]]) -> None:
        chosen = options()
        chosen.max_mem = _MEMORY
        self._gates = [
            (re2.compile("|".join(f"(?:{patterns[i][1]})" for i in indices), chosen), indices)
            for indices in _groups(patterns)
        ]

    def regions(
        self, data: bytes, candidates: Collection[int]
    ) -> Iterator[tuple[list[int], list[Region]]]:
        """For each gate that matches, its patterns' indices and the regions to look at.

        Outside the regions none of these patterns matches. Where they would be most of the text,
        there is one, the whole.

        Args:
            data: UTF-8.
            candidates: indices of the patterns that may match at all.
        """
        for gate, joined in self._gates:
            indices = [index for index in joined if index in candidates]
            if not indices:
                continue
            found = [match.span() for match in islice(gate.finditer(data), _MOST_MATCHES)]
            regions = _merged(found, data)
            covered = sum(region.end - region.start for region in regions)
            if len(found) == _MOST_MATCHES or 2 * covered > len(data):
                yield indices, [Region(0, len(data), True, True)]
            elif found:
                yield indices, regions


def _merged(spans: Sequence[tuple[int, int]], data: bytes) -> list[Region]:
    merged: list[Region] = []
    for start, end in spans:
        if merged and end <= merged[-1].end:
            continue
        region = _around(start, end, data)
        if merged and region.start < merged[-1].end:
            last = merged.pop()
            region = Region(last.start, max(last.end, region.end), last.opens, region.closes)
        merged.append(region)
    return merged


def _around(start: int, end: int, data: bytes) -> Region:
    """The lines from ``start`` to ``end``, of long ones only the neighbourhood."""
    first = data.rfind(b"\n", max(0, start - _MARGIN), start)
    last = data.find(b"\n", end, end + _MARGIN)
    opens, closes = first >= 0 or start <= _MARGIN, last >= 0 or end + _MARGIN >= len(data)
    # A rule may begin with the line break before its line.
    begin = first if first >= 0 else 0 if opens else _boundary(start - _MARGIN, data)
    finish = last + 1 if last >= 0 else len(data) if closes else _boundary(end + _MARGIN, data)
    return Region(begin, finish, opens, closes)


def _boundary(position: int, data: bytes) -> int:
    """``position``, or the next one where a character starts."""
    while position < len(data) and data[position] & 0xC0 == 0x80:
        position += 1
    return position
