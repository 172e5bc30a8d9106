"""Inspect's own model-graded scorers on a job's outputs, in a log of their own."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping
from typing import Any

from bridge.judge.errors import JudgeError
from bridge.model.case import Case
from bridge.model.job import JobSpec
from bridge.model.output import Output
from bridge.model.score import Measurement, Raw
from bridge.plugin.scoring.measurer import Question
from bridge.plugin.scoring.native import OneByOne
from bridge.plugin.scoring.route import Task
from bridge.plugin.scoring.shared import Answer, SharedMetric
from bridge_inspect.artefact import LogFile, to_spec
from bridge_inspect.held import held_expected
from bridge_inspect.info import INFO
from bridge_inspect.route import to_eval_sample, to_state
from bridge_inspect.rows import LETTERS


class InspectNatives(OneByOne):
    """A task's native metrics, each awaited in an event loop of its own."""

    def __init__(self, task: Task, spec: JobSpec) -> None:
        super().__init__(INFO, task, spec)
        self._samples: list[Any] = []

    def prepare(self) -> None:
        """Import Inspect's scorers, and the provider with ours."""
        importlib.import_module("bridge_inspect.scorers")

    def measure(self, question: Question) -> Measurement:
        """Carry out one scorer."""
        return measure(question)

    def record(self, case: Case, output: Output, answers: Mapping[str, list[Answer]]) -> None:
        """Keep a scored sample for the log."""
        from bridge_inspect.scorers import to_score

        sample = to_eval_sample(case, output)
        said = sample.output.completion
        native = self.task.rows.native
        scores = {metric: to_score(tuple(each), said, native) for metric, each in answers.items()}
        self._samples.append(sample.model_copy(update={"scores": scores}))

    def finish(self) -> None:
        """Write the log."""
        outputs = [output for _, output in self.task.pairs]
        metrics = {work.check.metric: work.check for work in self.works()}
        named = [SharedMetric(name, check.scorer, check) for name, check in metrics.items()]
        spec = to_spec(self.name, outputs, named, self.task.system)
        log = LogFile(self.task.folder / f"{self.name}.eval", spec)
        try:
            for sample in self._samples:
                log.add(sample)
            log.finish()
        except BaseException:
            log.discard()
            raise


def measure(question: Question) -> Measurement:
    """:func:`measure_async` in an event loop of its own."""
    return asyncio.run(measure_async(question))


async def measure_async(question: Question) -> Measurement:
    """Carry out one scorer.

    Raises:
        JudgeError: If the judge fails, or gives no grade.
    """
    score = await _score(question)
    if score is None or score.value not in LETTERS:
        raise JudgeError("schema", "the judge gave no grade")
    return Measurement(
        value=LETTERS[score.value],
        label=score.value,
        reason=_reason(score.explanation or ""),
        details={"native": question.metric.own},
        raw=Raw(value=score.value),
    )


async def _score(question: Question) -> Any:
    """The native score of one scorer."""
    from inspect_ai.model import get_model
    from inspect_ai.scorer import Target, model_graded_fact, model_graded_qa

    from bridge_inspect.judge import PROVIDER

    grader = get_model(f"{PROVIDER}/judge", memoize=False, inquiry=question.inquiry)
    state = to_state(to_eval_sample(question.case, question.output))
    if question.metric.name == "answer_correctness":
        target = Target(held_expected(question.case.expected))
        return await model_graded_fact(model=grader, partial_credit=True)(state, target)
    whole = question.params.scope == "conversation" and bool(question.case.turns)
    scorer = model_graded_qa(model=grader, partial_credit=True, include_history=whole)
    return await scorer(state, Target(_criterion(question.params)))


def _criterion(params: Any) -> str:
    """The criteria of ``g_eval`` as Inspect's criterion."""
    if params.criteria is not None:
        return str(params.criteria)
    return "\n".join(f"{number}. {step}" for number, step in enumerate(params.steps, 1))


def _reason(said: str) -> str:
    """What the judge wrote before its grade."""
    return said.rpartition("\n\nGRADE:")[0].strip() or said
