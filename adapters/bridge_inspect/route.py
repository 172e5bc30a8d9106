"""The cheap native route, and the plain public one that it is held against.

The direct route hands each recorded answer to the registered scorers as a ``TaskState`` and writes
the log itself; Inspect's own ``eval`` and ``score`` spend 20 to 300 times that on scheduling and
recording. It is taken only while its scores on a sample of the cases are those of
``inspect_ai.score``; otherwise everything goes through ``inspect_ai.score``.
"""

from __future__ import annotations

import asyncio
import gc
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bridge.model.case import Case
from bridge.model.errors import BridgeError
from bridge.model.output import Output
from bridge.plugin.carry import KEY, Remembered
from bridge.plugin.shared import SharedMetric
from bridge_inspect.artefact import LogFile, to_events, to_log, to_spec
from bridge_inspect.cases import carried_output, from_state, to_history, to_model_output, to_sample

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.scorer import Score, Scorer

PROBE = 20
"""Cases that are scored both ways before the direct route is taken."""

Scored = tuple[Case, Output, Mapping[str, "Score"]]


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


@dataclass(slots=True)
class Route:
    """One system's outputs on their way through Inspect.

    Attributes:
        task: Name of the task in the log.
        path: Where the log goes.
        pairs: The cases with their outputs.
        metrics: Every metric of the job.
        taken: The route that was taken, once known.
        compared: Cases scored both ways.
        differences: What differed between the two, in words.
    """

    task: str
    path: Path
    pairs: Sequence[tuple[Case, Output]]
    metrics: Sequence[SharedMetric]
    taken: str = "direct"
    compared: int = 0
    differences: list[str] = field(default_factory=list)

    def run(self) -> Iterator[Scored]:
        """Score every output, yielding each as it is scored; leaves the log at ``path``."""
        try:
            self._compare(self.pairs[:PROBE])
        except BridgeError:
            raise
        except Exception as error:  # noqa: BLE001 - any change inside Inspect means: not this way
            self.differences.append(f"{type(error).__name__}: {error}")
        if self.differences:
            self.taken = "score"
            yield from self._run_publicly()
        else:
            yield from self._run_directly()

    def _spec(self) -> Any:
        outputs = [output for _, output in self.pairs]
        return to_spec(self.task, outputs, self.metrics, outputs[0].system)

    def _run_directly(self) -> Iterator[Scored]:
        direct = Direct(self.metrics)
        log = LogFile(self.path, self._spec())
        raised: list[tuple[Case, Output]] = []
        try:
            with gc_paused(), asyncio.Runner() as runner:
                for case, output in self.pairs:
                    sample = runner.run(direct.score(to_eval_sample(case, output)))
                    if output.error is None and _any_raised(sample.scores or {}):
                        raised.append((case, output))
                        continue
                    log.add(sample)
                    yield case, output, sample.scores or {}
            for case, output, sample in self._compare(raised):
                log.add(sample)
                yield case, output, sample.scores or {}
            log.finish()
        except BaseException:
            log.discard()
            raise

    def _run_publicly(self) -> Iterator[Scored]:
        from inspect_ai.log import write_eval_log

        samples = [to_eval_sample(case, output) for case, output in self.pairs]
        scored = self._score_publicly(samples)
        write_eval_log(scored, str(self.path))
        for (case, output), sample in zip(self.pairs, scored.samples or [], strict=True):
            yield case, output, sample.scores or {}

    def _score_publicly(self, samples: list[EvalSample]) -> Any:
        from inspect_ai import score

        from bridge_inspect.scorers import to_scorer

        log = to_log(self._spec(), samples, datetime.now(UTC).isoformat(timespec="seconds"))
        scorers = [to_scorer(metric) for metric in self.metrics]
        return score(log, scorers, action="overwrite", model="none", display="none", copy=False)

    def _compare(
        self, pairs: Sequence[tuple[Case, Output]]
    ) -> list[tuple[Case, Output, EvalSample]]:
        """Score some cases both ways; the samples as the public way scored them."""
        if not pairs:
            return []
        direct = Direct(self.metrics)
        with asyncio.Runner() as runner:
            ours = [runner.run(direct.score(to_eval_sample(*pair))) for pair in pairs]
        theirs = self._score_publicly([to_eval_sample(*pair) for pair in pairs]).samples
        self.compared += len(pairs)
        found = []
        for (case, output), mine, other in zip(pairs, ours, theirs, strict=True):
            difference = _difference(mine.scores or {}, other.scores or {})
            if difference:
                self.differences.append(f"{case.id}: {difference}")
            found.append((case, output, other if difference else mine))
        return found


class Direct:
    """The registered scorers, called on the task state of one sample after the other."""

    def __init__(self, metrics: Sequence[SharedMetric]) -> None:
        from bridge_inspect.scorers import to_scorer

        read = Remembered(from_state)
        self._scorers: dict[str, Scorer] = {each.metric: to_scorer(each, read) for each in metrics}
        self._options = {
            each.metric: {"check": each.check.model_dump(mode="json")}
            for each in metrics
            if each.check is not None
        }

    async def score(self, sample: EvalSample) -> EvalSample:
        """Score a sample in place: scores, events and times."""
        from inspect_ai.model import ModelName
        from inspect_ai.scorer import Target
        from inspect_ai.solver import TaskState

        at, started = datetime.now(UTC), time.perf_counter()
        target = Target(sample.target)
        state = TaskState(
            model=ModelName("none/none"),
            sample_id=sample.id,
            epoch=sample.epoch,
            input=sample.input,
            messages=sample.messages,
            target=target,
            choices=sample.choices,
            output=sample.output,
            completed=True,
            metadata=sample.metadata,
            sample_uuid=sample.uuid,
        )
        scores: dict[str, Score] = {}
        for name, scorer in self._scorers.items():
            score = await scorer(state, target)
            if score is not None:
                scores[name] = score
        sample.scores = scores
        sample.events = to_events(sample, scores, self._options, at)
        sample.started_at = at.isoformat()
        sample.completed_at = datetime.now(UTC).isoformat()
        sample.total_time = sample.working_time = round(time.perf_counter() - started, 6)
        return sample


@contextmanager
def gc_paused() -> Iterator[None]:
    """No cycle collection meanwhile: native objects are many, short-lived and without cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _any_raised(scores: Mapping[str, Score]) -> bool:
    return any(score.reason == "scoring_failed" for score in scores.values())


def _difference(ours: Mapping[str, Score], theirs: Mapping[str, Score]) -> str:
    if list(ours) != list(theirs):
        return f"scores {', '.join(ours)} and {', '.join(theirs)}"
    for name, mine in ours.items():
        if _comparable(mine) != _comparable(theirs[name]):
            return f"{name} is {mine.value} and {theirs[name].value}"
    return ""


def _comparable(score: Score) -> tuple[Any, ...]:
    value = score.value
    unscored = isinstance(value, float) and math.isnan(value)
    number = None if unscored else value
    return (number, score.answer, score.explanation, score.reason, score.metadata)
