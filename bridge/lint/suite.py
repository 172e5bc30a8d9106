"""Lint of suites: everything a run would refuse, and what makes a gate weaker than it looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bridge.files.baseline import read_baseline
from bridge.files.suite import read_suite, resolve
from bridge.lint.finding import LintFinding
from bridge.lint.golden import lint_golden_set
from bridge.model.errors import InputError
from bridge.model.suite import Suite
from bridge.plugin.registry import framework_names
from bridge.scorers.registry import validate_check


def lint_suite(path: Path) -> list[LintFinding]:
    """Every finding on a suite and on the golden sets it names."""
    try:
        suite = read_suite(path)
    except InputError as error:
        place = Path(error.where) if error.where else path
        return [LintFinding("error", "schema", place, error.line, error.what)]
    return [*_references(suite, path), *_checks(suite, path), *_gate(suite, path)]


def _references(suite: Suite, path: Path) -> Iterator[LintFinding]:
    for ref in suite.golden_set:
        golden = resolve(path, ref.path)
        try:
            yield from lint_golden_set(golden)
        except InputError as error:
            yield LintFinding("error", "golden-set", golden, error.line, error.what)
    for name in suite.system.recorded:
        if not resolve(path, name).is_file():
            message = f"recorded outputs {name} are not there"
            yield LintFinding("error", "outputs", path, None, message)
    for framework in suite.frameworks:
        if ":" not in framework.name and framework.name not in framework_names():
            message = f"no adapter for framework {framework.name!r} is installed"
            yield LintFinding("error", "framework", path, None, message)


def _checks(suite: Suite, path: Path) -> Iterator[LintFinding]:
    for check in suite.checks:
        try:
            validate_check(check)
        except InputError as error:
            yield LintFinding("error", "check", path, None, f"{error.what}; {error.fix}")
    judged = [check for check in suite.checks if check.judge is not None]
    if judged and len(judged) == len(suite.checks):
        message = "every check asks a judge; add one that does not"
        yield LintFinding("warning", "judge-alone", path, None, message)


def _gate(suite: Suite, path: Path) -> Iterator[LintFinding]:
    if suite.gate.baseline is None:
        message = "the gate has no baseline, so only thresholds can fail it"
        yield LintFinding("warning", "no-baseline", path, None, message)
        return
    try:
        read_baseline(resolve(path, suite.gate.baseline))
    except InputError as error:
        yield LintFinding("error", "baseline", path, None, error.what)
