"""The cheap native route, and the plain public one that it is held against.

The direct route awaits each metric's own scoring method in one event loop and makes the
``EvaluationResult`` itself; ``evaluate`` spends 3 to 15 times that on callbacks, tasks, traces and
analytics.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

from bridge.files.scores import as_score
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.carry import KEY, Remembered
from bridge.plugin.scoring.route import PROBE, Pair, Route, Task
from bridge_ragas.artefact import write_result
from bridge_ragas.cases import from_sample, is_conversation, to_sample
from bridge_ragas.gathered import Results
from bridge_ragas.held import MULTI, SINGLE
from bridge_ragas.rows import read_score, to_number

if TYPE_CHECKING:
    from ragas.callbacks import MetricTrace
    from ragas.dataset_schema import EvaluationResult


class RagasRoute(Route[Any, "MetricTrace"]):
    """A task as RAGAS results: a recorded answer is a sample, found is its row of the traces."""

    public = "evaluate"

    def translate(self, case: Case, output: Output) -> Any:
        """An answered case as a sample."""
        return to_sample(case, output)

    def rows_of(self, output: Output, found: MetricTrace) -> Iterable[Score]:
        """Score rows of a sample's metric traces."""
        key = self.task.key(output)
        for metric, value in found.scores.items():
            yield from map(as_score, read_score(metric, value, found.get(metric), key))

    def directly(self) -> Iterator[Score]:
        """Score batch by batch, and write the results at the end."""
        results = Results(self.task.folder, self.task.name)
        raised: list[Pair] = []
        direct = Direct(self.task)
        with asyncio.Runner() as runner:
            for batch in self.batches():
                found = runner.run(direct.score_all([sample for _, _, sample in batch]))
                sound: list[tuple[Output, MetricTrace]] = []
                for (case, output, sample), each in zip(batch, found, strict=True):
                    if output.error is None and _any_raised(each):
                        raised.append((case, output))
                    else:
                        results.add(sample, each)
                        sound.append((output, each))
                for output, each in sound:
                    yield from self.rows_of(output, each)
                if len(raised) >= PROBE:
                    yield from self._settle(raised, results)
                    raised.clear()
        yield from self._settle(raised, results)
        results.finish()

    def _settle(self, raised: Sequence[Pair], results: Results) -> Iterator[Score]:
        """Samples on which a scorer raised, as the public way has them."""
        for (case, output), found in self.compare(raised):
            results.add(to_sample(case, output), found)
            yield from self.rows_of(output, found)

    def publicly(self, pairs: Sequence[Pair], *, keep: bool) -> Iterator[tuple[Pair, MetricTrace]]:
        """Score by ``ragas.evaluate``, single- and multi-turn samples apart as it demands."""
        native = list(self.translated(pairs))
        found: dict[int, MetricTrace] = {}
        for kind in (SINGLE, MULTI):
            chosen = [
                index
                for index, (_, _, sample) in enumerate(native)
                if is_conversation(sample) == (kind == MULTI)
            ]
            if not chosen:
                continue
            result = evaluate_quietly([native[index][2] for index in chosen], self.task)
            if keep:
                write_result(result, self.task.folder, self.task.name, kind)
            found |= zip(chosen, cast("list[MetricTrace]", result.traces), strict=True)
        for index, (case, output, _) in enumerate(native):
            yield (case, output), found[index]

    def compare(self, pairs: Sequence[Pair]) -> list[tuple[Pair, MetricTrace]]:
        """Score some samples both ways."""
        theirs = list(self.publicly(pairs, keep=False))
        direct = Direct(self.task)
        self.compared += len(theirs)
        samples = [sample for _, _, sample in self.translated(pairs)]
        ours = asyncio.run(direct.score_all(samples))
        for mine, ((case, _), other) in zip(ours, theirs, strict=True):
            if difference := _difference(mine, other):
                self.differences.append(f"{case.id}: {difference}")
        return theirs

    def rehearse(self, found: Sequence[tuple[Pair, MetricTrace]]) -> None:
        """Write tables of these cases as :meth:`directly` does, and read them by RAGAS."""
        from ragas import EvaluationDataset

        samples = [to_sample(case, output) for (case, output), _ in found]
        with TemporaryDirectory() as folder:
            results = Results(Path(folder), "rehearsal")
            for sample, (_, each) in zip(samples, found, strict=True):
                results.add(sample, each)
            results.finish()
            for kind in (SINGLE, MULTI):
                path = Path(folder) / f"rehearsal.{kind}.jsonl"
                written = [each for each in samples if is_conversation(each) == (kind == MULTI)]
                lines = path.read_bytes().splitlines() if written else []
                read = EvaluationDataset.from_list([json.loads(line) for line in lines])
                if [each.to_dict() for each in written] != [each.to_dict() for each in read]:
                    self.differences.append(f"RAGAS reads other {kind} samples than were written")


class Direct:
    """The native metrics, awaited on one sample after the other."""

    def __init__(self, task: Task) -> None:
        from ragas.callbacks import MetricTrace

        from bridge_ragas.scorers import to_metric

        self._trace = MetricTrace
        self._left: dict[str, Any] = {}
        read: Remembered[Any] = Remembered(from_sample)
        self._metrics = [to_metric(each, read, self._leave) for each in task.metrics]

    async def score_all(self, samples: Iterable[Any]) -> list[MetricTrace]:
        """Measure samples one after the other."""
        return [await self.score(sample) for sample in samples]

    async def score(self, sample: Any) -> MetricTrace:
        """Measure a sample by every metric, as a row of ``EvaluationResult.traces``."""
        found = self._trace()
        many = is_conversation(sample)
        for metric in self._metrics:
            ascore = metric._multi_turn_ascore if many else metric._single_turn_ascore  # noqa: SLF001
            found.scores[metric.name] = await ascore(sample=sample, callbacks=None)
            found[metric.name] = {KEY: {"input": {}, "output": self._left}}
        return found

    def _leave(self, _: Any, found: dict[str, Any]) -> None:
        self._left = found


def evaluate_quietly(samples: Sequence[Any], task: Task) -> EvaluationResult:
    """``ragas.evaluate`` without bar, deadline, and a patched event loop."""
    from ragas import EvaluationDataset, RunConfig, evaluate
    from ragas.dataset_schema import EvaluationResult

    from bridge_ragas.scorers import to_metric

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # it wants @experiment, which drops rows
        warnings.simplefilter("ignore", ResourceWarning)  # its uuid.json stays open
        result = evaluate(
            EvaluationDataset(samples=list(samples), name=task.name),
            metrics=[to_metric(each) for each in task.metrics],
            run_config=RunConfig(timeout=24 * 3600),
            show_progress=False,
            allow_nest_asyncio=False,
        )
    assert isinstance(result, EvaluationResult)
    return result


def _any_raised(found: MetricTrace) -> bool:
    return any(left[KEY]["output"]["status"] == "error" for left in found.values())


def _difference(ours: MetricTrace, theirs: MetricTrace) -> str:
    if list(ours.scores) != list(theirs.scores):
        return f"metrics {list(ours.scores)} and {list(theirs.scores)}"
    for metric, mine in ours.scores.items():
        other = theirs.scores[metric]
        if to_number(mine) != to_number(other) or ours[metric] != theirs.get(metric):
            return f"{metric} is {mine} and {other}"
    return ""
