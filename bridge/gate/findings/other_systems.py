"""The systems of a result that are not decided on: the gated metrics in each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bridge.gate.criteria.regressions import Pairing, pair
from bridge.gate.intake.align import Series, series_of
from bridge.gate.intake.clusters import clusters_of
from bridge.gate.intake.evidence import Evidence
from bridge.gate.trust.broken import treat
from bridge.model.baseline import Baseline
from bridge.model.policy import GatePolicy


@dataclass(frozen=True, slots=True)
class OtherSystem:
    """A gated metric in a system that is not decided on.

    Attributes:
        system: The system.
        series: What was measured there.
        pairing: The series beside the baseline of the system that is decided on.
    """

    system: str
    series: Series
    pairing: Pairing | None


def other_systems(
    whole: Evidence,
    decided: Evidence,
    gated: frozenset[str],
    policy: GatePolicy,
    baseline: Baseline | None,
    comparable: frozenset[str],
) -> Iterator[OtherSystem]:
    """The gated metrics of every system but the one that is decided on.

    Args:
        whole: Rows of all systems.
        decided: Those of the one that is decided on.
        gated: Names of the metrics that decide.
        policy: The gate policy.
        baseline: The accepted run.
        comparable: Ids of the cases that are the same in baseline and run.
    """
    clusters = clusters_of(whole, policy.clusters)
    for system in whole.table.system_names:
        if system in decided.table.system_names:
            continue
        evidence = whole.of_system(system)
        table = treat(evidence.table, policy).table
        for each in series_of(table, evidence.order, epochs=policy.epochs, clusters=clusters):
            if each.name in gated:
                paired = None if baseline is None else pair(each, baseline, comparable)
                yield OtherSystem(system, each, paired)
