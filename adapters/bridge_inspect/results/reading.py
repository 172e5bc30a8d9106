"""A log being read: samples into answers with their scores, and what the head says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from bridge.files.scores import ScoreRow
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.model.values import is_number
from bridge.plugin.accounts.accounting import Tally
from bridge.plugin.carry import KEY
from bridge.plugin.results.counterparts import StandIns
from bridge.plugin.results.imported import UNIT, Scales
from bridge.plugin.results.reading import Answer, Counts, read_content
from bridge_inspect import records
from bridge_inspect.cases import from_sample
from bridge_inspect.results.counterparts import checks_of
from bridge_inspect.results.layouts import open_log
from bridge_inspect.rows import NAME, read_score

MOST_ABSENT = 10_000
"""Most samples that a log does not hold of which each gets rows."""
ABSENT = "the log does not hold this sample"
NO_MODEL = frozenset({"", "none", "none/none"})


class LogReading:
    """One log.

    Args:
        source: The file.
        scales: Declared scales of native values.
    """

    framework = NAME

    def __init__(self, source: Path, scales: Scales) -> None:
        self.source = source
        self._file = open_log(source)
        self._log = self._file.head
        self._scales = scales
        self._samples = self._limited = self._retried = 0
        self._turned: set[str] = set()
        self._stand_ins = StandIns(checks_of(self._log.eval.scorers or ()).get)

    def answers(self) -> Iterator[Answer]:
        """Every sample in every epoch, then those that an interrupted run never wrote."""
        there: set[int] = set()
        system = None
        for sample in self._file.samples():
            self._samples += 1
            self._limited += sample.limit is not None
            self._retried += bool(sample.error_retries)
            answer = self._answer(sample)
            there.add(hash((answer.key["case_id"], answer.key["epoch"])))
            system = system or answer.key["system"]
            yield answer
        if KEY not in (self._log.eval.metadata or {}):
            yield from islice(self._absent(there, system or self._model), MOST_ABSENT)

    def _absent(self, there: set[int], system: str) -> Iterator[Answer]:
        spec = self._log.eval
        names = dict.fromkeys(str(each) for each in spec.dataset.sample_ids or ())
        for name in filter(str.strip, names):
            for epoch in range(1, (spec.config.epochs or 1) + 1):
                if hash((name, epoch)) not in there:
                    yield Answer(self._key(system, name, epoch), gap=ABSENT, absent=True)

    @property
    def _model(self) -> str:
        model = self._log.eval.model
        return "default" if model in NO_MODEL else model

    def _answer(self, sample: records.Sample) -> Answer:
        place = f"sample {sample.id!r}"
        if KEY in (sample.metadata or {}):
            case, output = read_content(lambda: self._content(sample), self.source, place)
            key = self._key(output.system, output.case_id, output.epoch)
            return Answer(
                key,
                self._rows(sample, key),
                lambda: (case, output),
                _failure(sample),
                spent=_spent(sample),
                place=place,
            )
        key = self._key(self._model, str(sample.id), sample.epoch)
        rows = self._rows(sample, key)
        return Answer(
            key,
            rows,
            lambda: self._foreign(sample, rows),
            _failure(sample),
            spent=_spent(sample),
            place=place,
        )

    def _key(self, system: str, case_id: str, epoch: int) -> dict[str, Any]:
        return {
            "framework": NAME,
            "framework_version": str(self._log.eval.packages.get("inspect_ai") or ""),
            "system": system,
            "case_id": case_id,
            "epoch": epoch,
        }

    def _rows(self, sample: records.Sample, key: dict[str, Any]) -> list[Score | ScoreRow]:
        native = dict(sample.scores or {})
        if sample.score is not None:  # log version 1
            native.setdefault(_first_scorer(self._log), sample.score)
        rows: list[Score | ScoreRow] = []
        for metric, score in native.items():
            found = read_score(metric, score, key, self._scales)
            self._turned.update(str(row.metric) for row in found if row.turn is not None)
            rows.extend(found)
        return rows

    def _content(self, sample: records.Sample) -> tuple[Case, Output]:
        case, output = from_sample(records.resolved(sample))
        update: dict[str, Any] = {}
        if output.system == "default" and self._log.eval.model not in NO_MODEL:
            update["system"] = self._log.eval.model
        if sample.error is not None:
            update["error"] = sample.error.message or "no reason given"
        return case, output.model_copy(update=update) if update else output

    def _foreign(
        self, sample: records.Sample, rows: Sequence[Score | ScoreRow]
    ) -> tuple[Case, Output]:
        case, output = self._content(sample)
        return self._stand_ins.put(case, rows), output

    def metrics(self) -> Iterable[str]:
        """The scorers of the run."""
        return [each.name for each in self._log.eval.scorers or [] if each.name]

    def account(self, tally: Tally) -> None:
        """Count every leaf of the file."""
        self._file.account(tally)

    def notes(self, counts: Counts) -> Iterator[str]:
        """What the head says that the rows do not, and the other way round."""
        log = self._log
        if log.status != "success":
            why = f": {log.error.message}" if log.error is not None else ""
            yield f"the run's status is {log.status}{why}"
        if self._limited:
            yield f"{self._limited} samples were ended by a limit"
        if self._retried:
            yield f"{self._retried} samples were tried again after an error: the last try counts"
        yield from self._file.notes()
        if KEY not in (log.eval.metadata or {}):
            yield from counts.gaps()
        planned = _planned(log)
        if planned is not None and planned != self._samples:
            yield f"the head speaks of {planned} samples, the file holds {self._samples}"
        if (log.eval.config.epochs or 1) == 1:  # else the head averages epochs first
            yield from self._means(counts)

    def _means(self, counts: Counts) -> Iterator[str]:
        for name, metric, given in _means(self._log):
            count, total = counts.sums.get(name, (0, 0.0))
            if not count or name in self._turned or self._scales.of(name) != UNIT:
                continue
            if abs(total / count - given) > 1e-6:
                mean = total / count
                yield f"the head gives {name} a {metric} of {given:g}, the rows one of {mean:g}"


def _failure(sample: records.Sample) -> str | None:
    if sample.error is None:
        return None
    return f"the sample failed: {sample.error.message or 'no reason given'}"


def _spent(sample: records.Sample) -> dict[str, Any]:
    usage = sample.output.usage or records.Usage()
    return {
        "latency_s": sample.output.time,
        "cost_usd": usage.total_cost,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }


def _first_scorer(log: records.Log) -> str:
    """Name of the one scorer of a log of version 1."""
    scorer = log.results.scorer if log.results is not None else None
    name = scorer.get("name") if isinstance(scorer, dict) else scorer
    return name if isinstance(name, str) and name.strip() else "score"


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
            if is_number(value):
                yield name, metric, float(value)
