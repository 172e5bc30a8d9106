"""The cheap native route, and the plain public one that it is held against.

The direct route calls ``measure`` on every test case and writes the run file by DeepEval's own
classes; ``evaluate`` spends 5 to 40 times that on settings, threads, caches and tables. It is
taken only while its results on a sample of the cases are those of ``evaluate``; otherwise
everything goes through ``evaluate``.
"""

from __future__ import annotations

import contextlib
import gc
import io
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.model.case import Case
from bridge.model.errors import BridgeError
from bridge.model.output import Output
from bridge.plugin.carry import Remembered
from bridge.plugin.shared import SharedMetric
from bridge_deepeval.artefact import RunFile, record_metric
from bridge_deepeval.cases import from_test_case, to_test_case

if TYPE_CHECKING:
    from deepeval.tracing.api import MetricData

PROBE = 20
"""Cases that are scored both ways before the direct route is taken."""

Pair = tuple[Case, Output]
Scored = tuple[Case, Output, Sequence["MetricData"]]


@dataclass(slots=True)
class Route:
    """One system's outputs on their way through DeepEval.

    Attributes:
        task: Name of the run.
        path: Where the run file goes.
        pairs: The cases with their outputs.
        metrics: Every metric of the job.
        taken: The route that was taken, once known.
        compared: Cases scored both ways.
        differences: What differed between the two, in words.
    """

    task: str
    path: Path
    pairs: Sequence[Pair]
    metrics: Sequence[SharedMetric]
    taken: str = "direct"
    compared: int = 0
    differences: list[str] = field(default_factory=list)

    def run(self) -> Iterator[Scored]:
        """Score every output, yielding each as it is scored; leaves the run file at ``path``."""
        try:
            self._compare(self.pairs[:PROBE])
        except BridgeError:
            raise
        except Exception as error:  # noqa: BLE001 - any change inside DeepEval means: not this way
            self.differences.append(f"{type(error).__name__}: {error}")
        if self.differences:
            self.taken = "evaluate"
            yield from self._run_publicly()
        else:
            yield from self._run_directly()

    def _run_directly(self) -> Iterator[Scored]:
        started = time.perf_counter()
        direct = Direct(self.metrics)
        run = RunFile(self.path, self.task, self.pairs[0][1].system)
        raised: list[Pair] = []
        with gc_paused():
            for case, output in self.pairs:
                at = time.perf_counter()
                test_case = to_test_case(case, output)
                record = run.open_case(test_case, output.epoch)
                found = direct.score(test_case, record)
                run.add(record, time.perf_counter() - at)
                if output.error is None and any(each.error is not None for each in found):
                    raised.append((case, output))
                    continue
                yield case, output, found
        for case, output, found in self._compare(raised):
            yield case, output, found
        run.finish(time.perf_counter() - started)

    def _run_publicly(self) -> Iterator[Scored]:
        for case, output, found in self._evaluate(self.pairs, self.path.parent):
            yield case, output, found

    def _evaluate(self, pairs: Sequence[Pair], folder: Path | None) -> list[Scored]:
        """Score pairs by ``deepeval.evaluate``, cases and conversations apart as it demands."""
        scored: dict[int, Scored] = {}
        for conversational in (False, True):
            chosen = [
                index for index, (case, _) in enumerate(pairs) if bool(case.turns) == conversational
            ]
            if not chosen:
                continue
            results = evaluate_quietly(
                [to_test_case(*pairs[index]) for index in chosen],
                self.metrics,
                conversational,
                self.task,
                folder,
            )
            if len(results) != len(chosen):
                raise RuntimeError(f"{len(results)} results for {len(chosen)} test cases")
            for result in results:
                case, output = pairs[chosen[result.index]]
                scored[chosen[result.index]] = (case, output, result.metrics_data or [])
        return [scored[index] for index in range(len(pairs))]

    def _compare(self, pairs: Sequence[Pair]) -> list[Scored]:
        """Score some cases both ways; the results are those of the public way."""
        if not pairs:
            return []
        direct = Direct(self.metrics)
        theirs = self._evaluate(pairs, None)
        self.compared += len(pairs)
        for case, output, other in theirs:
            mine = direct.score(to_test_case(case, output), None)
            difference = _difference(mine, other)
            if difference:
                self.differences.append(f"{case.id}: {difference}")
        return theirs


class Direct:
    """The native metrics, called on one test case after the other."""

    def __init__(self, metrics: Sequence[SharedMetric]) -> None:
        from deepeval.errors import MissingTestCaseParamsError

        from bridge_deepeval.scorers import to_metric

        self._missing = MissingTestCaseParamsError
        read = Remembered(from_test_case)
        self._metrics = {
            conversational: [to_metric(each, conversational, read) for each in metrics]
            for conversational in (False, True)
        }

    def score(self, test_case: Any, record: Any) -> list[MetricData]:
        """Measure a test case by every metric it has a check for, into ``record`` if given."""
        from deepeval.evaluate.utils import create_metric_data

        found = []
        for metric in self._metrics[hasattr(test_case, "turns")]:
            try:
                metric.measure(test_case)
            except self._missing:
                continue
            found.append(
                create_metric_data(metric) if record is None else record_metric(record, metric)
            )
        return found


def evaluate_quietly(
    test_cases: Sequence[Any],
    metrics: Sequence[SharedMetric],
    conversational: bool,
    identifier: str,
    folder: Path | None,
) -> list[Any]:
    """``deepeval.evaluate`` without threads, caches, tables, prints, uploads and prompts."""
    from deepeval import evaluate
    from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig

    from bridge_deepeval.scorers import to_metric

    with contextlib.redirect_stdout(io.StringIO()):
        result = evaluate(
            test_cases=list(test_cases),
            metrics=[to_metric(each, conversational) for each in metrics],
            identifier=identifier,
            async_config=AsyncConfig(run_async=False),
            cache_config=CacheConfig(write_cache=False),
            error_config=ErrorConfig(ignore_errors=True, skip_on_missing_params=True),
            display_config=DisplayConfig(
                show_indicator=False,
                print_results=False,
                inspect_after_run=False,
                results_folder=None if folder is None else str(folder),
            ),
        )
    return list(result.test_results)


@contextlib.contextmanager
def gc_paused() -> Iterator[None]:
    """No cycle collection meanwhile: native objects are many, short-lived and without cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _difference(ours: Sequence[MetricData], theirs: Sequence[MetricData]) -> str:
    if [each.name for each in ours] != [each.name for each in theirs]:
        return f"metrics {[each.name for each in ours]} and {[each.name for each in theirs]}"
    for mine, other in zip(ours, theirs, strict=True):
        if mine != other:
            return f"{mine.name} is {mine.score} and {other.score}"
    return ""
