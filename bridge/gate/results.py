"""A decision over results on disk: suite, baseline and rows found, decided on, and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.files.baseline import read_baseline
from bridge.files.labels import read_calibration
from bridge.files.suite import read_suite, read_suite_cases
from bridge.gate.baseline import make_baseline
from bridge.gate.criteria.beforehand import baseline_path
from bridge.gate.decide import decide
from bridge.gate.findings.exhibit import make_exhibit
from bridge.gate.intake.evidence import Evidence
from bridge.gate.intake.gather import gather, holds_rows, with_golden_set
from bridge.model.baseline import Baseline
from bridge.model.bundle import Bundle
from bridge.model.calibration import Calibration
from bridge.model.errors import InputError
from bridge.model.exhibit import Exhibit
from bridge.model.policy import GatePolicy
from bridge.model.suite import Suite
from bridge.model.verdict import Verdict
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import detect_format

SHOWN = frozenset({"cases", "outputs"})
"""What an exhibit needs of a source besides its rows."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with what it was made of.

    Attributes:
        results: Run directories and result files, as they were named.
        accepted: The baseline.
        before: The run that the baseline was taken from, where it is one.
    """

    verdict: Verdict
    evidence: Evidence
    results: tuple[Path, ...]
    accepted: Baseline | None
    before: Path | None

    def exhibit(self) -> Exhibit:
        """The cases behind the verdict; reads the answers again."""
        return make_exhibit(
            self.evidence,
            self.accepted,
            _joined([_answers(path) for path in self.results]),
            _answers(self.before) if self.before is not None else None,
            system=self.verdict.system,
        )


def decide_on(
    results: Sequence[Path],
    *,
    suite: Path | None = None,
    baseline: Path | None = None,
    system: str | None = None,
) -> Decision:
    """Decide on run directories and result files.

    Args:
        results: Where the rows are.
        suite: The suite with the policy; the run's own if left out.
        baseline: Baseline file, a run or a result file; the policy's own if left out.
        system: The system to decide on, where there are several.

    Raises:
        InputError: If a file is faulty, or it is not clear what is to be decided.
    """
    given = read_suite(suite) if suite is not None else None
    evidence = gather(results, given.gate.scales if given is not None else {})
    policy, name, home, evidence = _policy(suite, given, evidence)
    accepted, path = _baseline(baseline, policy, home, system)
    verdict = decide(
        evidence,
        policy,
        accepted,
        system=system,
        baseline_name=None if path is None else str(path),
        suite=name,
        calibration=_calibration(policy, home),
    )
    before = path if path is not None and path.is_dir() else None
    return Decision(verdict, evidence, tuple(results), accepted, before)


def _policy(
    path: Path | None, suite: Suite | None, evidence: Evidence
) -> tuple[GatePolicy, str, Path, Evidence]:
    """The policy in force, the suite's name, the folder its paths are relative to, the evidence.

    A suite given with loose files also says which cases they owe.
    """
    if suite is not None and path is not None:
        if not evidence.records:
            evidence = with_golden_set(evidence, read_suite_cases(suite, path))
        return suite.gate, suite.name, path.parent, evidence
    if not evidence.records:
        return GatePolicy(), "", Path(), evidence
    first, *others = evidence.records
    if any(other.suite.gate != first.suite.gate for other in others):
        raise InputError("the runs have different gate policies", fix="name one by --suite")
    return first.suite.gate, first.suite.name, Path(first.suite_path).parent, evidence


def _baseline(
    named: Path | None, policy: GatePolicy, home: Path, system: str | None
) -> tuple[Baseline | None, Path | None]:
    path = baseline_path(named, policy, home)
    if path is None:
        return None, None
    if holds_rows(path):
        rows = gather([path], policy.scales)
        return make_baseline(rows, system, epochs=policy.epochs), path
    return read_baseline(path), path


def _calibration(policy: GatePolicy, home: Path) -> Calibration | None:
    path = home / policy.calibration.path
    return read_calibration(path) if path.is_file() else None


def _answers(path: Path) -> Bundle:
    bundle, _ = detect_format(path, "scores").read(path, ReadOptions(parts=SHOWN))
    return bundle


def _joined(bundles: Sequence[Bundle]) -> Bundle:
    return Bundle(
        cases=tuple(case for bundle in bundles for case in bundle.cases),
        outputs=tuple(output for bundle in bundles for output in bundle.outputs),
    )
