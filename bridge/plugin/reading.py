"""A native result file being read: what all result formats have in common.

Rows decide. A case that failed, or on which nothing was scored, gets an error row for every metric
of the file, so that it cannot leave the denominator unseen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.model.score import Score


@dataclass(slots=True)
class Reading:
    """Cases, outputs and scores of one file, as far as it was read.

    Attributes:
        source: The file.
        framework: Name of the framework in every row.
        version: Its version, where the file says it.
        metrics: Metrics of the file, in the order they were seen.
        failed: Cases that failed.
        silent: Cases without any score.
    """

    source: Path
    framework: str
    version: str = ""
    cases: dict[str, Case] = field(default_factory=dict)
    outputs: dict[tuple[str, str, int], Output] = field(default_factory=dict)
    scores: list[Score] = field(default_factory=list)
    metrics: dict[str, None] = field(default_factory=dict)
    failed: int = 0
    silent: int = 0
    _owed: list[tuple[Output, frozenset[str], str]] = field(default_factory=list)

    def key(self, output: Output) -> dict[str, object]:
        """What every row of an output has in common."""
        return {
            "framework": self.framework,
            "framework_version": self.version,
            "system": output.system,
            "case_id": output.case_id,
            "epoch": output.epoch,
        }

    def add(
        self, case: Case, output: Output, rows: Iterable[Score], failure: str | None = None
    ) -> None:
        """Add one answered case with its rows.

        Raises:
            InputError: If it is there already in this epoch.
        """
        if output.key in self.outputs:
            what = f"case {case.id!r} stands twice in epoch {output.epoch}"
            raise InputError(what, where=self.source, fix="keep one of them")
        self.cases.setdefault(case.id, case)
        self.outputs[output.key] = output
        found = list(rows)
        self.scores.extend(found)
        names = frozenset(row.metric for row in found)
        self.metrics.update(dict.fromkeys(row.metric for row in found))
        if failure is not None:
            self.failed += 1
            self._owed.append((output, names, failure))
        elif not found:
            self.silent += 1
            self._owed.append((output, names, f"{self.framework} recorded no score"))

    def absent(self, output: Output, why: str) -> None:
        """Owe every metric of an answer that the file speaks of and does not hold."""
        self._owed.append((output, frozenset(), why))

    def bundle(self, metrics: Iterable[str] = ()) -> Bundle:
        """Everything read, complete.

        Args:
            metrics: Metrics that the head of the file names, for a file without any row.
        """
        wanted = self.metrics or dict.fromkeys(metrics)
        owed = [
            Score.model_validate(
                {
                    **self.key(output),
                    "metric": metric,
                    "scorer": metric,
                    "status": "error",
                    "error": why,
                    "reason": why,
                }
            )
            for output, found, why in self._owed
            for metric in wanted
            if metric not in found
        ]
        return Bundle(
            cases=tuple(self.cases.values()),
            outputs=tuple(self.outputs.values()),
            scores=(*self.scores, *owed),
        )

    def gaps(self) -> list[str]:
        """Notes on metrics that some cases have no row of, for files where all cases should."""
        whole = len(self.outputs) - self.failed - self.silent
        counted: Counter[str] = Counter()
        for row in dict.fromkeys((row.metric, row.case_id, row.epoch) for row in self.scores):
            counted[row[0]] += 1
        return [
            f"{metric}: {whole - count} of {whole} cases carry no such score"
            for metric, count in counted.items()
            if count < whole
        ]

    def notes(self) -> list[str]:
        """What a reader should know of failed and silent cases."""
        notes = []
        if self.failed:
            notes.append(f"{self.failed} cases failed: every other metric of theirs is an error")
        if self.silent:
            notes.append(f"{self.silent} cases carry no score: every metric of theirs is an error")
        return notes
