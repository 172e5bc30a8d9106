"""A job carried out by promptfoo's own assertions: the source's side of a migration's proof.

Asked for with the option ``own_checks``. Checks that promptfoo has no assertion for are carried out
by the shared scorers, as in any other job. An assertion on a recorded figure that an output does
not have (promptfoo would time the replay) is unsupported, as is one whose library is not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from bridge.files.scores import as_score
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.job import JobSpec
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.carry import KEY
from bridge.plugin.scoring.route import Task
from bridge.plugin.scoring.shared import SharedMetric
from bridge.scorers.evaluate import shared_with_turns
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.original import original_assertion, safe_variables
from bridge_promptfoo.info import INFO
from bridge_promptfoo.install import has_package
from bridge_promptfoo.records import Component, Row
from bridge_promptfoo.replay import to_checked_test
from bridge_promptfoo.route import PromptfooRoute
from bridge_promptfoo.rows import name_of, read_left_out, read_score
from bridge_promptfoo.scorers import to_assertion

OWN = "own:"
"""Start of the metric's name of such an assertion; the check's place follows."""
_RECORDED = {"latency": "latency_s", "cost": "cost_usd"}
"""Scorers of recorded figures, with the output's field."""


_SQL = frozenset({"is_sql", "contains_sql"})
SQL_PARSER = "node-sql-parser"
"""What promptfoo's users install themselves for its SQL assertions."""


@dataclass(frozen=True, slots=True)
class OwnAssertion:
    """A check with the assertion of promptfoo's own behind it.

    Attributes:
        check: The check.
        assertion: The assertion, its metric's name the check's place.
        why_not: Why it cannot be carried out on an output; "" where it can.
    """

    check: Check
    assertion: Fields
    why_not: str


class OwnRoute(PromptfooRoute):
    """The native route with promptfoo's own assertions, whose templates it renders."""

    switches: ClassVar[tuple[tuple[str, str], ...]] = tuple(
        switch for switch in INFO.environment if switch[0] != "PROMPTFOO_DISABLE_TEMPLATING"
    )

    def __init__(self, task: Task, spec: JobSpec) -> None:
        super().__init__(task, spec)
        self._cases = {case.id: case for case, _ in task.pairs}

    def translate(self, case: Case, output: Output) -> dict[str, Any]:
        """An answered case as a test with its own assertions."""
        found = self._own(case, output)
        own = {each.check.metric: each for each in found}

        def assertion(metric: SharedMetric, check: Check) -> Fields:
            each = own.get(metric.metric)
            return each.assertion if each is not None else to_assertion(metric, check)

        carried_out = [
            metric
            for metric in self.task.metrics
            if not (each := own.get(metric.metric)) or not each.why_not
        ]
        suite = self.task.rows.suite
        test = to_checked_test(case, [output], carried_out, suite, assertion)
        return {**test, "vars": safe_variables(case)}

    def rows_of(self, output: Output, found: Row) -> Iterable[Score]:
        """Score rows of a row of promptfoo's results that was scored."""
        grading, key = found.grading_result, self.task.key(output)
        own = self._own(self._cases[output.case_id], output)
        yield from (_unsupported(each, key) for each in own if each.why_not)
        if grading is None:
            return
        by_name = {each.assertion["metric"]: each for each in own}
        for native in grading.component_results or ():
            if native is None:
                continue
            if (each := by_name.get(_name(native))) is not None:
                yield _score(native, key, each)
            elif _is_shared(native):
                yield from map(as_score, read_score(native, key))
        yield from read_left_out(grading.metadata, key)

    def _own(self, case: Case, output: Output) -> list[OwnAssertion]:
        """The checks of a case that promptfoo has assertions of its own for."""
        if case.turns:
            return []
        found = []
        for place, (check, _) in enumerate(shared_with_turns(self.task.rows.suite, case)):
            made = original_assertion(check, case.vars)
            if made is not None:
                named = {**made, "metric": f"{OWN}{place}"}
                if named.get("weight") == 0:
                    del named["weight"]  # its verdict is asked for, which promptfoo then gives
                found.append(OwnAssertion(check, named, _why_not(check, output, named)))
        return found


def _why_not(check: Check, output: Output, made: Fields) -> str:
    """Why an assertion cannot be carried out; it would be an error for its whole test."""
    for member, assertion in zip(check.checks, made.get("assert", ()), strict=True):
        if why := _why_not(member, output, assertion):
            return why
    field = _RECORDED.get(check.scorer)
    if field is not None and getattr(output, field) is None:
        return f"no {check.scorer} is recorded"
    if check.scorer in _SQL and not has_package(SQL_PARSER):
        return f"promptfoo needs {SQL_PARSER} for it, which is not installed"
    return ""


def _name(native: Component) -> str:
    return name_of(native.assertion or (native.metadata or {}).get("assertionSet") or {})


def _is_shared(native: Component) -> bool:
    return KEY in ((native.assertion or {}).get("config") or {})


def _score(native: Component, key: Mapping[str, Any], own: OwnAssertion) -> Score:
    """The row of an assertion of promptfoo's own, under the metric of the check it is behind."""
    (row,) = read_score(native, key)
    named = {"metric": own.check.metric, "scorer": own.assertion["type"]}
    return as_score(row).model_copy(update=named)


def _unsupported(own: OwnAssertion, key: Mapping[str, Any]) -> Score:
    fields = {**key, "metric": own.check.metric, "scorer": own.assertion["type"]}
    return Score(**fields, status="unsupported", reason=own.why_not)
