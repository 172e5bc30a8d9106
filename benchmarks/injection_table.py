"""What the injection scanner finds in labelled texts, set by set, and at fixed rates of false alarms."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bridge.scorers.injection import ScanResult, scan, scanner_version
from bridge.scorers.injection.model import Weights
from bridge.scorers.injection.model.phrases import Example
from bridge.scorers.injection.model.train import threshold
from bridge.stats import wilson

FIXED_RATES = (0.002, 0.005, 0.01, 0.02, 0.05)
SHOWN_RATES = (0.005, 0.01)
STAGES = ("rules", "with second stage")


@dataclass(frozen=True)
class Labelled:
    """Results for one source and one label; ``results`` by stage."""

    source: str
    attack: bool
    texts: list[str]
    results: Mapping[str, list[ScanResult]]

    def share(self, stage: str, *actions: str) -> float:
        return statistics.mean(one.action in actions for one in self.results[stage])

    def scores(self, stage: str) -> list[float]:
        return [one.score for one in self.results[stage]]


def scan_sets(
    examples: Sequence[Example], weights: Callable[[str], Weights | bool]
) -> list[Labelled]:
    """Scan every text with rules alone and with the second stage.

    Args:
        examples: labelled texts.
        weights: from a source to the weights of its second stage.
    """
    groups: dict[tuple[str, bool], list[str]] = {}
    for text, label, source in examples:
        groups.setdefault((source, bool(label)), []).append(text)
    return [
        Labelled(source, attack, texts, _results(texts, weights(source)))
        for (source, attack), texts in sorted(groups.items())
    ]


def _results(texts: list[str], weights: Weights | bool) -> dict[str, list[ScanResult]]:
    stages = zip(STAGES, (False, weights), strict=True)
    return {name: [scan(text, second_stage=stage) for text in texts] for name, stage in stages}


def print_table(sets: list[Labelled]) -> None:
    """One line a set and stage, the means over sets, then recall at fixed rates."""
    print(f"scanner {scanner_version()}; flag or block in %, with Wilson's 95 % interval")
    for stage in STAGES:
        limits = [_limit(sets, stage, rate) for rate in SHOWN_RATES]
        heads = " ".join(f"{f'> at {rate:.1%} FP':>13}" for rate in SHOWN_RATES)
        print(f"\n{stage:34} {'n':>6} {'flag or block':>22} {'block':>7} {heads}")
        for one in sets:
            print(_line(one, stage, limits))
        for attack in (True, False):
            chosen = [one for one in sets if one.attack == attack]
            if chosen:
                print(_mean_line(chosen, stage, limits))
    print()
    print_fixed_rates(sets)


def _line(one: Labelled, stage: str, limits: Sequence[float]) -> str:
    found, n = one.share(stage, "flag", "block"), len(one.texts)
    interval = wilson(round(found * n), n)
    shown = f"{100 * found:.2f} [{100 * interval.low:.2f}, {100 * interval.high:.2f}]"
    name = f"{one.source} ({'attack' if one.attack else 'benign'})"
    above = " ".join(f"{100 * _above(one.scores(stage), limit):13.2f}" for limit in limits)
    return f"{name:34} {n:6} {shown:>22} {100 * one.share(stage, 'block'):7.2f} {above}"


def _mean_line(chosen: list[Labelled], stage: str, limits: Sequence[float]) -> str:
    name = "mean recall" if chosen[0].attack else "mean false positives"
    found = statistics.mean(one.share(stage, "flag", "block") for one in chosen)
    block = statistics.mean(one.share(stage, "block") for one in chosen)
    above = " ".join(f"{100 * _mean_above(chosen, stage, limit):13.2f}" for limit in limits)
    return f"{name:34} {len(chosen):6} {100 * found:22.2f} {100 * block:7.2f} {above}"


def print_fixed_rates(sets: list[Labelled]) -> None:
    """Mean recall over attack sets where mean false positives over benign sets stay at a rate."""
    attacks = [one for one in sets if one.attack]
    if not attacks or len(attacks) == len(sets):
        return
    print(f"{'mean recall at false positives of':34} {'rules':>8} {'both':>8}")
    for rate in FIXED_RATES:
        recall = [_mean_above(attacks, stage, _limit(sets, stage, rate)) for stage in STAGES]
        print(f"{rate:<34.1%} {100 * recall[0]:8.1f} {100 * recall[1]:8.1f}")


def _limit(sets: list[Labelled], stage: str, rate: float) -> float:
    benign = [one.scores(stage) for one in sets if not one.attack]
    return threshold([[0.0, *group] for group in benign], rate) if benign else 0.0


def _above(scores: Sequence[float], limit: float) -> float:
    return sum(score > limit for score in scores) / len(scores)


def _mean_above(sets: list[Labelled], stage: str, limit: float) -> float:
    return statistics.mean(_above(one.scores(stage), limit) for one in sets)


def print_examples(sets: list[Labelled], missed: int, false: int) -> None:
    """A sample of errors with the second stage, to read and not to copy."""
    chooser = random.Random(0)
    for one in sets:
        pairs = zip(one.texts, one.results[STAGES[1]], strict=True)
        wrong = [each for each in pairs if (each[1].action == "allow") == one.attack]
        for text, result in chooser.sample(wrong, min(missed if one.attack else false, len(wrong))):
            rules = ",".join(sorted({match.rule for match in result.matches}))
            kind = "missed" if one.attack else "false"
            print(f"{one.source} {kind} {result.score:.3f} [{rules}] {text[:200]!r}")
