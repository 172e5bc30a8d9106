"""The native artefact: a DeepEval run file (``TestRun`` as JSON), by DeepEval's own writer."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.files.jsonl import write_atomically
from bridge.model.errors import InputError
from bridge_deepeval.cases import is_conversation
from bridge_deepeval.records import VERSION

if TYPE_CHECKING:
    from deepeval.tracing.api import MetricData


class RunFile:
    """A run being recorded; the file appears once :meth:`finish` has been called."""

    def __init__(self, path: Path, identifier: str, system: str) -> None:
        from deepeval.test_run import TestRun

        self._path = path
        self._run = TestRun.model_validate(
            {
                "identifier": identifier,
                "prompts": [],
                "hyperparameters": {"system": system, VERSION: metadata.version("deepeval")},
            }
        )
        self._seen: set[tuple[str, int]] = set()
        self._counts = {True: 0, False: 0}

    def add(self, test_case: Any, epoch: int, found: Iterable[MetricData]) -> None:
        """Record a test case with what was found.

        Raises:
            InputError: If the case is there already in this epoch.
        """
        from deepeval.test_case.api import create_api_test_case

        key = (test_case.name, epoch)
        if key in self._seen:
            raise InputError(f"test case {test_case.name!r} stands twice in epoch {epoch}")
        self._seen.add(key)
        conversational = is_conversation(test_case)
        record = create_api_test_case(test_case=test_case, index=self._counts[conversational])
        self._counts[conversational] += 1
        for each in found:
            record.update_metric_data(each)
        self._run.add_test_case(record)

    def finish(self, seconds: float) -> None:
        """Compute the totals and write the file.

        Raises:
            InfrastructureError: If the disk does not take it.
        """
        run = self._run
        run.construct_metrics_scores()
        run.calculate_test_passes_and_fails()  # type: ignore[no-untyped-call]
        run.sort_test_cases()  # type: ignore[no-untyped-call]
        run.run_duration = seconds
        # what TestRun.save writes, without the standard library's slow json.dump
        write_atomically(self._path, [run.model_dump_json(by_alias=True, exclude_none=True)])
