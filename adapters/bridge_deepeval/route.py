"""The cheap native route, and the plain public one that it is held against.

The direct route calls ``measure`` on every test case and writes the run file by DeepEval's own
classes; ``evaluate`` spends 5 to 40 times that on settings, threads, caches and tables.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bridge.files.scores import as_score
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.carry import Remembered
from bridge.plugin.scoring.route import PROBE, Pair, Route, Task
from bridge_deepeval.artefact import RunFile
from bridge_deepeval.cases import from_test_case, is_conversation, to_test_case
from bridge_deepeval.rows import read_score

if TYPE_CHECKING:
    from deepeval.tracing.api import MetricData

Found = Sequence["MetricData"]


class DeepEvalRoute(Route[Any, Found]):
    """A task as a DeepEval run: a recorded answer is a test case, found is its metric data."""

    public = "evaluate"

    def translate(self, case: Case, output: Output) -> Any:
        """An answered case as a test case."""
        return to_test_case(case, output)

    def rows_of(self, output: Output, found: Found) -> Iterable[Score]:
        """Score rows of a test case's metric data."""
        key = self.task.key(output)
        for native in found:
            yield from map(as_score, read_score(native, key))

    def directly(self) -> Iterator[Score]:
        """Measure case by case, and write the run file at the end."""
        started = time.perf_counter()
        run = RunFile(self._path, self.task.name, self.task.system)
        raised: list[Pair] = []
        direct = Direct(self.task)
        for batch in self.batches():
            found: list[Found] = [direct.score(test_case) for _, _, test_case in batch]
            rows: list[Score] = []
            for (case, output, test_case), each in zip(batch, found, strict=True):
                if output.error is None and _any_raised(each):
                    raised.append((case, output))
                else:
                    run.add(test_case, output.epoch, each)
                    rows += self.rows_of(output, each)
            yield from rows
            if len(raised) >= PROBE:
                yield from self._settle(raised, run)
                raised.clear()
        yield from self._settle(raised, run)
        run.finish(time.perf_counter() - started)

    def _settle(self, raised: Sequence[Pair], run: RunFile) -> Iterator[Score]:
        """Cases on which a scorer raised, as the public way has them."""
        for (case, output), found in self.compare(raised):
            run.add(to_test_case(case, output), output.epoch, found)
            yield from self.rows_of(output, found)

    def publicly(self, pairs: Sequence[Pair], *, keep: bool) -> Iterator[tuple[Pair, Found]]:
        """Score by ``deepeval.evaluate``, cases and conversations apart as it demands."""
        native = list(self.translated(pairs))
        found: dict[int, Found] = {}
        for conversational in (False, True):
            chosen = [
                index
                for index, (case, _, _) in enumerate(native)
                if bool(case.turns) == conversational
            ]
            test_cases = [native[index][2] for index in chosen]
            results = evaluate_quietly(test_cases, self.task, conversational, keep)
            for result in results:
                found[chosen[result.index]] = result.metrics_data or []
        for index, (case, output, _) in enumerate(native):
            yield (case, output), found[index]

    def compare(self, pairs: Sequence[Pair]) -> list[tuple[Pair, Found]]:
        """Score some test cases both ways."""
        theirs = list(self.publicly(pairs, keep=False))
        direct = Direct(self.task)
        self.compared += len(theirs)
        native = self.translated(pairs)
        for (_, other), (case, _, test_case) in zip(theirs, native, strict=True):
            difference = _difference(direct.score(test_case), other)
            if difference:
                self.differences.append(f"{case.id}: {difference}")
        return theirs

    def rehearse(self, found: Sequence[tuple[Pair, Found]]) -> None:
        """Write a run file of these cases as :meth:`directly` does, and read it by DeepEval."""
        from deepeval.test_run import TestRun

        with TemporaryDirectory() as folder:
            path = Path(folder) / "rehearsal.json"
            run = RunFile(path, self.task.name, self.task.system)
            for (case, output), each in found:
                run.add(to_test_case(case, output), output.epoch, each)
            run.finish(0.0)
            with path.open(encoding="utf-8") as file:
                read = TestRun.load(file)  # type: ignore[no-untyped-call]
        records: dict[bool, Iterator[Any]] = {
            False: iter(read.test_cases),
            True: iter(read.conversational_test_cases),
        }
        for (case, _), each in found:
            record = next(records[bool(case.turns)])
            difference = _difference(each, record.metrics_data or [])
            if difference:
                self.differences.append(f"{case.id}: in the run file, {difference}")

    @property
    def _path(self) -> Path:
        return self.task.folder / f"{self.task.name}.json"


class Direct:
    """The native metrics, called on one test case after the other."""

    def __init__(self, task: Task) -> None:
        from deepeval.errors import MissingTestCaseParamsError
        from deepeval.evaluate.utils import create_metric_data

        from bridge_deepeval.scorers import to_metric

        self._missing = MissingTestCaseParamsError
        self._read_off = create_metric_data
        read: Remembered[Any] = Remembered(from_test_case)
        self._metrics: dict[bool, list[Any]] = {
            conversational: [to_metric(each, conversational, read) for each in task.metrics]
            for conversational in (False, True)
        }

    def score(self, test_case: Any) -> list[MetricData]:
        """Measure a test case by every metric that it has a check for."""
        found = []
        for metric in self._metrics[is_conversation(test_case)]:
            try:
                metric.measure(test_case)
            except self._missing:
                continue
            found.append(self._read_off(metric))
        return found


def evaluate_quietly(
    test_cases: Sequence[Any], task: Task, conversational: bool, keep: bool
) -> list[Any]:
    """``deepeval.evaluate`` without threads, caches, tables, prints, uploads and prompts."""
    from deepeval.evaluate import (
        AsyncConfig,
        CacheConfig,
        DisplayConfig,
        ErrorConfig,
        evaluate,
    )

    from bridge_deepeval.scorers import to_metric

    if not test_cases:
        return []
    metrics: list[Any] = [to_metric(each, conversational) for each in task.metrics]
    with redirect_stdout(io.StringIO()):
        result = evaluate(
            test_cases=list(test_cases),
            metrics=metrics,
            identifier=task.name,
            async_config=AsyncConfig(run_async=False),
            cache_config=CacheConfig(write_cache=False),
            error_config=ErrorConfig(ignore_errors=True, skip_on_missing_params=True),
            display_config=DisplayConfig(
                show_indicator=False,
                print_results=False,
                inspect_after_run=False,
                results_folder=str(task.folder) if keep else None,
            ),
        )
    return list(result.test_results)


def _any_raised(found: Found) -> bool:
    return any(each.error is not None for each in found)


def _difference(ours: Found, theirs: Found) -> str:
    if [each.name for each in ours] != [each.name for each in theirs]:
        return f"metrics {[each.name for each in ours]} and {[each.name for each in theirs]}"
    for mine, other in zip(ours, theirs, strict=True):
        if mine != other:
            return f"{mine.name} is {mine.score} and {other.score}"
    return ""
