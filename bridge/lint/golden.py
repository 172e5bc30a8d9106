"""Lint of golden sets: faults line by line, then the set as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from bridge.files.jsonl import explain, parse_object, read_lines
from bridge.lint.finding import LintFinding
from bridge.model.case import Case
from bridge.model.errors import InputError
from bridge.scorers.registry import validate_check

COVERAGE = 0.8
"""Least share of cases with a reference."""


def lint_golden_set(path: Path) -> list[LintFinding]:
    """Every finding on one golden set; reading goes on after a faulty line."""
    findings: list[LintFinding] = []
    cases: dict[str, tuple[int, Case]] = {}
    for number, line in read_lines(path):
        try:
            case = Case.model_validate(parse_object(line, path, number))
        except InputError as error:
            findings.append(LintFinding("error", "schema", path, number, error.what))
            continue
        except ValidationError as error:
            findings.append(LintFinding("error", "schema", path, number, explain(error)))
            continue
        if case.id in cases:
            first = cases[case.id][0]
            message = f"id {case.id!r} stands twice (first on line {first})"
            findings.append(LintFinding("error", "duplicate-id", path, number, message))
            continue
        cases[case.id] = (number, case)
    findings.extend(_whole_set(path, cases))
    return sorted(findings, key=lambda finding: finding.line or 0)


def _whole_set(path: Path, cases: dict[str, tuple[int, Case]]) -> Iterator[LintFinding]:
    if not cases:
        yield LintFinding("error", "empty", path, None, "holds no readable case")
        return
    for number, case in cases.values():
        yield from _case(path, number, case)
    yield from _coverage(path, cases)
    yield from _same_input(path, cases)


def _coverage(path: Path, cases: dict[str, tuple[int, Case]]) -> Iterator[LintFinding]:
    covered = sum(bool(case.references) for _, case in cases.values())
    if covered < COVERAGE * len(cases):
        message = (
            f"{covered} of {len(cases)} cases ({covered / len(cases):.0%}) have a reference, "
            f"below {COVERAGE:.0%}; fill in expected"
        )
        yield LintFinding("error", "reference-coverage", path, None, message)


def _case(path: Path, number: int, case: Case) -> Iterator[LintFinding]:
    for check in (*case.checks, *(each for turn in case.turns for each in turn.checks)):
        try:
            validate_check(check)
        except InputError as error:
            yield LintFinding("error", "check", path, number, f"{error.what}; {error.fix}")
    calls = [case.expected_calls, *(turn.expected_calls for turn in case.turns)]
    offered = {tool.name for tool in case.tools}
    for call in (call for each in calls if each is not None for call in each.calls):
        if call.name not in offered:
            message = f"expected call {call.name!r} has no schema; add it to tools"
            yield LintFinding("warning", "tool-without-schema", path, number, message)
    if _contaminated(case):
        message = "the input holds the reference answer word for word"
        yield LintFinding("warning", "contamination", path, number, message)


def _contaminated(case: Case) -> bool:
    """Whether an answer long enough to mean something stands in the question itself."""
    if not isinstance(case.input, str):
        return False
    text = case.input.casefold()
    answers = (each.strip().casefold() for each in case.references if isinstance(each, str))
    return any(len(each) >= 24 and each in text for each in answers)


def _same_input(path: Path, cases: dict[str, tuple[int, Case]]) -> Iterator[LintFinding]:
    seen: dict[str, int] = {}
    for number, case in cases.values():
        if not isinstance(case.input, str) or case.turns:
            continue
        key = " ".join(case.input.casefold().split())
        if key in seen:
            message = f"asks the same as line {seen[key]}"
            yield LintFinding("warning", "duplicate-input", path, number, message)
        seen.setdefault(key, number)
