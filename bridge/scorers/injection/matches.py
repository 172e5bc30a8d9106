"""The rules over every reading of a text, and where in the turns they matched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from bridge.scorers.injection import engine
from bridge.scorers.injection.contradiction import contradictions
from bridge.scorers.injection.engine import Hit
from bridge.scorers.injection.findings import KEPT_MATCHES, KEPT_TEXT, Match, place
from bridge.scorers.injection.model import stage
from bridge.scorers.injection.rules import SEVERITIES, Carrier, Severity
from bridge.scorers.injection.views import View, views
from bridge.scorers.injection.weighing import weigh

_NOT_ENCODINGS = frozenset({"plain", "normalised", "typos", "leet", "spaced", "homoglyphs"})
_LARGE = 65_536


def find(whole: str, carrier: Carrier, read: list[View]) -> list[Match]:
    """What the rules find; ``read`` takes the first readings, for the second stage."""
    found: list[Match] = []
    for some in _matches(whole, carrier, read):
        found += some
        if len(whole) > _LARGE and some and weigh(found, carrier)[0] == "block":
            break
    return found


def contradicting(whole: str, system_prompt: str) -> list[Match]:
    """What asks for something that the system prompt forbids, or replaces its identity."""
    return [
        Match(
            rule=f"contradicts-{one.kind}",
            category="context_manipulation",
            severity="medium" if one.claims else "low",
            start=one.start,
            end=one.end,
            text=whole[one.start : min(one.end, one.start + KEPT_TEXT)],
            how="plain",
            owasp="LLM01:2025",
        )
        for one in islice(contradictions(whole, system_prompt), KEPT_MATCHES)
    ]


def _matches(whole: str, carrier: Carrier, read: list[View]) -> Iterator[list[Match]]:
    for hits in engine.search_raw(whole):
        yield [
            _match(hit, "plain", hit.start, hit.end, whole)
            for hit in hits
            if carrier in hit.rule.carriers
        ]
    for view in views(whole):
        if len(read) < stage.MOST_READINGS:
            read.append(view)
        for hits in (
            engine.search_squashed(view.text) if view.squashed else engine.search(view.text)
        ):
            yield [
                _match(hit, how, *view.spans(hit.start, hit.end), view.text)
                for hit in hits
                if carrier in hit.rule.carriers
                and (how := view.how(hit.start, hit.end)) is not None
            ]


def _match(hit: Hit, how: str, start: int, end: int, read: str) -> Match:
    rule = hit.rule
    severity = rule.severity if how in _NOT_ENCODINGS else _one_up(rule.severity)
    text = read[hit.start : min(hit.end, hit.start + KEPT_TEXT)]
    return Match(rule.id, rule.category, severity, start, end, text, how, rule.owasp)


def _one_up(severity: Severity) -> Severity:
    return SEVERITIES[min(SEVERITIES.index(severity) + 1, len(SEVERITIES) - 1)]


def distinct(found: list[Match]) -> list[Match]:
    """Without what a later reading only repeats: the same rule over the same place."""
    kept: dict[str, list[Match]] = {}
    for match in found:
        same_rule = kept.setdefault(match.rule, [])
        if not any(match.start < one.end and one.start < match.end for one in same_rule[-16:]):
            same_rule.append(match)
    return [match for matches in kept.values() for match in matches]


def by_turn(found: Sequence[Match], turns: list[str]) -> tuple[Match, ...]:
    """Matches in the joined turns as matches in each, sorted; at most ``KEPT_MATCHES``."""
    if len(turns) > 1:
        starts = [0]
        for turn in turns[:-1]:
            starts.append(starts[-1] + len(turn) + 1)
        found = [_in_turn(match, starts, turns) for match in found]
    return tuple(sorted(found, key=place)[:KEPT_MATCHES])


def _in_turn(match: Match, starts: list[int], turns: list[str]) -> Match:
    last = max(i for i, start in enumerate(starts) if start < match.end)
    first = starts[last]
    return replace(
        match,
        start=max(match.start - first, 0),
        # An encoded part may take in the line break that joins two turns.
        end=min(match.end - first, len(turns[last])),
        turn=last - len(starts) + 1,
        split=match.start < first,
    )
