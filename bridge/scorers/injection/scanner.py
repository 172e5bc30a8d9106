"""The scanner: text in, what was found and what to do about it out.

Pure and deterministic; any ``str`` is accepted, and nothing about a text makes it raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from math import prod
from typing import Literal, get_args

from bridge.scorers.injection import engine
from bridge.scorers.injection.contradiction import contradictions
from bridge.scorers.injection.engine import Hit
from bridge.scorers.injection.model import features, stage
from bridge.scorers.injection.model.linear import Weights, shipped_weights
from bridge.scorers.injection.rules import CARRIERS, SEVERITIES, Carrier, Severity, rules_digest
from bridge.scorers.injection.views import View, views

VERSION = "2"
"""Of the scanner's code; ``scanner_version`` adds the digests of the rules and the weights."""

Action = Literal["allow", "flag", "block"]

WORDING = "wording"
"""Rule id and category of what only the second stage saw."""

_ACTIONS = get_args(Action)
_HISTORY_TURNS = 8
_HISTORY_CHARACTERS = 32_768
_KEPT_MATCHES = 200
_KEPT_TEXT = 500
_NOT_ENCODINGS = frozenset({"plain", "normalised", "typos", "leet", "spaced", "homoglyphs"})
_WEIGHT: dict[Severity, float] = {"low": 0.2, "medium": 0.45, "high": 0.75, "critical": 0.95}
_BLOCK_AT, _FLAG_AT = 0.8, 0.4
_BONUS = 0.1
_LARGE = 65_536
_NEAR = 1_024


@dataclass(frozen=True, slots=True)
class Match:
    """One place where one rule matched.

    Attributes:
        rule: the rule's id.
        category: the kind of attack.
        severity: the rule's, one step up where the text had to be decoded to match.
        start: first character, in the turn's original text.
        end: one past the last character; for decoded text the whole encoded part.
        text: what matched, as it was read (at most 500 characters).
        how: ``plain``, ``normalised``, ``homoglyphs``, ``leet``, ``typos``, ``spaced``, or the
            encoding: ``base64``, ``hex``, ``rot13``, ``reversed``, ``tags``, ...
        owasp: entry of the OWASP Top 10 for LLM applications, 2025.
        turn: 0 for the scanned text, -1 for the last turn of the history, -2 for the one before.
        split: whether it began in an earlier turn; the span is then its part in ``turn``.
    """

    rule: str
    category: str
    severity: Severity
    start: int
    end: int
    text: str
    how: str
    owasp: str
    turn: int = 0
    split: bool = False


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What a scan found.

    Attributes:
        action: ``allow``, ``flag`` (let a person or a second stage look), or ``block``.
        severity: the highest of the matches; None without matches.
        score: suspicion in [0, 1]. Of rules alone: noisy-or over those that matched near each
            other, and a tenth of what is left up to 1 for the share of the text that matched, so
            that equal evidence ranks higher where it is most of the text. With the second stage,
            what that makes of rules and wording together.
        categories: of the matches, sorted.
        matches: by turn, start and rule; at most 200. In more than 65,536 characters, the search
            ends where it is sure of ``block``.
    """

    action: Action
    severity: Severity | None
    score: float
    categories: tuple[str, ...]
    matches: tuple[Match, ...]


_CLEAN = ScanResult("allow", None, 0.0, (), ())


@cache
def scanner_version() -> str:
    """The version that goes into a score: code version and digest of the rules."""
    return f"{VERSION}+rules.{rules_digest()[:12]}.model.{shipped_weights().digest[:12]}"


def scan(
    text: str,
    carrier: Carrier = "user",
    history: Sequence[str] = (),
    *,
    system_prompt: str | None = None,
    second_stage: bool | Weights = True,
) -> ScanResult:
    """Look for prompt injection in ``text``.

    Args:
        text: any string; lone surrogates count as ``?``.
        carrier: who brought the text: ``user``, a ``tool`` result, or retrieved ``context``. An
            imperative to "the assistant" is normal from a user and suspect elsewhere.
        history: earlier turns of the same carrier, oldest first. The last 8 of them (32,768
            characters at most) are scanned with the text, so that an attack in an earlier turn,
            or split over turns, is seen.
        system_prompt: the operator's instructions to the model, if known. What asks for something
            they forbid, or gives the model another identity, then counts as a sign, too
            (``contradicts-prohibition``, ``contradicts-identity``; English).
        second_stage: whether a trained model weighs the wording, too: with the weights in the
            package, or others (:mod:`bridge.scorers.injection.model.train`).

    Raises:
        ValueError: if ``carrier`` is none of the three.
    """
    if carrier not in CARRIERS:
        raise ValueError(f"carrier must be one of {', '.join(CARRIERS)}, not {carrier!r}")
    turns = [*_recent(history), text]
    read: list[View] = []
    whole = _encodable("\n".join(turns) if len(turns) > 1 else text)
    found = _found(whole, carrier, read)
    if system_prompt:
        found += _contradicting(whole, system_prompt)
    matches = _by_turn(_distinct(found), turns)
    result = _result(matches, carrier, len(whole)) if matches else _CLEAN
    if second_stage is False or not whole.strip() or not read:
        return result
    weights = shipped_weights() if second_stage is True else second_stage
    return _weighed(result, read, carrier, weights, turns)


def scan_batch(
    texts: Iterable[str],
    carrier: Carrier = "user",
    *,
    system_prompt: str | None = None,
    second_stage: bool | Weights = True,
) -> list[ScanResult]:
    """``scan`` of each text on its own, in order; equal texts are scanned once."""
    known: dict[str, ScanResult] = {}
    ordered = list(texts)
    for text in ordered:
        if text not in known:
            known[text] = scan(
                text, carrier, system_prompt=system_prompt, second_stage=second_stage
            )
    return [known[text] for text in ordered]


def seen(text: str) -> tuple[list[str], tuple[float, ...]]:
    """What the second stage sees of a user's text: its readings, and the rules' signals."""
    read: list[View] = []
    found = _found(_encodable(text), "user", read)
    return [view.text for view in read] or [""], _signals(_distinct(found), "user")


def _signals(matches: Sequence[Match], carrier: Carrier) -> tuple[float, ...]:
    ranks = [SEVERITIES.index(match.severity) for match in matches]
    return features.signals(SEVERITIES[max(ranks)] if ranks else None, _weigh(matches, carrier)[1])


def _weighed(
    result: ScanResult, read: list[View], carrier: Carrier, weights: Weights, turns: list[str]
) -> ScanResult:
    """The second stage over what the rules found: it may raise the action, and never lowers it.

    Where it does, a match says where. The score is its own: the better order of suspicion.
    """
    signals = _signals(result.matches, carrier)
    found = stage.suspicion([view.text for view in read], signals, weights)
    action = _action(found.score, carrier)
    if _ACTIONS.index(action) <= _ACTIONS.index(result.action):
        return replace(result, score=found.score)
    where = stage.strongest(read[found.reading].text, found.start, found.end, weights)
    wording = _wording(read[found.reading], *where, "high" if action == "block" else "medium")
    matches = sorted((*result.matches, *_by_turn([wording], turns)), key=_place)
    return _summary(matches, action, found.score)


def _wording(view: View, start: int, end: int, severity: Severity) -> Match:
    """The match that stands for what the second stage saw."""
    how = view.how(start, end) or "normalised"
    text = view.text[start : min(end, start + _KEPT_TEXT)]
    first, last = view.spans(start, end)
    return Match(WORDING, WORDING, severity, first, last, text, how, "LLM01:2025")


def _recent(history: Sequence[str]) -> list[str]:
    recent: list[str] = []
    left = _HISTORY_CHARACTERS
    for turn in reversed(history[-_HISTORY_TURNS:]):
        if left <= 0:
            break
        recent.append(turn)
        left -= len(turn)
    return recent[::-1]


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _found(whole: str, carrier: Carrier, read: list[View]) -> list[Match]:
    """What the rules find; ``read`` takes the first readings, for the second stage."""
    found: list[Match] = []
    for some in _matches(whole, carrier, read):
        found += some
        if len(whole) > _LARGE and some and _weigh(found, carrier)[0] == "block":
            break
    return found


def _contradicting(whole: str, system_prompt: str) -> list[Match]:
    return [
        Match(
            rule=f"contradicts-{one.kind}",
            category="context_manipulation",
            severity="medium" if one.claims else "low",
            start=one.start,
            end=one.end,
            text=whole[one.start : min(one.end, one.start + _KEPT_TEXT)],
            how="plain",
            owasp="LLM01:2025",
        )
        for one in islice(contradictions(whole, system_prompt), _KEPT_MATCHES)
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
    text = read[hit.start : min(hit.end, hit.start + _KEPT_TEXT)]
    return Match(rule.id, rule.category, severity, start, end, text, how, rule.owasp)


def _one_up(severity: Severity) -> Severity:
    return SEVERITIES[min(SEVERITIES.index(severity) + 1, len(SEVERITIES) - 1)]


def _distinct(found: list[Match]) -> list[Match]:
    """Without what a later reading only repeats: the same rule over the same place."""
    kept: dict[str, list[Match]] = {}
    for match in found:
        same_rule = kept.setdefault(match.rule, [])
        if not any(match.start < one.end and one.start < match.end for one in same_rule[-16:]):
            same_rule.append(match)
    return [match for matches in kept.values() for match in matches]


def _by_turn(found: Sequence[Match], turns: list[str]) -> tuple[Match, ...]:
    if len(turns) > 1:
        starts = [0]
        for turn in turns[:-1]:
            starts.append(starts[-1] + len(turn) + 1)
        found = [_in_turn(match, starts, turns) for match in found]
    return tuple(sorted(found, key=_place)[:_KEPT_MATCHES])


def _place(match: Match) -> tuple[int, int, str]:
    return match.turn, match.start, match.rule


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


def _result(matches: Sequence[Match], carrier: Carrier, length: int) -> ScanResult:
    action, evidence = _weigh(matches, carrier)
    score = round(evidence + _BONUS * (1 - evidence) * _share(matches, length), 6)
    return _summary(matches, action, score)


def _summary(matches: Sequence[Match], action: Action, score: float) -> ScanResult:
    return ScanResult(
        action=action,
        severity=SEVERITIES[max(SEVERITIES.index(match.severity) for match in matches)],
        score=score,
        categories=tuple(sorted({match.category for match in matches})),
        matches=tuple(matches),
    )


def _share(matches: Iterable[Match], length: int) -> float:
    """How much of a text of ``length`` characters matched; half of it counts as all."""
    covered = 0
    turn, last = 0, 0
    for match in matches:
        if match.turn != turn:
            turn, last = match.turn, 0
        covered += max(0, match.end - max(match.start, last))
        last = max(last, match.end)
    return min(1.0, 2 * covered / max(1, length))


def _weigh(matches: Iterable[Match], carrier: Carrier) -> tuple[Action, float]:
    """Policy: action and evidence from the highest severity of each rule that matched.

    The weight of evidence is a noisy-or over rules that matched near each other: within 1,024
    characters always, beyond 2,048 never, for a long document is no attack because its chapters
    each hold a weak sign. From the user, 0.8 blocks: one critical rule, two high, one high with any
    other, or three medium. In tool results and context, where nobody may give orders, one high
    blocks. 0.4 flags: one medium, or three low.
    """
    score = max(map(_noisy_or, _neighbourhoods(matches)), default=0.0)
    return _action(score, carrier), score


def _action(score: float, carrier: Carrier) -> Action:
    if score >= (_BLOCK_AT if carrier == "user" else _WEIGHT["high"]):
        return "block"
    return "flag" if score >= _FLAG_AT else "allow"


def _neighbourhoods(matches: Iterable[Match]) -> Iterable[dict[str, float]]:
    """Half-overlapping stretches of 2,048 characters: the highest weight of each rule there."""
    near: dict[int, dict[str, float]] = {}
    for match in matches:
        weight = _WEIGHT[match.severity]
        for place in range(match.start // _NEAR - 1, match.start // _NEAR + 1):
            by_rule = near.setdefault(place, {})
            by_rule[match.rule] = max(by_rule.get(match.rule, 0.0), weight)
    return near.values()


def _noisy_or(by_rule: Mapping[str, float]) -> float:
    return round(1 - prod(1 - weight for weight in by_rule.values()), 6)
