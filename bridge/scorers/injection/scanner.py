"""The scanner: text in, what was found and what to do about it out.

Pure and deterministic; any ``str`` is accepted, and nothing about a text makes it raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import get_args

from bridge.scorers.injection.findings import CLEAN, KEPT_TEXT, Action, Match, ScanResult, place
from bridge.scorers.injection.matches import by_turn, contradicting, distinct, find
from bridge.scorers.injection.model import stage
from bridge.scorers.injection.model.linear import Weights, shipped_weights
from bridge.scorers.injection.rules import CARRIERS, Carrier, Severity, rules_digest
from bridge.scorers.injection.views import View
from bridge.scorers.injection.weighing import action_of, result_of, signals_of, summary

VERSION = "2"
"""Of the scanner's code; ``scanner_version`` adds the digests of the rules and the weights."""

WORDING = "wording"
"""Rule id and category of what only the second stage saw."""

_ACTIONS = get_args(Action)
_HISTORY_TURNS = 8
_HISTORY_CHARACTERS = 32_768


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
    found = find(whole, carrier, read)
    if system_prompt:
        found += contradicting(whole, system_prompt)
    matches = by_turn(distinct(found), turns)
    result = result_of(matches, carrier, len(whole)) if matches else CLEAN
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
    found = find(_encodable(text), "user", read)
    return [view.text for view in read] or [""], signals_of(distinct(found), "user")


def _weighed(
    result: ScanResult, read: list[View], carrier: Carrier, weights: Weights, turns: list[str]
) -> ScanResult:
    """The second stage over what the rules found: it may raise the action, and never lowers it.

    Where it does, a match says where. The score is its own: the better order of suspicion.
    """
    signals = signals_of(result.matches, carrier)
    found = stage.suspicion([view.text for view in read], signals, weights)
    action = action_of(found.score, carrier)
    if _ACTIONS.index(action) <= _ACTIONS.index(result.action):
        return replace(result, score=found.score)
    where = stage.strongest(read[found.reading].text, found.start, found.end, weights)
    wording = _wording(read[found.reading], *where, "high" if action == "block" else "medium")
    matches = sorted((*result.matches, *by_turn([wording], turns)), key=place)
    return summary(matches, action, found.score)


def _wording(view: View, start: int, end: int, severity: Severity) -> Match:
    """The match that stands for what the second stage saw."""
    how = view.how(start, end) or "normalised"
    text = view.text[start : min(end, start + KEPT_TEXT)]
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
