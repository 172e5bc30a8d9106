"""A cheap native route held against the plain public one: what all adapters have in common.

A route may lean on a framework's private names only while its results on some cases are those of
the framework's own public function: on the first cases before anything else, and on every case
on which a scorer raised. On a difference, or where a private name has moved, everything goes the
public way. Which way was taken is recorded in ``route.json``.
"""

from __future__ import annotations

import gc
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from bridge.files.jsonl import write_atomically
from bridge.files.store import safe_name
from bridge.model.case import Case
from bridge.model.errors import BridgeError
from bridge.model.job import Job
from bridge.model.output import Output
from bridge.model.score import Score, error_measurement
from bridge.plugin.framework import FrameworkInfo, version_of
from bridge.plugin.scoring.shared import Rows, SharedMetric, shared_metrics
from bridge.scorers.evaluate import shared_with_turns

PROBE = 20
"""Cases scored both ways at a time."""

BATCH = 100
"""Cases taken through each step at a time, which keeps the processor's caches warm."""

Pair = tuple[Case, Output]
Native = TypeVar("Native")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Task:
    """One system's part of a job.

    Attributes:
        name: Name of the native artefact, fit for a file.
        system: The system whose outputs these are.
        pairs: Cases with their outputs.
        metrics: Every metric of the job.
        folder: Where the native artefact goes.
        rows: Makes score rows of measurements, for cases that cannot be translated.
        stamp: ``framework``, ``framework_version`` and ``system`` of every row.
    """

    name: str
    system: str
    pairs: tuple[Pair, ...]
    metrics: tuple[SharedMetric, ...]
    folder: Path
    rows: Rows
    stamp: Mapping[str, str]

    def key(self, output: Output) -> dict[str, Any]:
        """What every row of an output has in common."""
        return {**self.stamp, "case_id": output.case_id, "epoch": output.epoch}


class Route(ABC, Generic[Native, Found]):
    """One task on its way through a framework.

    ``Native`` is a case and its output as the framework's own object, ``Found`` what it says of
    it. The three steps that differ are left to the adapter.
    """

    public: ClassVar[str]
    """Name of the public function that the direct route is held against."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.taken = "direct"
        self.compared = 0
        self.differences: list[str] = []
        self._broken: dict[tuple[str, int], tuple[Pair, str]] = {}

    @abstractmethod
    def translate(self, case: Case, output: Output) -> Native:
        """The native object; may raise, which makes the case's rows errors."""

    @abstractmethod
    def rows_of(self, output: Output, found: Found) -> Iterable[Score]:
        """Score rows of what the framework found."""

    @abstractmethod
    def directly(self) -> Iterator[Score]:
        """The cheap way, leaving the native artefact."""

    @abstractmethod
    def publicly(self, pairs: Sequence[Pair], *, keep: bool) -> Iterator[tuple[Pair, Found]]:
        """The public way; leaves the native artefact if it is to ``keep`` one."""

    @abstractmethod
    def compare(self, pairs: Sequence[Pair]) -> list[tuple[Pair, Found]]:
        """Go both ways with some cases, note differences; the findings of the public way."""

    def rehearse(self, found: Sequence[tuple[Pair, Found]]) -> None:
        """Write a native artefact of a few cases aside, read it back by the framework's own reader.

        Raises:
            Exception: If the framework does not take it; the direct route is then not taken.
        """

    def run(self) -> Iterator[Score]:
        """The rows of every output, as they are scored."""
        try:
            self.rehearse(self.compare(self.task.pairs[:PROBE]))
        except BridgeError:
            raise
        except Exception as error:  # noqa: BLE001 - any change inside the framework: not this way
            self.differences.append(f"{type(error).__name__}: {error}")
        if self.differences:
            self.taken = self.public
            for (_, output), found in self.publicly(self.task.pairs, keep=True):
                yield from self.rows_of(output, found)
        else:
            yield from self.directly()
        for (case, output), why in self._broken.values():
            yield from self.task.rows.of(
                case,
                output,
                [
                    error_measurement(why, metric=check.metric, turn=turn)
                    for check, turn in shared_with_turns(self.task.rows.suite, case)
                ],
            )

    def batches(self) -> Iterator[list[tuple[Case, Output, Native]]]:
        """All translated pairs, some at a time: each step on many is cheaper than all on one."""
        native = self.translated(self.task.pairs)
        while batch := list(islice(native, BATCH)):
            yield batch

    def translated(self, pairs: Iterable[Pair]) -> Iterator[tuple[Case, Output, Native]]:
        """Pairs with their native objects; those that have none are kept for the end."""
        for case, output in pairs:
            try:
                native = self.translate(case, output)
            except Exception as error:  # noqa: BLE001 - one faulty case must not cost the others
                why = f"the case cannot be translated ({type(error).__name__}: {error})"
                self._broken[(case.id, output.epoch)] = ((case, output), why)
                continue
            yield case, output, native


def run_tasks(
    info: FrameworkInfo,
    job: Job,
    route: Callable[[Task], Route[Any, Any]],
    natives: Callable[[Task], Iterable[Score]] = lambda _: (),
) -> Iterator[Score]:
    """Send each system's part of a job its way, and record in ``route.json`` which way it was.

    Args:
        info: The framework.
        job: The job.
        route: The way of the shared checks.
        natives: The rows of the framework's own metrics; they come after the others.
    """
    tasks = _tasks(info, job)
    with _gc_paused():
        record = yield from _run_all([route(task) for task in tasks if task.metrics])
    head = {"framework": info.name, "version": version_of(info)}
    text = json.dumps({**head, **record}, ensure_ascii=False, indent=2)
    write_atomically(job.spec.native_dir / "route.json", [text, "\n"])
    for task in tasks:
        yield from natives(task)


def _run_all(routes: Sequence[Route[Any, Any]]) -> Generator[Score, None, dict[str, Any]]:
    for each in routes:
        yield from each.run()
    return {
        "route": "+".join(sorted({each.taken for each in routes})),
        "probe": {
            "cases": sum(each.compared for each in routes),
            "differences": [text for each in routes for text in each.differences],
        },
    }


def _tasks(info: FrameworkInfo, job: Job) -> list[Task]:
    groups: dict[str, list[Pair]] = {}
    for case, output in job.pairs():
        groups.setdefault(output.system, []).append((case, output))
    version = version_of(info)
    rows = Rows(info, version, job.spec.checks)
    metrics = tuple(shared_metrics(job.spec.checks, job.cases))
    name = f"{job.spec.suite}-{job.spec.shard}"
    return [
        Task(
            name=safe_name(name if len(groups) == 1 else f"{name}-{system}"),
            system=system,
            pairs=tuple(pairs),
            metrics=metrics,
            folder=job.spec.native_dir,
            rows=rows,
            stamp={"framework": info.name, "framework_version": version, "system": system},
        )
        for system, pairs in groups.items()
    ]


@contextmanager
def _gc_paused() -> Iterator[None]:
    """No cycle collection meanwhile: native objects are many, short-lived and without cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
