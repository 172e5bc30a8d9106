"""The cheap native route, and the plain public one that it is held against.

The direct route hands each recorded answer to the registered scorers as a ``TaskState`` and writes
the log itself; Inspect's own ``eval`` and ``score`` spend 2 to 20 times that on scheduling and
recording.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bridge.files.scores import as_score
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.carry import KEY, Remembered
from bridge.plugin.scoring.route import PROBE, Pair, Route, Task
from bridge_inspect.artefact import LogFile, now, to_log, to_spec
from bridge_inspect.cases import carried_output, from_state, to_history, to_model_output, to_sample
from bridge_inspect.results.transcript import Transcript
from bridge_inspect.rows import read_score

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample, EvalSpec
    from inspect_ai.scorer import Score as NativeScore
    from inspect_ai.scorer import Scorer
    from inspect_ai.solver import TaskState


class InspectRoute(Route["EvalSample", "EvalSample"]):
    """A task as an Inspect log: a recorded answer is a sample, and so is what is found."""

    public = "score"

    def translate(self, case: Case, output: Output) -> EvalSample:
        """An answered case as the sample of a log, not yet scored."""
        return to_eval_sample(case, output)

    def rows_of(self, output: Output, found: EvalSample) -> Iterable[Score]:
        """Score rows of a scored sample."""
        key = self.task.key(output)
        for metric, score in (found.scores or {}).items():
            yield from map(as_score, read_score(metric, score, key))

    def directly(self) -> Iterator[Score]:
        """Score sample by sample, writing the log on the way."""
        log = LogFile(self._path, self._spec())
        raised: list[Pair] = []
        try:
            with closing(asyncio.new_event_loop()) as loop:
                direct = Direct(self.task)
                for batch in self.batches():
                    loop.run_until_complete(direct.score_all(sample for _, _, sample in batch))
                    rows: list[Score] = []
                    for case, output, sample in batch:
                        if output.error is None and _any_raised(sample):
                            raised.append((case, output))
                        else:
                            log.add(sample)
                            rows += self.rows_of(output, sample)
                    yield from rows
                    if len(raised) >= PROBE:
                        yield from self._settle(raised, log)
                        raised.clear()
            yield from self._settle(raised, log)
            log.finish()
        except BaseException:
            log.discard()
            raise

    def _settle(self, raised: Sequence[Pair], log: LogFile) -> Iterator[Score]:
        """Samples on which a scorer raised, as the public way has them."""
        for (_, output), sample in self.compare(raised):
            log.add(sample)
            yield from self.rows_of(output, sample)

    def publicly(self, pairs: Sequence[Pair], *, keep: bool) -> Iterator[tuple[Pair, EvalSample]]:
        """Score by ``inspect_ai.score`` and, if asked to, write by ``write_eval_log``."""
        from inspect_ai.log import write_eval_log

        native = list(self.translated(pairs))
        if not native:
            return
        scored = score_publicly(self.task, self._spec(), [sample for _, _, sample in native])
        if keep:
            write_eval_log(scored, str(self._path))
        for (case, output, _), sample in zip(native, scored.samples or [], strict=True):
            yield (case, output), sample

    def compare(self, pairs: Sequence[Pair]) -> list[tuple[Pair, EvalSample]]:
        """Score some samples both ways."""
        theirs = list(self.publicly(pairs, keep=False))
        direct = Direct(self.task)
        self.compared += len(theirs)
        found = []
        native = self.translated(pairs)
        with closing(asyncio.new_event_loop()) as loop:
            for (pair, other), (case, _, mine) in zip(theirs, native, strict=True):
                loop.run_until_complete(direct.score(mine))
                difference = _difference(mine.scores or {}, other.scores or {})
                if difference:
                    self.differences.append(f"{case.id}: {difference}")
                found.append((pair, other if difference else mine))
        return found

    def rehearse(self, found: Sequence[tuple[Pair, EvalSample]]) -> None:
        """Write a log of these samples as :meth:`directly` does, and read it by Inspect."""
        from inspect_ai.log import read_eval_log

        with TemporaryDirectory() as folder:
            path = Path(folder) / "rehearsal.eval"
            log = LogFile(path, self._spec())
            for _, sample in found:
                log.add(sample)
            log.finish()
            read = read_eval_log(str(path)).samples or []
        scores = {(each.id, each.epoch): each.scores or {} for each in read}
        for _, sample in found:
            difference = _difference(sample.scores or {}, scores[sample.id, sample.epoch])
            if difference:
                self.differences.append(f"{sample.id}: in the log, {difference}")

    @property
    def _path(self) -> Path:
        return self.task.folder / f"{self.task.name}.eval"

    def _spec(self) -> EvalSpec:
        outputs = [output for _, output in self.task.pairs]
        return to_spec(self.task.name, outputs, self.task.metrics, self.task.system)


def to_eval_sample(case: Case, output: Output) -> EvalSample:
    """An answered case as the sample of a log, not yet scored."""
    from inspect_ai.log import EvalSample

    sample = to_sample(case)
    answer = to_model_output(case, output)
    metadata = dict(sample.metadata or {})
    metadata[KEY] = {**metadata[KEY], "output": carried_output(case, output)}
    return EvalSample(
        id=case.id,
        epoch=output.epoch,
        input=sample.input,
        target=sample.target,
        choices=sample.choices,
        messages=to_history(case, output),
        output=answer,
        metadata=metadata,
        model_usage={} if answer.usage is None else {answer.model or "none": answer.usage},
        uuid=uuid4().hex,
    )


def to_state(sample: EvalSample) -> TaskState:
    """A sample of a log as scorers see it."""
    from inspect_ai.model import ModelName
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    return TaskState(
        model=ModelName("none/none"),
        sample_id=sample.id,
        epoch=sample.epoch,
        input=sample.input,
        messages=sample.messages,
        target=Target(sample.target),
        choices=sample.choices,
        output=sample.output,
        completed=True,
        metadata=sample.metadata,
        sample_uuid=sample.uuid,
    )


def score_publicly(task: Task, spec: EvalSpec, samples: list[EvalSample]) -> EvalLog:
    """Samples scored by ``inspect_ai.score``, as a log."""
    from inspect_ai import score

    from bridge_inspect.scorers import to_scorer

    scorers = [to_scorer(metric) for metric in task.metrics]
    log = to_log(spec, samples, now())
    return score(log, scorers, action="overwrite", model="none", display="none", copy=False)


class Direct:
    """The registered scorers, called on the task state of one sample after the other."""

    def __init__(self, task: Task) -> None:
        from bridge_inspect.scorers import to_scorer

        read: Remembered[TaskState] = Remembered(from_state)
        self._scorers: dict[str, Scorer] = {
            each.metric: to_scorer(each, read) for each in task.metrics
        }
        self._options = {
            each.metric: {"check": each.check.model_dump(mode="json")}
            for each in task.metrics
            if each.check is not None
        }

    async def score_all(self, samples: Iterable[EvalSample]) -> None:
        """Score samples in place, one after the other."""
        for sample in samples:
            await self.score(sample)

    async def score(self, sample: EvalSample) -> None:
        """Score a sample in place: scores, events and times."""
        at, started = datetime.now(UTC), time.perf_counter()
        state = to_state(sample)
        target = state.target
        scores: dict[str, NativeScore] = {}
        for name, scorer in self._scorers.items():
            score = await scorer(state, target)
            if score is not None:
                scores[name] = score
        sample.scores = scores
        transcript = Transcript(sample, at)
        transcript.start()
        transcript.score(scores, self._options)
        sample.events = transcript.events
        sample.started_at = at.isoformat()
        sample.completed_at = datetime.now(UTC).isoformat()
        sample.total_time = sample.working_time = round(time.perf_counter() - started, 6)


def _any_raised(sample: EvalSample) -> bool:
    return any(score.reason == "scoring_failed" for score in (sample.scores or {}).values())


def _difference(ours: Mapping[str, NativeScore], theirs: Mapping[str, NativeScore]) -> str:
    if list(ours) != list(theirs):
        return f"scores {', '.join(ours)} and {', '.join(theirs)}"
    for name, mine in ours.items():
        if _comparable(mine) != _comparable(theirs[name]):
            return f"{name} is {mine.value} and {theirs[name].value}"
    return ""


def _comparable(score: NativeScore) -> tuple[Any, ...]:
    value = score.value
    unscored = isinstance(value, float) and math.isnan(value)
    number = None if unscored else value
    return (number, score.answer, score.explanation, score.reason, score.metadata)
