"""The native artefact: a DeepEval run file (``TestRun`` as JSON), by DeepEval's own writer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.files.jsonl import unwritable
from bridge.model.errors import InputError

if TYPE_CHECKING:
    from deepeval.metrics import BaseConversationalMetric, BaseMetric


class RunFile:
    """A run being recorded; the file appears once :meth:`finish` has been called."""

    def __init__(self, path: Path, identifier: str, system: str) -> None:
        from deepeval.test_run import TestRun

        self._path = path
        self._run = TestRun(
            testCases=[],
            metricsScores=[],
            identifier=identifier,
            prompts=[],
            hyperparameters={"system": system},
        )
        self._seen: set[tuple[str, int]] = set()
        self._counts = {True: 0, False: 0}

    def open_case(self, test_case: Any, epoch: int) -> Any:
        """DeepEval's record of a test case, to be filled by :meth:`add`.

        Raises:
            InputError: If the case is there already in this epoch.
        """
        from deepeval.test_case import ConversationalTestCase
        from deepeval.test_case.api import create_api_test_case

        key = (test_case.name, epoch)
        if key in self._seen:
            raise InputError(f"test case {test_case.name!r} stands twice in epoch {epoch}")
        self._seen.add(key)
        conversational = isinstance(test_case, ConversationalTestCase)
        record = create_api_test_case(test_case=test_case, index=self._counts[conversational])
        self._counts[conversational] += 1
        return record

    def add(self, record: Any, seconds: float) -> None:
        """Add a scored record; ``seconds`` is what scoring it took."""
        record.update_run_duration(seconds)
        self._run.add_test_case(record)

    def finish(self, seconds: float) -> None:
        """Compute the totals and write the file.

        Raises:
            InfrastructureError: If the disk does not take it.
        """
        run = self._run
        run.construct_metrics_scores()
        run.calculate_test_passes_and_fails()
        run.sort_test_cases()
        run.run_duration = seconds
        partial = self._path.with_name(f".{self._path.name}.partial")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with partial.open("w", encoding="utf-8") as file:
                run.save(file)
            partial.replace(self._path)
        except OSError as error:
            raise unwritable(self._path, error) from None
        finally:
            partial.unlink(missing_ok=True)


def record_metric(record: Any, metric: BaseMetric | BaseConversationalMetric) -> Any:
    """Put what a metric just measured into the record; returns DeepEval's ``MetricData``."""
    from deepeval.evaluate.utils import create_metric_data

    found = create_metric_data(metric)
    record.update_metric_data(found)
    return found
