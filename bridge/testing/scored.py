"""A suite sent through frameworks, and what each of them gave before the driver put it in order."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from bridge.execution.driver import Drive
from bridge.execution.jobs import read_job, scores_file
from bridge.execution.plan import Selection, make_plan
from bridge.files.jsonl import read_lines, write_atomically
from bridge.files.store import RunStore, safe_name
from bridge.files.suite import read_suite, read_suite_cases, write_suite
from bridge.model.run import FrameworkRecord, RunRecord
from bridge.model.suite import GoldenSetRef
from bridge.report.inert import one_line

Key = tuple[str, str, int, int | None, str]
"""(system, case_id, epoch, turn, metric)."""

Row = dict[str, Any]

MOST = 5
"""Most differences that are shown."""

SHARED = ("value", "status", "reason", "error", "label", "details", "turn", "threshold", "weight")
"""Fields of a row that are bit-identical in every framework."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A suite's rows, by framework.

    Attributes:
        suite: The suite.
        store: The run directory.
        record: The run's record.
        left: Names of what was written beside the suite.
    """

    suite: Path
    store: RunStore
    record: RunRecord
    left: frozenset[str]

    def owed(self, framework: str) -> list[Key]:
        """The key of every row that a framework owes, in the order of its jobs' outputs."""
        rows = {(each.system, each.case_id, each.epoch): each for each in self.store.read_rows()}
        return [
            (*output.key, turn, metric)
            for job in self._jobs(framework)
            for output in read_job(job).outputs
            for metric, turn in rows[output.key].rows
        ]

    def lines(self, framework: str) -> list[bytes]:
        """The rows that a framework gave, as it gave them: what the driver adds is not there."""
        files = [scores_file(job) for job in self._jobs(framework)]
        return [line for path in files if path.is_file() for _, line in read_lines(path)]

    def _jobs(self, framework: str) -> list[Path]:
        return sorted((self.store.root / "jobs").glob(f"{safe_name(framework)}-[0-9]*"))

    def given(self, framework: str) -> list[Row]:
        """:meth:`lines`, as data."""
        return [json.loads(line) for line in self.lines(framework)]

    def record_of(self, framework: str) -> FrameworkRecord:
        """What the run says of a framework."""
        return next(each for each in self.record.frameworks if each.name == framework)


def score(suite: Path, frameworks: Sequence[str], folder: Path, workers: int = 2) -> Scored:
    """Send a suite through frameworks, each in worker processes of its own.

    Args:
        suite: The suite.
        frameworks: Names, or ``module:attribute``.
        folder: The run directory.
        workers: Most processes at a time.
    """
    plan = make_plan(suite, Selection(frameworks=tuple(frameworks)))
    store = RunStore(folder)
    before = set(suite.parent.iterdir())
    record = Drive(plan, store, workers=workers).run()
    left = {path.name for path in set(suite.parent.iterdir()) - before - {folder}}
    return Scored(suite, store, record, frozenset(left - {"__pycache__"}))


def shuffled_suite(suite: Path, share: float = 1.0) -> Path:
    """A suite over a share of the same cases in another order, with other neighbours.

    It is written beside the first, whose outputs and modules it uses.
    """
    whole = read_suite(suite)
    golden = read_suite_cases(whole, suite)
    count = max(1, round(share * len(golden.cases)))
    chosen = random.Random(7).sample(golden.cases, count)  # noqa: S311  # any other order will do
    cases = suite.with_name(f"{suite.stem}.shuffled.cases.jsonl")
    lines = (f"{case.model_dump_json(exclude_defaults=True)}\n" for case in chosen)
    write_atomically(cases, lines)
    path = suite.with_name(f"{suite.stem}.shuffled.yaml")
    refs = (GoldenSetRef(path=cases.name),)
    write_suite(whole.model_copy(update={"golden_set": refs}), path)
    return path


def key_of(row: Mapping[str, Any]) -> Key:
    """What a row is joined by within one framework."""
    return (row["system"], row["case_id"], row["epoch"], row["turn"], row["metric"])


def by_key(rows: Sequence[Row]) -> dict[Key, Row]:
    """What must be the same in every framework, by key."""
    return {key_of(row): {field: row[field] for field in SHARED} for row in rows}


def differences(expected: Mapping[Key, Row], found: Mapping[Key, Row]) -> list[str]:
    """Where rows differ, one line a row, at most ``MOST``: values may be long, and are cut."""
    lines = (
        f"{_shown(key)}: {field} is {_shown(found[key][field])}, not {_shown(row[field])}"
        for key, row in expected.items()
        if key in found and found[key] != row
        for field in SHARED
        if found[key][field] != row[field]
    )
    lacking = (f"{_shown(key)} cannot be compared" for key in expected if key not in found)
    return list(islice(chain(lines, lacking), MOST))


def _shown(value: object) -> str:
    return one_line(repr(value), 100)
