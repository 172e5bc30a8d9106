"""All patterns over one text in one pass: literal atoms first, then only the candidates.

``re2.Filter`` (Russ Cox, "Regular Expression Matching in the Wild", 2010) looks for the literals a
pattern cannot match without, and runs only patterns whose literals are there. It answers None both
for "nothing matched" and when it was set up wrongly, so each filter is tried on a canary.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice

import re2

from bridge.scorers.injection import spans
from bridge.scorers.injection.gates import Gates, Region
from bridge.scorers.injection.rules import Rule, RuleError, load_rules, options, squash

_CANARY = "qzx-canary-7f3a91"
_MATCHES_PER_RULE = 8
_TRIES_PER_RULE = 1_024
_NEIGHBOURHOOD = 160
_LONG = 2_048
_SAMPLE = 16_384
_WINDOW, _OVERLAP = 65_536, 2_048


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule that matched, with the span in characters of the text that was searched."""

    rule: Rule
    start: int
    end: int


class _Filter:
    """One ``re2.Filter`` with the rule of each pattern, and the gates for long text."""

    def __init__(self, patterns: Iterable[tuple[Rule, str]]) -> None:
        self._filter = re2.Filter()
        self._patterns = list(patterns)
        self._excuses: dict[str, re2._Regexp] = {}
        for rule, pattern in self._patterns:
            self._add(rule, pattern)
        self._canary: int = self._filter.Add(_CANARY, options())
        self._filter.Compile()
        if self._filter.Match(_CANARY.encode()) != [self._canary]:
            raise RuntimeError("re2.Filter does not match its canary; reinstall google-re2")

    def _add(self, rule: Rule, pattern: str) -> None:
        try:
            self._filter.Add(pattern, options())
            if rule.unless and rule.id not in self._excuses:
                self._excuses[rule.id] = _excuse(rule.unless)
        except re2.error as error:
            raise RuleError(f"rule {rule.id}: {error}: {pattern}") from error

    def unfiltered(self) -> list[str]:
        """Ids of rules with a pattern that has no literal and so runs on every text."""
        found = self._filter.Match(b"", potential=True) or ()
        return [self._patterns[index][0].id for index in found]

    @cached_property
    def _gates(self) -> Gates:
        return Gates(self._patterns)

    def spans(self, data: bytes) -> Iterator[tuple[Rule, int, int]]:
        if len(data) <= _LONG:
            yield from self._spans(data, self._filter.Match(data) or ())
            return
        for indices, regions in self._gates.regions(data, self._candidates(data)):
            for region in regions:
                yield from self._spans_in(region, data, indices)

    def _candidates(self, data: bytes) -> Collection[int]:
        """Patterns whose literals are in ``data``; all, where its start has those of most."""
        sample = self._filter.Match(data[:_SAMPLE], potential=True) or ()
        if 2 * len(sample) > len(self._patterns):
            return range(len(self._patterns))
        return set(self._filter.Match(data, potential=True) or ())

    def _spans_in(
        self, region: Region, data: bytes, indices: list[int]
    ) -> Iterator[tuple[Rule, int, int]]:
        part = data[region.start : region.end]
        for rule, start, end in self._spans(part, indices):
            # Where a line is cut, its ends are none.
            if (start or region.opens) and (end < len(part) or region.closes):
                yield rule, start + region.start, end + region.start

    def _spans(self, data: bytes, indices: Iterable[int]) -> Iterator[tuple[Rule, int, int]]:
        for index in indices:
            if index != self._canary:
                rule = self._patterns[index][0]
                found = islice(self._filter.re(index).finditer(data), _TRIES_PER_RULE)
                spans = (match.span() for match in found)
                real = (s for s in spans if s[1] > s[0] and not self._is_excused(rule, data, *s))
                yield from ((rule, *span) for span in islice(real, _MATCHES_PER_RULE))

    def _is_excused(self, rule: Rule, data: bytes, start: int, end: int) -> bool:
        excuses = self._excuses.get(rule.id)
        if excuses is None:
            return False
        before = data[max(0, start - _NEIGHBOURHOOD) : start].rpartition(b"\n")[2]
        after = data[end : end + _NEIGHBOURHOOD].partition(b"\n")[0]
        return excuses.search(before + data[start:end] + after) is not None


@cache
def _excuse(unless: tuple[str, ...]) -> re2._Regexp:
    return re2.compile("|".join(f"(?:{pattern})" for pattern in unless), options())


def _patterns(
    chosen: Callable[[Rule, str], bool], change: Callable[[str], str] = str
) -> Iterator[tuple[Rule, str]]:
    """One pattern a rule: a text that holds every rule's literals is then read fewer times."""
    for rule in load_rules():
        if patterns := [change(text) for text in rule.patterns if chosen(rule, text)]:
            yield rule, "|".join(f"(?:{pattern})" for pattern in patterns)


@cache
def _ascii_filter() -> _Filter:
    return _Filter(_patterns(lambda rule, text: not rule.raw and text.isascii()))


@cache
def _other_filter() -> _Filter:
    return _Filter(_patterns(lambda rule, text: not rule.raw and not text.isascii()))


@cache
def _raw_filter() -> _Filter:
    return _Filter(_patterns(lambda rule, _: rule.raw))


@cache
def _squashed_filter() -> _Filter:
    return _Filter(_patterns(lambda rule, _: not rule.raw, squash))


def search(text: str) -> Iterator[list[Hit]]:
    """Hits of all rules on folded text, window by window; ``text`` holds no lone surrogates."""
    both = (_ascii_filter,) if text.isascii() else (_ascii_filter, _other_filter)
    return _search(text, [make() for make in both])


def search_raw(text: str) -> Iterator[list[Hit]]:
    """Hits of the rules that look at text before folding."""
    return iter(()) if text.isascii() else _search(text, [_raw_filter()])


def search_squashed(text: str) -> Iterator[list[Hit]]:
    """Hits of all rules on text whose word breaks are lost."""
    return _search(text, [_squashed_filter()])


def unfiltered_rules() -> list[str]:
    """Ids of rules whose patterns lack a literal; the tests keep this empty."""
    every = (_ascii_filter(), _other_filter(), _squashed_filter())
    return [name for one in every for name in one.unfiltered()]


def _search(text: str, filters: Sequence[_Filter]) -> Iterator[list[Hit]]:
    # Two windows: the first tells early of text that is an attack all over, and the rest is read in
    # one go, gate by gate, which keeps each gate's automaton in the processor's cache.
    for first in (0, _WINDOW) if len(text) > _WINDOW else (0,):
        window = text[first:] if first else text[: _WINDOW + _OVERLAP]
        data = window.encode()
        found = [span for one in filters for span in one.spans(data)]
        if found:
            hits = _in_characters(data, found)
            # A window's start is no start of a line; what truly starts there, the last one saw.
            yield [
                Hit(hit.rule, hit.start + first, hit.end + first)
                for hit in hits
                if hit.start or not first
            ]


def _in_characters(data: bytes, found: list[tuple[Rule, int, int]]) -> list[Hit]:
    at = spans.in_characters(data, (offset for _, *both in found for offset in both))
    return [Hit(rule, at[start], at[end]) for rule, start, end in found]
