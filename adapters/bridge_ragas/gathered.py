"""A task's results on their way into RAGAS's tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge_ragas.artefact import to_result, write_result
from bridge_ragas.cases import is_conversation
from bridge_ragas.held import MULTI, SINGLE, Kind

if TYPE_CHECKING:
    from ragas.callbacks import MetricTrace


class Results:
    """A task's results being recorded, one of each kind of sample.

    Args:
        folder: Where they are written.
        name: Name of the task.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._samples: dict[Kind, list[Any]] = {SINGLE: [], MULTI: []}
        self._traces: dict[Kind, list[MetricTrace]] = {SINGLE: [], MULTI: []}

    def add(self, sample: Any, found: MetricTrace) -> None:
        """Record a sample with what was found."""
        kind = MULTI if is_conversation(sample) else SINGLE
        self._samples[kind].append(sample)
        self._traces[kind].append(found)

    def finish(self) -> None:
        """Make the results and write them.

        Raises:
            InputError: If a case stands twice in an epoch.
            InfrastructureError: If the disk does not take it.
        """
        for kind, samples in self._samples.items():
            if samples:
                result = to_result(samples, self._traces[kind], self._name)
                write_result(result, self._folder, self._name, kind)
