"""A log being read: samples into cases, outputs and rows, and what the head has to say of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionLine, ConversionReport
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.output import Output
from bridge.plugin.carry import KEY
from bridge.plugin.imported import UNIT, Scales
from bridge.plugin.reading import Reading
from bridge_inspect import records
from bridge_inspect.cases import from_sample
from bridge_inspect.rows import NAME, read_score

MOST_ABSENT = 10_000
"""Most samples that a log does not hold of which each gets rows."""
NO_MODEL = frozenset({"", "none", "none/none"})


class LogReading:
    """One log.

    Args:
        source: The file.
        log: Its head.
        scales: Declared scales of native values.
    """

    def __init__(self, source: Path, log: records.Log, scales: Scales) -> None:
        self._log = log
        self._scales = scales
        self._reading = Reading(source, NAME, log.eval.packages.get("inspect_ai", ""))
        self._native = 0
        self._nulled = 0

    def add(self, sample: records.Sample) -> None:
        """Read one sample.

        Raises:
            InputError: If it cannot be read, or is there already.
        """
        try:
            case, output = from_sample(sample)
        except ValidationError as error:
            what = f"sample {sample.id!r} cannot be read ({explain(error)})"
            raise InputError(what, where=self._reading.source, fix="mend the log") from None
        output = self._complete(output, sample)
        native = dict(sample.scores or {})
        if sample.score is not None:  # log version 1
            native.setdefault(_first_scorer(self._log), sample.score)
        self._native += len(native)
        self._nulled += sample.nulled
        key = self._reading.key(output)
        rows = [
            row
            for metric, score in native.items()
            for row in read_score(metric, score, key, self._scales)
        ]
        failure = None if sample.error is None else f"the sample failed: {output.error}"
        self._reading.add(case, output, rows, failure)

    def _complete(self, output: Output, sample: records.Sample) -> Output:
        update: dict[str, str] = {}
        if output.system == "default" and self._log.eval.model not in NO_MODEL:
            update["system"] = self._log.eval.model
        if sample.error is not None:
            update["error"] = sample.error.message or "no reason given"
        return output.model_copy(update=update) if update else output

    def finish(self) -> tuple[Bundle, ConversionReport]:
        """Bundle and report of everything read."""
        if KEY not in (self._log.eval.metadata or {}):
            for output in islice(self._absent(), MOST_ABSENT):
                self._reading.absent(output, "the log does not hold this sample")
        bundle = self._reading.bundle(each.name for each in self._log.eval.scorers or [])
        lines = [
            ConversionLine(field="samples[]", fate="native", count=len(bundle.outputs)),
            ConversionLine(field="samples[].scores{}", fate="native", count=self._native),
        ]
        report = ConversionReport(
            source=str(self._reading.source),
            format=NAME,
            lines=tuple(line for line in lines if line.count),
            notes=(*self._reading.notes(), *self._notes(bundle)),
        )
        return bundle, report

    def _absent(self) -> Iterator[Output]:
        """Samples that an interrupted run had before it, and never wrote."""
        spec, there = self._log.eval, self._reading.outputs
        default = "default" if spec.model in NO_MODEL else spec.model
        system = next(iter(there))[0] if there else default
        for name in dict.fromkeys(str(each) for each in spec.dataset.sample_ids or ()):
            if not name.strip():
                continue
            for epoch in range(1, (spec.config.epochs or 1) + 1):
                if (system, name, epoch) not in there:
                    yield Output(system=system, case_id=name, epoch=epoch)

    def _notes(self, bundle: Bundle) -> Iterator[str]:
        log = self._log
        if log.status != "success":
            why = f": {log.error.message}" if log.error is not None else ""
            yield f"the run's status is {log.status}{why}"
        if self._nulled:
            yield f"{self._nulled} numbers beside the scores are NaN or infinite: read as null"
        if KEY not in (log.eval.metadata or {}):
            yield from self._reading.gaps()
        planned = _planned(log)
        if planned is not None and planned != len(bundle.outputs):
            yield f"the head speaks of {planned} samples, the file holds {len(bundle.outputs)}"
        values: dict[str, list[float]] = {}
        turns = {row.metric for row in bundle.scores if row.turn is not None}
        for row in bundle.scores:
            if row.value is not None and row.metric not in turns:
                values.setdefault(row.metric, []).append(row.value)
        once = (log.eval.config.epochs or 1) == 1  # else the head averages epochs first
        for name, metric, given in _means(log):
            rows = values.get(name) if once else None
            if not rows or self._scales.of(name) != UNIT:
                continue
            mean = math.fsum(rows) / len(rows)
            if abs(mean - given) > 1e-6:
                yield f"the head gives {name} a {metric} of {given:g}, the rows one of {mean:g}"


def _first_scorer(log: records.Log) -> str:
    """Name of the one scorer of a log of version 1."""
    scorer = log.results.scorer if log.results is not None else None
    name = scorer.get("name") if isinstance(scorer, dict) else scorer
    return name if isinstance(name, str) else "score"


def _planned(log: records.Log) -> int | None:
    """Samples times epochs that the head speaks of."""
    if log.results is not None and log.results.total_samples:
        return log.results.total_samples
    dataset, epochs = log.eval.dataset, log.eval.config.epochs or 1
    count = len(dataset.sample_ids) if dataset.sample_ids else dataset.samples
    return None if count is None else count * epochs


def _means(log: records.Log) -> Iterator[tuple[str, str, float]]:
    """The means in the head, as (score, metric, value)."""
    results = log.results
    if results is None:
        return
    entries = [(each.name, each.metrics) for each in results.scores or [] if each.reducer is None]
    if results.metrics:
        entries.append((_first_scorer(log), results.metrics))
    for name, metrics in entries:
        for metric in ("accuracy", "mean"):
            value = metrics[metric].value if metric in metrics else None
            if isinstance(value, int | float) and math.isfinite(value):
                yield name, metric, float(value)
