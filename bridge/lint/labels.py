"""Lint of labels and of what a suite's gate asks of a calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from bridge.files.labels import read_calibration
from bridge.files.suite import resolve
from bridge.gate.calibration.labelled import Numbered, kind_of_label
from bridge.lint.finding import LintFinding
from bridge.lint.lines import read_on
from bridge.lint.natives import frameworks_with
from bridge.model.calibration import Label
from bridge.model.check import Check
from bridge.model.errors import InputError
from bridge.model.suite import Suite
from bridge.scorers.registry import get_scorer, is_native


def lint_labels(path: Path) -> list[LintFinding]:
    """Every finding on a labels file; reading goes on after a faulty line."""
    findings: list[LintFinding] = []
    labels: Numbered = [(read.number, read.value) for read in read_on(path, Label, findings)]
    findings += [*_kinds(path, labels), *_twice(path, labels)]
    return sorted(findings, key=lambda finding: finding.line or 0)


def _kinds(path: Path, labels: Numbered) -> Iterator[LintFinding]:
    """Labels that say nothing, and those of another kind than the metric's first."""
    first: dict[str | None, str] = {}
    for line, label in labels:
        try:
            kind = kind_of_label(label, path, line)
        except InputError as error:
            yield LintFinding.of(error, "label", path, line)
            continue
        if first.setdefault(label.metric, kind) != kind:
            message = "of another kind than the labels before it: verdicts, or levels and values"
            yield LintFinding("error", "label", path, line, message)


def _twice(path: Path, labels: Numbered) -> Iterator[LintFinding]:
    seen: set[tuple[object, ...]] = set()
    for line, label in labels:
        place = (label.metric, label.system, label.case_id, label.epoch, label.turn)
        if place in seen:
            message = f"case {label.case_id!r} is labelled twice; keep one label a row"
            yield LintFinding("error", "label", path, line, message)
        seen.add(place)


def lint_calibration(suite: Suite, path: Path, gated: Sequence[Check]) -> Iterator[LintFinding]:
    """What the gate would say of the calibration of a suite's judges, as far as files show it.

    Args:
        suite: The suite.
        path: Its file.
        gated: Its checks that decide.
    """
    policy = suite.gate.calibration
    judged = [name for check in gated if _asks(check) for name in _gated_names(suite, check)]
    if policy.treat == "off" or not judged:
        return
    level: Literal["error", "warning"] = "error" if policy.treat == "require" else "warning"
    file = resolve(path, policy.path)
    if not file.is_file():
        message = f"{', '.join(judged)}: no calibration at {policy.path}; see bridge calibrate"
        yield LintFinding(level, "calibration", path, None, message)
        return
    try:
        entries = {entry.metric: entry for entry in read_calibration(file).entries}
    except InputError as error:
        yield LintFinding.of(error, "calibration", file)
        return
    for metric in judged:
        verdict = entries[metric].verdict if metric in entries else "not calibrated"
        if verdict in ("unusable", "not calibrated"):
            message = f"{metric}: its judge is {verdict} by {policy.path}; see bridge calibrate"
            yield LintFinding(level, "calibration", path, None, message)


def _asks(check: Check) -> bool:
    """Whether a check or one of its members asks a judge."""
    if check.checks:
        return any(map(_asks, check.checks))
    try:
        return get_scorer(check.scorer).judged
    except InputError:
        return False


def _gated_names(suite: Suite, check: Check) -> Iterator[str]:
    """What the gate calls a check: of the frameworks' own metrics, one name a framework."""
    if not is_native(check):
        yield check.metric
        return
    for framework in frameworks_with(suite, check):
        name = f"{framework}/{check.metric}"
        entry = suite.gate.metrics.get(name)
        if entry is None or entry.gate:
            yield name
