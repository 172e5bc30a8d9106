"""What a reader should know besides a verdict, each thing said once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from bridge.gate.criteria.regressions import Finding
from bridge.gate.intake.align import Series
from bridge.model.policy import GatePolicy

FEW = 15
"""Fewer paired cases than this are called few."""


def comparison_notes(findings: Mapping[str, Finding], policy: GatePolicy) -> Iterator[str]:
    """Limits of the paired tests, metrics with the same limit together."""
    same = [name for name, found in findings.items() if not found.test.n_nonzero]
    if same:
        yield f"no case differs from the baseline in {', '.join(same)}"
    yield from _too_few_differ(findings, policy)
    few = [
        f"{name} ({len(found.pairing.cases)})"
        for name, found in findings.items()
        if len(found.pairing.cases) < FEW
    ]
    if few:
        yield f"few paired cases: {', '.join(few)}"


def skipped_note(series: Iterable[Series]) -> Iterator[str]:
    """Rows that leave a mean because there was nothing to score: who answers less is seen to."""
    skipped = [
        f"{each.name} ({each.skipped} of {len(each.rows)})" for each in series if each.skipped
    ]
    if skipped:
        yield f"rows skipped, which count in no mean: {', '.join(skipped)}"


def _too_few_differ(findings: Mapping[str, Finding], policy: GatePolicy) -> Iterator[str]:
    """Metrics in which no p below the level was possible, and how many cases that would take."""
    by_need: dict[int, list[str]] = {}
    for name, found in findings.items():
        if 0 < found.test.n_nonzero < found.nonzero_needed:
            by_need.setdefault(found.nonzero_needed, []).append(f"{name} ({found.test.n_nonzero})")
    for needed, names in sorted(by_need.items()):
        yield (
            f"too few cases differ from the baseline for p to fall below "
            f"{1.0 - policy.confidence:.2g}, {needed} would have to: {', '.join(names)}"
        )
