"""How often the gate is wrong: simulated runs of identical systems, and of one that became worse.

A case has a chance of success drawn from Beta(8, 2); both runs draw afresh from it. One gated
metric, the policy's defaults, the gate's own decision. Printed: the share FAILED of identical
systems (at most 5 % wanted, at every n), the share INCONCLUSIVE with ``margin: 0.05``, the power
for a true drop of 10 points, and the coverage of the intervals shown.

Run: python benchmarks/simulation.py [--runs 2000]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bridge.gate.baseline import make_baseline
from bridge.gate.decide import decide
from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.table import PASSED, SCORED, Floats, Stamp, Table
from bridge.model.policy import GatePolicy
from bridge.model.verdict import Verdict

SIZES = (10, 20, 50, 100, 200, 500, 1000)
DROP = 0.1
EPOCHS = 5
MARGIN = 0.05
LEVEL = 0.05
STAMP = Stamp("equals", "1", "1", None)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of score; ``draw`` makes the values of one run, shape (cases, epochs)."""

    name: str
    epochs: int
    draw: Callable[[Floats, int, np.random.Generator], Floats]


def outcomes(chances: Floats, epochs: int, generator: np.random.Generator) -> Floats:
    """Passed or failed."""
    shape = (len(chances), epochs)
    return (generator.random(shape) < chances[:, None]).astype(np.float64)


def grades(chances: Floats, epochs: int, generator: np.random.Generator) -> Floats:
    """Marks between 0 and 1 around the chance."""
    shape = (len(chances), epochs)
    return generator.beta(8 * chances[:, None], 8 * (1 - chances[:, None]), shape)


KINDS = (
    Kind("binary", 1, outcomes),
    Kind("graded", 1, grades),
    Kind(f"binary, {EPOCHS} epochs", EPOCHS, outcomes),
)


def evidence_of(values: Floats, graded: bool) -> Evidence:
    """A run with these values, as rows."""
    cases, epochs = values.shape
    size = values.size
    zeros = np.zeros(size, np.int64)
    table = Table(
        framework_names=("core",),
        system_names=("default",),
        case_names=tuple(f"{i:06d}" for i in range(cases)),
        metric_names=("metric",),
        framework=zeros,
        system=zeros,
        metric=zeros,
        case=np.repeat(np.arange(cases), epochs),
        epoch=np.tile(np.arange(1, epochs + 1), cases),
        turn=zeros - 1,
        status=zeros + (SCORED if graded else PASSED),
        value=values.reshape(-1),
        threshold=np.full(size, np.nan),
        cost=np.full(size, np.nan),
        source=zeros,
        line=zeros,
        stamps={("default", "core", "metric"): frozenset({STAMP})},
    )
    return Evidence(table=table)


def gated(before: Floats, now: Floats, policy: GatePolicy) -> Verdict:
    """The gate's verdict on two runs."""
    baseline = make_baseline(evidence_of(before, graded=True))
    return decide(evidence_of(now, graded=True), policy, baseline)


@dataclass(slots=True)
class Shares:
    """What became of the runs of one size."""

    runs: int
    failed: int = 0
    undecided: int = 0
    seen: int = 0
    difference_covered: int = 0
    mean_covered: int = 0


def simulate(kind: Kind, n: int, runs: int, generator: np.random.Generator) -> Shares:
    """Decide so many pairs of runs."""
    plain, strict = GatePolicy(slices=()), GatePolicy(margin=MARGIN, slices=())
    shares = Shares(runs)
    for _ in range(runs):
        chances = generator.beta(8, 2, n)
        before, now = (kind.draw(chances, kind.epochs, generator) for _ in range(2))
        worse = kind.draw(np.maximum(chances - DROP, 0.001), kind.epochs, generator)
        same = gated(before, now, strict)
        metric = same.metrics["metric"]
        shares.failed += same.verdict == "failed"
        shares.undecided += same.verdict == "inconclusive"
        shares.seen += gated(before, worse, plain).verdict == "failed"
        shares.difference_covered += _within(0.0, metric.delta_low, metric.delta_high)
        shares.mean_covered += _within(0.8, metric.ci_low, metric.ci_high)
    return shares


def _within(value: float, low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and low <= value <= high


def main() -> None:
    """Print one line a kind and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    arguments = parser.parse_args()
    error = 1.96 * math.sqrt(LEVEL * (1 - LEVEL) / arguments.runs)
    print(
        f"{arguments.runs} pairs of runs a line; two standard errors of 5 %: {100 * error:.1f} points"
    )
    print("kind               n     FAILED   INCONCLUSIVE  power   difference  mean covered")
    generator = np.random.default_rng(20240601)
    for kind in KINDS:
        for n in arguments.sizes:
            found = simulate(kind, n, arguments.runs, generator)
            counts = (
                found.failed,
                found.undecided,
                found.seen,
                found.difference_covered,
                found.mean_covered,
            )
            shown = "   ".join(f"{100 * count / found.runs:7.1f}%" for count in counts)
            print(f"{kind.name:<18} {n:<5}{shown}", flush=True)


if __name__ == "__main__":
    main()
