"""A framework's own metrics carried out beside the shared checks of a job.

They are not held against each other: their difference between frameworks is a result. Each asks its
judge through the adapter's hook; what cannot be scored is told apart before anything is asked.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from math import isfinite
from typing import Any

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.errors import BridgeError
from bridge.model.job import JobSpec
from bridge.model.output import Output
from bridge.model.score import Measurement, Score
from bridge.plugin.framework import FrameworkInfo
from bridge.plugin.metrics import by_name
from bridge.plugin.scoring.applicable import known_of
from bridge.plugin.scoring.measurer import Measurer, Question, tag_of, varies
from bridge.plugin.scoring.route import Pair, Task
from bridge.plugin.scoring.shared import Answer, encode
from bridge.scorers.evaluate import checks_with_turns, evaluate
from bridge.scorers.registry import is_native

_LOG = logging.getLogger(__name__)

MOST_THREADS = 64
ROUNDING = 1e-6
"""How far from 0 and 1 frameworks' rounding takes a value: cosines above 1, precisions below."""


@dataclass(frozen=True, slots=True)
class Work:
    """One check on one output, or on one of its turns: one row."""

    case: Case
    output: Output
    check: Check
    turn: int | None

    @property
    def key(self) -> tuple[str, int]:
        """The output within its system."""
        return (self.output.case_id, self.output.epoch)


class NativeRun(ABC):
    """One task's native metrics on their way through a framework.

    Args:
        info: The framework.
        task: Its part of a job.
        spec: The job.
    """

    def __init__(self, info: FrameworkInfo, task: Task, spec: JobSpec) -> None:
        self.info = info
        self.task = task
        self.spec = spec
        self.metrics = by_name(info.native_metrics)

    @abstractmethod
    def measured(self, works: Sequence[Work]) -> Iterator[tuple[Work, Measurement]]:
        """Every work with what was found, in any order; leaves the native artefact."""

    def rows(self) -> Iterator[Score]:
        """The rows of every native check, as they are scored."""
        works = list(self.works())
        if not works:
            return
        for work, found in self.measured(works):
            yield self.task.rows.score(work.check, work.output, found)

    def works(self) -> Iterator[Work]:
        """The task's native checks on every output."""
        return native_works(self.task.pairs, self.spec.checks)

    def known(self, check: Check, case: Case, output: Output) -> Measurement | None:
        """What is known of a metric without asking; ``None`` where it is to be carried out."""
        return known_of(self.info, self.spec.judges, check, case, output)

    def tag(self, work: Work) -> dict[str, Any]:
        """What a judge is asked for, for its ledger."""
        return tag_of(self.info, work.check, work.output)

    def vary(self, check: Check) -> bool:
        """Whether a check's judge may answer an equal question differently."""
        return varies(self.spec.judges, check)

    @property
    def name(self) -> str:
        """Name of the native artefact."""
        return f"{self.task.name}-native"


class OneByOne(NativeRun):
    """Native metrics that a framework carries out one at a time, several threads side by side."""

    def __init__(self, info: FrameworkInfo, task: Task, spec: JobSpec) -> None:
        super().__init__(info, task, spec)
        self._measurer = Measurer(info, spec.judges, self.measure)
        self._left: dict[tuple[str, int], int] = {}
        self._answers: dict[tuple[str, int], list[tuple[Work, Answer]]] = {}

    @abstractmethod
    def prepare(self) -> None:
        """Import what :meth:`measure` needs: several threads at a time would see half a module."""

    @abstractmethod
    def measure(self, question: Question) -> Measurement:
        """Carry out one metric; called in several threads at a time, may raise."""

    @abstractmethod
    def record(self, case: Case, output: Output, answers: Mapping[str, list[Answer]]) -> None:
        """Take the answers on one output, by metric, into the native artefact."""

    @abstractmethod
    def finish(self) -> None:
        """Write the native artefact."""

    def measured(self, works: Sequence[Work]) -> Iterator[tuple[Work, Measurement]]:
        """Every work with what was found, as it comes."""
        self.prepare()
        self._left.update(Counter(work.key for work in works))
        pool = ThreadPoolExecutor(self._threads(), thread_name_prefix="native")
        try:
            waiting = {pool.submit(self._evaluate, work): work for work in works}
            for done in as_completed(waiting):
                work, found = waiting[done], done.result()
                self._keep(work, found)
                yield work, found
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        self.finish()

    def _threads(self) -> int:
        most = sum(judge.concurrency for judge in self.spec.judges.values())
        return max(1, min(MOST_THREADS, most))

    def _evaluate(self, work: Work) -> Measurement:
        tag = self.tag(work)

        def carry_out(check: Check, case: Case, output: Output) -> Measurement:
            return self._measurer.carry_out(check, case, output, tag)

        return evaluate(work.check, work.case, work.output, work.turn, carry_out)

    def _keep(self, work: Work, found: Measurement) -> None:
        key = work.key
        self._answers.setdefault(key, []).append((work, (work.check, found)))
        self._left[key] -= 1
        if self._left[key]:
            return
        by_metric: dict[str, list[Answer]] = {}
        done = sorted(self._answers.pop(key), key=lambda each: each[0].turn or 0)
        for each, answer in done:
            by_metric.setdefault(each.check.metric, []).append(answer)
        try:
            self.record(work.case, work.output, by_metric)
        except BridgeError:
            raise
        except Exception:  # noqa: BLE001
            # the framework's own form cannot hold the case, as its rows say: the others go on
            _LOG.exception("case %r is not in the native artefact", work.case.id)

    def encoded(self, answers: Iterable[Answer]) -> list[dict[str, Any]]:
        """Rows as plain JSON, for a field of the framework's own."""
        return encode(answers, self.task.rows.native)


def native_works(pairs: Iterable[Pair], checks: Sequence[Check]) -> Iterator[Work]:
    """The native checks on every output, one a row."""
    for case, output in pairs:
        for check, turn in checks_with_turns(checks, case):
            if is_native(check):
                yield Work(case, output, check, turn)


def exact_at_ends(value: float) -> float:
    """A value that is 0 or 1 but for rounding, as just that: else no threshold of 1 is reached.

    Raises:
        ValueError: If it is not in [0, 1].
    """
    nearest = float(round(value)) if isfinite(value) else value
    number = nearest if abs(value - nearest) <= ROUNDING else value
    if not 0 <= number <= 1:
        raise ValueError(f"the framework gave {value}, which is not in [0, 1]")
    return number
