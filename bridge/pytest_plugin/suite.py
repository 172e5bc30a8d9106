"""A suite as pytest collects it: the file, its cases, and an item for every row that is owed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge.execution.collection import recorded_outputs
from bridge.execution.plan import Plan, make_plan, rows_of
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.errors import BridgeError
from bridge.model.output import Output
from bridge.model.score import RowKey, Score
from bridge.pytest_plugin.names import node_name, row_name
from bridge.pytest_plugin.scoring import SuiteRun, run_folder
from bridge.report.inert import one_line
from bridge.scorers.evaluate import checks_with_turns
from bridge.testing.golden import told

LONGEST = 2000
"""Most characters of an input, a reference or an answer beside a failure."""


class SuiteFile(pytest.File):
    """A suite. Its outputs are collected and its rows scored once, when the first item runs."""

    plan: Plan
    run: SuiteRun

    def collect(self) -> Iterator[CaseNode]:
        """Its cases, each with the rows that it owes.

        Raises:
            BridgeError: Where ``bridge run`` would not start: no case, no check, no outputs.
        """
        self.plan = planned(self.path)
        outputs, notes = expected_outputs(self.plan)
        for note in notes:
            self.warn(pytest.PytestWarning(note))
        several = len({output.system for output in outputs}) > 1
        owed: dict[str, list[RowKey]] = {}
        for rows in rows_of(self.plan, outputs):
            for framework in self.plan.suite.frameworks:
                owed.setdefault(rows.case_id, []).extend(
                    RowKey(framework.name, rows.system, rows.case_id, rows.epoch, turn, metric)
                    for metric, turn in rows.rows
                )
        folder, session = run_folder(self.config, self.nodeid)
        every = [key for keys in owed.values() for key in keys]
        self.run = SuiteRun(self.plan, folder, session, every)
        for case in self.plan.cases:
            name = node_name(case.id)
            yield CaseNode.from_parent(
                self, name=name, case=case, rows=owed.get(case.id, []), several=several
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ARG002
        """What is wrong with the suite, in one line."""
        if isinstance(excinfo.value, BridgeError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def scored(self) -> SuiteRun:
        """The run, with the rows of all items of this suite that are left after selection."""
        items = (item for item in self.session.items if isinstance(item, RowItem))
        self.run.score([item.key for item in items if item.suite is self])
        return self.run


class CaseNode(pytest.Collector):
    """A case of a suite; its tags are keywords for ``-k``."""

    def __init__(self, *, case: Case, rows: list[RowKey], several: bool, **rest: Any) -> None:
        super().__init__(**rest)
        self.case = case
        self._rows = rows
        self._several = several
        self.extra_keyword_matches.update(case.tags)

    def collect(self) -> Iterator[RowItem]:
        """Its rows."""
        suite = self.parent
        assert isinstance(suite, SuiteFile)
        checks = {
            (check.metric, turn): check
            for check, turn in checks_with_turns(suite.plan.suite.checks, self.case)
        }
        for key in self._rows:
            name = row_name(key, several=self._several)
            check = checks[key.metric, key.turn]
            yield RowItem.from_parent(self, name=name, key=key, check=check, suite=suite)


class RowItem(pytest.Item):
    """One row: passes, fails or errs as the row does; what is not to be scored is skipped."""

    parent: CaseNode

    def __init__(self, *, key: RowKey, check: Check, suite: SuiteFile, **rest: Any) -> None:
        super().__init__(**rest)
        self.key = key
        self.suite = suite
        self._check = check
        self.add_marker("bridge")

    def setup(self) -> None:
        """Have the suite scored; a row that could not be is an error of pytest's, no failure."""
        try:
            run = self.suite.scored()
        except BridgeError as error:
            pytest.fail(str(error), pytrace=False)
        row = run.row(self.key)
        self.user_properties += [("framework", row.framework), ("status", row.status)]
        if row.value is not None:
            self.user_properties.append(("value", row.value))
        if row.status == "error":
            self._show("setup", run)
            pytest.fail(self._told(row), pytrace=False)
        if row.status in ("skipped", "unsupported"):
            pytest.skip(told(row, row.threshold))

    def runtest(self) -> None:
        """Fail where the row failed; of a check that the gate leaves out, xfail."""
        run = self.suite.scored()
        row = run.row(self.key)
        if row.status != "failed":
            return
        if not self._check.gate:
            pytest.xfail(f"gate: false: {told(row, row.threshold)}")
        self._show("call", run)
        pytest.fail(self._told(row), pytrace=False)

    def _told(self, row: Score) -> str:
        """What is wrong, and the line of the golden set."""
        path, line = self.suite.plan.golden.places[self.key.case_id]
        return f"{told(row, row.threshold)} ({os.path.relpath(path, self.config.rootpath)}:{line})"

    def _show(self, when: str, run: SuiteRun) -> None:
        """Put question, reference and answer beside what is wrong."""
        case, output = self.parent.case, run.output(self.key)
        answer = None if output is None else output.text or output.turns or output.error
        for title, text in (("input", case.input), ("expected", case.expected), ("answer", answer)):
            if text not in ("", None, ()):
                self.add_report_section(when, title, one_line(text, LONGEST))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The case's line in its golden set."""
        path, line = self.suite.plan.golden.places[self.key.case_id]
        return path, line - 1, f"{self.key.case_id} {self.name}"


def planned(path: Path) -> Plan:
    """A suite's plan; the import path is left as it was."""
    before = sys.path[:]
    try:
        return make_plan(path)
    finally:
        sys.path[:] = before


def expected_outputs(plan: Plan) -> tuple[list[Output], list[str]]:
    """The outputs that are recorded, or stand-ins for those that will be asked for; with notes."""
    if plan.suite.system.recorded:
        return recorded_outputs(plan)
    system = plan.suite.system.name
    return [
        Output(system=system, case_id=case.id, epoch=epoch)
        for case in plan.cases
        for epoch in range(1, plan.suite.epochs + 1)
    ], []
