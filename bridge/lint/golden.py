"""Lint of golden sets: faults line by line, then the set as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from bridge.files.jsonl import lone_surrogates
from bridge.lint.finding import LintFinding
from bridge.lint.lines import read_on
from bridge.model.case import Case
from bridge.model.errors import InputError
from bridge.scorers.registry import validate_check

COVERAGE = 0.8
"""Least share of cases with something to score against."""

TELLING = 24
"""Characters from which on an answer that stands in the question gives it away."""


class Placed(NamedTuple):
    """A case and its line."""

    line: int
    case: Case


Cases = Mapping[str, Placed]
"""The readable cases of a golden set by id."""


def lint_golden_set(path: Path) -> list[LintFinding]:
    """Every finding on one golden set; reading goes on after a faulty line.

    Scorers that a case names by ``module:attribute`` are left to the suite, which says where
    modules are: nothing is imported here.
    """
    findings, cases = read_leniently(path)
    own = (check for placed in cases.values() for check in placed.case.all_checks)
    foreign = {check.scorer for check in own if ":" in check.scorer}
    findings.extend(lint_checks(path, cases, without=foreign))
    return sorted(findings, key=lambda finding: finding.line or 0)


def read_leniently(path: Path) -> tuple[list[LintFinding], Cases]:
    """The readable cases of a golden set, and every finding but those on checks."""
    findings: list[LintFinding] = []
    cases: dict[str, Placed] = {}
    for read in read_on(path, Case, findings):
        case, number = read.value, read.number
        findings.extend(_line(path, number, case, lone_surrogates(read.line, read.data)))
        if case.id in cases:
            message = f"id {case.id!r} stands twice (first on line {cases[case.id].line})"
            findings.append(LintFinding("error", "duplicate-id", path, number, message))
        else:
            cases[case.id] = Placed(number, case)
    findings.extend(_whole_set(path, cases))
    return findings, cases


def lint_checks(path: Path, cases: Cases, without: Iterable[str] = ()) -> Iterator[LintFinding]:
    """Checks of cases that cannot be carried out.

    Args:
        path: The golden set.
        cases: Its cases.
        without: Scorers that are not looked at.
    """
    for number, case in cases.values():
        for check in case.all_checks:
            if check.scorer in without:
                continue
            try:
                validate_check(check)
            except InputError as error:
                yield LintFinding.of(error, "check", path, number)


def _line(path: Path, number: int, case: Case, surrogates: int) -> Iterator[LintFinding]:
    if surrogates:
        message = f"{surrogates} lone surrogates are read as U+FFFD; write whole characters"
        yield LintFinding("warning", "surrogate", path, number, message)
    calls = [case.expected_calls, *(turn.expected_calls for turn in case.turns)]
    offered = {tool.name for tool in case.tools}
    expected = [call.name for each in calls if each is not None for call in each.calls]
    for name in dict.fromkeys(name for name in expected if name not in offered):
        message = f"expected call {name!r} has no schema; add it to tools"
        yield LintFinding("warning", "tool-without-schema", path, number, message)
    if _contaminated(case):
        message = "the input holds the reference answer word for word"
        yield LintFinding("warning", "contamination", path, number, message)


def _contaminated(case: Case) -> bool:
    """Whether an answer long enough to mean something stands in its question."""
    asked = [(turn.user, case.at_turn(index)) for index, turn in enumerate(case.turns)]
    return any(
        len(answer.strip()) >= TELLING and answer.strip().casefold() in text.casefold()
        for text, each in asked or [(_text(case), case)]
        for answer in each.references
        if isinstance(answer, str)
    )


def _text(case: Case) -> str:
    if isinstance(case.input, str):
        return case.input
    if isinstance(case.input, tuple):
        return "\n".join(message.text for message in case.input)
    return json.dumps(case.input, ensure_ascii=False)


def _whole_set(path: Path, cases: Cases) -> Iterator[LintFinding]:
    if not cases:
        yield LintFinding("error", "empty", path, None, "holds no readable case")
        return
    covered = sum(_is_covered(case) for _, case in cases.values())
    if covered < COVERAGE * len(cases):
        message = (
            f"{covered} of {len(cases)} cases ({covered / len(cases):.0%}) have a reference, "
            f"expected calls or checks of their own, below {COVERAGE:.0%}; fill in expected"
        )
        yield LintFinding("error", "reference-coverage", path, None, message)
    yield from _same_question(path, cases)


def _is_covered(case: Case) -> bool:
    """Whether the case itself says what is right: an answer, calls, or a check."""
    turns = (case.at_turn(index) for index in range(len(case.turns)))
    expects = any(each.references or each.expected_calls for each in (case, *turns))
    return expects or bool(case.all_checks)


def _same_question(path: Path, cases: Cases) -> Iterator[LintFinding]:
    seen: dict[str, int] = {}
    for number, case in cases.values():
        asked = [turn.user for turn in case.turns] or [_text(case)]
        key = "\n".join(" ".join(text.casefold().split()) for text in asked)
        if key in seen:
            message = f"asks the same as line {seen[key]}"
            yield LintFinding("warning", "duplicate-input", path, number, message)
        seen.setdefault(key, number)
