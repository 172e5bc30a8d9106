"""Evidence weighed: matches to a score, and a score to an action."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from bridge.scorers.injection.findings import Action, Match, ScanResult
from bridge.scorers.injection.model import features
from bridge.scorers.injection.rules import SEVERITIES, Carrier, Severity

_WEIGHT: dict[Severity, float] = {"low": 0.2, "medium": 0.45, "high": 0.75, "critical": 0.95}
_BLOCK_AT, _FLAG_AT = 0.8, 0.4
_BONUS = 0.1
_NEAR = 1_024


def result_of(matches: Sequence[Match], carrier: Carrier, length: int) -> ScanResult:
    """The answer of the rules alone, on a text of ``length`` characters."""
    action, evidence = weigh(matches, carrier)
    score = round(evidence + _BONUS * (1 - evidence) * _share(matches, length), 6)
    return summary(matches, action, score)


def summary(matches: Sequence[Match], action: Action, score: float) -> ScanResult:
    """Matches with an action and a score as a result."""
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


def weigh(matches: Iterable[Match], carrier: Carrier) -> tuple[Action, float]:
    """Policy: action and evidence from the highest severity of each rule that matched.

    The weight of evidence is a noisy-or over rules that matched near each other: within 1,024
    characters always, beyond 2,048 never, for a long document is no attack because its chapters
    each hold a weak sign. From the user, 0.8 blocks: one critical rule, two high, one high with any
    other, or three medium. In tool results and context, where nobody may give orders, one high
    blocks. 0.4 flags: one medium, or three low.
    """
    score = max(map(_noisy_or, _neighbourhoods(matches)), default=0.0)
    return action_of(score, carrier), score


def action_of(score: float, carrier: Carrier) -> Action:
    """What a score asks for."""
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


def signals_of(matches: Sequence[Match], carrier: Carrier) -> tuple[float, ...]:
    """What the rules tell the second stage."""
    ranks = [SEVERITIES.index(match.severity) for match in matches]
    return features.signals(SEVERITIES[max(ranks)] if ranks else None, weigh(matches, carrier)[1])
