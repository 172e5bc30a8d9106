"""A suite's rows for pytest: only what was selected is asked and scored, and that once.

The processes of pytest-xdist all hold every item: the first one that needs a row scores for all of
them, the others wait for it and read. The run is an ordinary one and stays in pytest's cache folder
(``.pytest_cache/d/bridge``), judges' replies with it, so that the next run asks only what is new.
"""

from __future__ import annotations

import fcntl
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest

from bridge.execution.driver import Drive
from bridge.execution.plan import Plan
from bridge.files.outputs import read_outputs
from bridge.files.scores import read_scores
from bridge.files.store import RunStore, safe_name
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import RowKey, Score

OutputKey = tuple[str, str, int]
IDLE = ("skipped", "unsupported")


@dataclass(slots=True)
class SuiteRun:
    """The rows of one suite in one pytest run.

    Attributes:
        plan: The whole suite.
        folder: The run directory.
        session: What the processes of one pytest run have in common.
        every: The key of every row of the suite.
    """

    plan: Plan
    folder: Path
    session: str
    every: Sequence[RowKey]
    _rows: dict[RowKey, Score] = field(default_factory=dict)
    _outputs: dict[OutputKey, Output] = field(default_factory=dict)
    _idle: frozenset[OutputKey] = frozenset()
    _broken: Exception | None = None

    def score(self, wanted: Sequence[RowKey]) -> None:
        """Score rows, unless that was tried before.

        Args:
            wanted: The rows that were selected.

        Raises:
            BridgeError: What went wrong, again each time.
        """
        if self._broken is not None:
            raise self._broken
        if self._rows:
            return
        try:
            self._rows, self._outputs = self._shared(wanted)
        except Exception as error:
            self._broken = error
            raise
        self._idle = unscored(self._rows, wanted, self.every)

    def row(self, key: RowKey) -> Score:
        """A row; an error where there is none, or where nothing at all was scored on its output."""
        row = self._rows.get(key)
        if row is not None and not (row.status in IDLE and _output_of(key) in self._idle):
            return row
        why = "the run has no such row" if row is None else f"nothing was scored: {row.reason}"
        given = {**key._asdict(), "status": "error", "error": why, "reason": why}
        return Score.model_validate(given)

    def output(self, key: RowKey) -> Output | None:
        """What was answered."""
        return self._outputs.get((key.system, key.case_id, key.epoch))

    def _shared(
        self, wanted: Sequence[RowKey]
    ) -> tuple[dict[RowKey, Score], dict[OutputKey, Output]]:
        """Score, or read what another process of this pytest run scored."""
        store = RunStore(self.folder)
        done = self.folder.with_name(f"{self.folder.name}.done")
        token = f"{self.session} {sha256(repr(sorted(map(repr, wanted))).encode()).hexdigest()}"
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.folder.with_name(f"{self.folder.name}.lock")):
            plan = narrowed(self.plan, wanted, self.every)
            if not (done.is_file() and done.read_text("utf-8") == token):
                done.unlink(missing_ok=True)
                Drive(plan, store).run()
                done.write_text(token, "utf-8")
            rows = {
                row.key: row
                for framework in plan.suite.frameworks
                for row in read_scores(store.scores_path(framework.name))
            }
            outputs = {output.key: output for output in read_outputs(store.outputs_path)}
        return rows, outputs


def narrowed(plan: Plan, wanted: Sequence[RowKey], every: Sequence[RowKey]) -> Plan:
    """The plan without the frameworks, cases and metrics of which no row is wanted."""
    if len(wanted) == len(every):
        return plan
    frameworks = {key.framework for key in wanted}
    cases = {key.case_id for key in wanted}
    metrics = frozenset(key.metric for key in wanted)
    suite = plan.suite.model_copy(
        update={
            "frameworks": tuple(f for f in plan.suite.frameworks if f.name in frameworks),
            "checks": tuple(c for c in plan.suite.checks if c.metric in metrics),
        }
    )
    kept = tuple(_with_metrics(case, metrics) for case in plan.cases if case.id in cases)
    return replace(plan, suite=suite, cases=kept)


def _with_metrics(case: Case, metrics: frozenset[str]) -> Case:
    turns = tuple(
        turn.model_copy(update={"checks": tuple(c for c in turn.checks if c.metric in metrics)})
        for turn in case.turns
    )
    checks = tuple(check for check in case.checks if check.metric in metrics)
    return case.model_copy(update={"checks": checks, "turns": turns})


def unscored(
    rows: dict[RowKey, Score], wanted: Sequence[RowKey], every: Sequence[RowKey]
) -> frozenset[OutputKey]:
    """Outputs on which nothing was scored though all of their rows were wanted.

    Where nothing at all was scored, all outputs are: a selection that skips everything is no pass.
    """
    owed = Counter(_output_of(key) for key in every)
    asked = Counter(_output_of(key) for key in wanted)
    scored = {_output_of(key) for key in wanted if key in rows and rows[key].status not in IDLE}
    if not scored:
        return frozenset(asked)
    return frozenset(key for key in asked if asked[key] == owed[key] and key not in scored)


def _output_of(key: RowKey) -> OutputKey:
    return (key.system, key.case_id, key.epoch)


def run_folder(config: pytest.Config, nodeid: str) -> tuple[Path, str]:
    """Where the run of a suite goes, and what tells this pytest run from others."""
    session = getattr(config, "workerinput", {}).get("testrunuid", uuid4().hex)
    name = f"{safe_name(nodeid)[-60:]}-{sha256(nodeid.encode()).hexdigest()[:8]}"
    cache = getattr(config, "cache", None)
    if cache is not None:
        return cache.mkdir("bridge") / name, session
    return Path(tempfile.gettempdir()) / f"bridge-{safe_name(session)}" / name, session


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process, whatever happens to it."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
