"""Lint of suites: everything a run would refuse, and what makes a gate weaker than it looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bridge.execution.plan import import_from
from bridge.files.baseline import read_baseline
from bridge.files.outputs import read_outputs
from bridge.files.suite import line_of_check, read_suite, read_suite_cases, resolve
from bridge.gate.criteria.beforehand import unknown_must_pass, unmeasured
from bridge.lint.finding import LintFinding
from bridge.lint.golden import Cases, lint_checks, read_leniently
from bridge.lint.labels import lint_calibration
from bridge.lint.natives import frameworks_with
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.errors import InputError
from bridge.model.suite import Suite
from bridge.plugin.registry import framework_names
from bridge.scorers.registry import is_native, judges_of, validate_check

SHOWN = 3
"""Most ids shown in a finding."""


@dataclass(slots=True)
class _Sets:
    """The golden sets of a suite, as far as they are readable."""

    cases: dict[Path, Cases] = field(default_factory=dict)
    findings: list[LintFinding] = field(default_factory=list)

    def all(self) -> Iterator[tuple[Path, int, Case]]:
        for path, cases in self.cases.items():
            for number, case in cases.values():
                yield path, number, case


def lint_suite(path: Path) -> list[LintFinding]:
    """Every finding on a suite and on the golden sets it names."""
    try:
        suite = read_suite(path)
    except InputError as error:
        return [LintFinding.of(error, "schema", path)]
    import_from(path.parent)
    sets = _golden_sets(suite, path)
    return [
        *sets.findings,
        *_outputs(suite, path, sets),
        *_frameworks(suite, path),
        *_checks(suite, path, sets),
        *_gate(suite, path, sets),
    ]


def _golden_sets(suite: Suite, path: Path) -> _Sets:
    sets = _Sets()
    for ref in suite.golden_set:
        golden = resolve(path, ref.path)
        try:
            findings, cases = read_leniently(golden)
        except InputError as error:
            sets.findings.append(LintFinding.of(error, "golden-set", golden))
            continue
        sets.cases[golden] = cases
        sets.findings.extend([*findings, *lint_checks(golden, cases)])
    if not any(finding.level == "error" for finding in sets.findings):
        try:
            read_suite_cases(suite, path)  # ids over all sets, versions
        except InputError as error:
            sets.findings.append(LintFinding.of(error, "golden-set", path))
    return sets


def _outputs(suite: Suite, path: Path, sets: _Sets) -> Iterator[LintFinding]:
    if not suite.system.recorded:
        return
    try:
        outputs = read_outputs(*(resolve(path, name) for name in suite.system.recorded))
    except InputError as error:
        yield LintFinding.of(error, "outputs", path)
        return
    asked = {case.id for _, _, case in sets.all()}
    answered = {output.case_id for output in outputs}
    missing = sorted(asked - answered)
    if missing:
        message = f"{_listed(missing)} of the golden set have no recorded output"
        yield LintFinding("error", "outputs", path, None, message)
    if answered - asked:
        message = f"recorded outputs fit no case: {_listed(sorted(answered - asked))}"
        yield LintFinding("warning", "outputs", path, None, message)


def _listed(ids: Sequence[str]) -> str:
    more = f", ... ({len(ids)} in all)" if len(ids) > SHOWN else ""
    return f"cases {', '.join(ids[:SHOWN])}{more}"


def _frameworks(suite: Suite, path: Path) -> Iterator[LintFinding]:
    for framework in suite.frameworks:
        if ":" not in framework.name and framework.name not in framework_names():
            message = f"no adapter for framework {framework.name!r} is installed"
            yield LintFinding("error", "framework", path, None, message)


def _checks(suite: Suite, path: Path, sets: _Sets) -> Iterator[LintFinding]:
    for index, check in enumerate(suite.checks):
        try:
            validate_check(check)
        except InputError as error:
            yield LintFinding.of(error, "check", path, line_of_check(path, index))
        if is_native(check) and not frameworks_with(suite, check):
            message = f"no framework of the suite has {check.metric}, so that it is never scored"
            yield LintFinding("error", "framework", path, None, message)
    yield from _unknown_judges(suite.checks, suite, path, None)
    gated = [check for check in suite.checks if _is_gated(check, suite)]
    if gated and all(_judges(check) for check in gated):
        message = "only judges decide: every gated check asks one; add one that does not"
        yield LintFinding("warning", "judge-alone", path, None, message)
    yield from lint_calibration(suite, path, gated)
    for golden, number, case in sets.all():
        yield from _checks_of_case(suite, golden, number, case)


def _unknown_judges(
    checks: Iterable[Check], suite: Suite, path: Path, line: int | None
) -> Iterator[LintFinding]:
    for judge in dict.fromkeys(name for check in checks for name in _judges(check)):
        if judge not in suite.judges:
            message = f"a check names judge {judge}, which the suite does not have"
            yield LintFinding("error", "judge", path, line, message)


def _judges(check: Check) -> tuple[str, ...]:
    """The judges that a check asks; none where it cannot be read, which is said elsewhere."""
    try:
        return judges_of(check)
    except InputError:
        return ()


def _is_gated(check: Check, suite: Suite) -> bool:
    entry = suite.gate.metrics.get(check.metric)
    return check.gate if entry is None else entry.gate


def _checks_of_case(suite: Suite, golden: Path, number: int, case: Case) -> Iterator[LintFinding]:
    yield from _unknown_judges(case.all_checks, suite, golden, number)
    if not suite.checks and not case.all_checks:
        message = f"nothing is checked on case {case.id!r}; add checks to the suite or to the case"
        yield LintFinding("error", "unchecked-case", golden, number, message)


def _gate(suite: Suite, path: Path, sets: _Sets) -> Iterator[LintFinding]:
    yield from _gated_metrics(suite, path, sets)
    yield from _must_pass(suite, path, sets)
    if suite.gate.baseline is None:
        message = "the gate has no baseline, so only thresholds can fail it"
        yield LintFinding("warning", "no-baseline", path, None, message)
        return
    try:
        read_baseline(resolve(path, suite.gate.baseline))
    except InputError as error:
        yield LintFinding.of(error, "baseline", path)


def _gated_metrics(suite: Suite, path: Path, sets: _Sets) -> Iterator[LintFinding]:
    """Gated names that nothing measures: a typo here would let the real metric go ungated."""
    own = {check.metric for check in suite.checks}
    own.update(check.metric for _, _, case in sets.all() for check in case.all_checks)
    for name in unmeasured(suite.gate, own, [each.name for each in suite.frameworks]):
        known = ", ".join(sorted(own)) or "none"
        message = f"the gate names metric {name!r}, which no check has (known: {known})"
        yield LintFinding("error", "unknown-metric", path, None, message)


def _must_pass(suite: Suite, path: Path, sets: _Sets) -> Iterator[LintFinding]:
    ids = {case.id for _, _, case in sets.all()}
    tags = {tag for _, _, case in sets.all() for tag in case.tags}
    for name in unknown_must_pass(suite.gate, ids, tags):
        message = f"must_pass names {name!r}, which is no case and no tag of one"
        yield LintFinding("error", "must-pass", path, None, message)
