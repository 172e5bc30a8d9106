"""The assertions of a results file as checks, so that its recorded answers can be scored again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.suite import Suite
from bridge.model.values import freeze
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.assertions import (
    GRADING,
    AssertionReader,
    Graded,
    ReadAsserts,
    members_of,
    numbered,
)
from bridge_promptfoo.config.files import Document, Node
from bridge_promptfoo.config.graders import Graders, told_of
from bridge_promptfoo.config.inputs import expected_of
from bridge_promptfoo.config.kinds import kind_of
from bridge_promptfoo.config.templates import is_template
from bridge_promptfoo.records import TestCase
from bridge_promptfoo.rows import NAME, name_of


class GradedChecks:
    """Reads the assertions of one file; like ones, which most tests have, once.

    Files that an assertion names are not read: they need not be there any more.

    Args:
        graders: Names a judge for those that ask one.
    """

    def __init__(self, graders: Graders | None = None) -> None:
        self._reader = AssertionReader(graders=graders)
        self._known: dict[str, Check | None] = {}

    def put(self, case: Case, test: TestCase) -> Case:
        """A case with its checks, under the metrics of the rows that its file has for it.

        Args:
            case: The case, with its variables.
            test: Its test, with its assertions and what it says to their graders.

        Returns:
            The case, with its reference answer; what no check stands for is in its extras, as in a
            case from a config.
        """
        assertions = test.assertions or ()
        if case.expected == "":
            case = case.model_copy(update={"expected": expected_of(case.vars, assertions)})
        options = test.options if isinstance(test.options, dict) else {}
        graded = Graded(case.vars, _grading(options), case.expected)
        names: Counter[str] = Counter()
        checks: dict[str, Check] = {}
        foreign: Fields = {}
        for place, plain in enumerate(flat(assertions)):
            metric = numbered(name_of(plain), names)
            check = self._check(plain, graded)
            if check is None:
                foreign[str(place)] = dict(plain)
            else:
                checks.setdefault(metric, check.model_copy(update={"metric": metric}))
        kept = {"options": graded.options, "assert": foreign}
        update: Fields = {"checks": tuple(checks.values())}  # each one valid, and named once
        if held := {key: value for key, value in kept.items() if value}:
            update["extras"] = freeze({**case.extras, NAME: held})
        return case.model_copy(update=update)

    def _check(self, plain: Mapping[str, Any], graded: Graded) -> Check | None:
        if is_template(plain):
            return self._read(plain, graded)
        told = (graded.options, graded.expected) if _is_judged(plain) else ()
        key = json.dumps([plain, *told], sort_keys=True, default=str)
        if key not in self._known:
            self._known[key] = self._read(plain, graded)
        return self._known[key]

    def _read(self, plain: Mapping[str, Any], graded: Graded) -> Check | None:
        read = ReadAsserts()
        node = Node(dict(plain), Document(Path(NAME), "", dict(plain), {}))
        self._reader.read([node], graded, read)
        return read.checks[0] if read.checks else None


def judges_of(bundle: Bundle, graders: Graders, source: Path) -> tuple[Bundle, list[str]]:
    """A results file's bundle with the judges that its checks name, and what a person should know.

    They are part of a suite: without it, no run could ask them.
    """
    checks = [check for case in bundle.cases for check in case.checks]
    judges = graders.named_in(checks)
    if not judges:
        return bundle, []
    stem = source.stem
    fields = {
        "name": stem,
        "golden_set": f"{stem}.cases.jsonl",
        "system": {"recorded": f"{stem}.outputs.jsonl"},
        "judges": judges,
    }
    suite = Suite.model_validate(fields)
    return bundle.model_copy(update={"suite": suite}), list(told_of(judges, checks))


def _grading(options: Mapping[str, Any]) -> Fields:
    return {key: options[key] for key in GRADING if key in options}


def _is_judged(plain: Mapping[str, Any]) -> bool:
    """Whether what is said to graders changes what an assertion, or a set of them, is."""
    return any(kind_of(str(each.get("type"))).asks_judge for each in members_of(plain))


def flat(assertions: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Assertions in the order of their results: a set, then what it holds."""
    for assertion in assertions:
        yield assertion
        held = assertion.get("assert")
        yield from (each for each in held if isinstance(each, dict)) if held else ()
