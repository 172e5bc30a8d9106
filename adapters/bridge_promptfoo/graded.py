"""The assertions of a results file as checks, so that its recorded answers can be scored again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.values import freeze
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.assertions import AssertionReader, Graded, ReadAsserts, numbered
from bridge_promptfoo.config.files import Document, Node
from bridge_promptfoo.config.templates import is_template
from bridge_promptfoo.rows import NAME, name_of


class GradedChecks:
    """Reads the assertions of one file; like ones, which most tests have, once.

    Files that an assertion names are not read: they need not be there any more.
    """

    def __init__(self) -> None:
        self._reader = AssertionReader()
        self._known: dict[str, Check | None] = {}

    def put(self, case: Case, assertions: Iterable[Mapping[str, Any]]) -> Case:
        """A case with its checks, under the metrics of the rows that its file has for it.

        Args:
            case: The case, with its variables.
            assertions: Its assertions, all of them.

        Returns:
            The case; what no check stands for is in its extras, as in a case from a config.
        """
        names: Counter[str] = Counter()
        checks: dict[str, Check] = {}
        foreign: Fields = {}
        for place, plain in enumerate(flat(assertions)):
            metric = numbered(name_of(plain), names)
            check = self._check(plain, case.vars)
            if check is None:
                foreign[str(place)] = dict(plain)
            else:
                checks.setdefault(metric, check.model_copy(update={"metric": metric}))
        update: Fields = {"checks": tuple(checks.values())}  # each one valid, and named once
        if foreign:
            update["extras"] = freeze({**case.extras, NAME: {"assert": foreign}})
        return case.model_copy(update=update)

    def _check(self, plain: Mapping[str, Any], variables: Mapping[str, Any]) -> Check | None:
        if is_template(plain):
            return self._read(plain, variables)
        key = json.dumps(plain, sort_keys=True)
        if key not in self._known:
            self._known[key] = self._read(plain, {})
        return self._known[key]

    def _read(self, plain: Mapping[str, Any], variables: Mapping[str, Any]) -> Check | None:
        read = ReadAsserts()
        node = Node(dict(plain), Document(Path(NAME), "", dict(plain), {}))
        self._reader.read([node], Graded(variables), read)
        return read.checks[0] if read.checks else None


def flat(assertions: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Assertions in the order of their results: a set, then what it holds."""
    for assertion in assertions:
        yield assertion
        held = assertion.get("assert")
        yield from (each for each in held if isinstance(each, dict)) if held else ()
