"""RAGAS's own metrics on a job's outputs, their counts checked, in results of their own."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from bridge.model.case import Case
from bridge.model.job import JobSpec
from bridge.model.output import Output
from bridge.model.score import Measurement, Raw
from bridge.plugin.carry import KEY
from bridge.plugin.scoring.measurer import Question
from bridge.plugin.scoring.native import OneByOne, exact_at_ends
from bridge.plugin.scoring.route import Task
from bridge.plugin.scoring.shared import Answer, summarise
from bridge_ragas.cases import to_sample
from bridge_ragas.gathered import Results
from bridge_ragas.held import MULTI, SINGLE
from bridge_ragas.info import INFO

CONVERSATIONS = frozenset({"topic_adherence", "tool_correctness", "task_completion"})
"""Metrics that read messages."""
MOST_REPLIES = 20
RUBRICS = "DomainSpecificRubrics"
"""The class that scores by a rubric, from 1 to 5."""
SCALE = "Score from 0 to 10: 0 if nothing of it is met, 10 if all of it is."
"""What ``SimpleCriteriaScore`` is told of its scale: it has none of its own."""


class RagasNatives(OneByOne):
    """A task's native metrics, each awaited in an event loop of its own."""

    def __init__(self, task: Task, spec: JobSpec) -> None:
        super().__init__(INFO, task, spec)
        self._results = Results(task.folder, self.name)

    def prepare(self) -> None:
        """Import RAGAS's metrics of both APIs, and the hook."""
        for name in ("ragas.metrics.collections", "ragas.metrics", "bridge_ragas.judge"):
            importlib.import_module(name)

    def measure(self, question: Question) -> Measurement:
        """Carry out one metric."""
        return measure(question)

    def record(self, case: Case, output: Output, answers: Mapping[str, list[Answer]]) -> None:
        """Take a sample with its values into the results."""
        from ragas.callbacks import MetricTrace

        found = MetricTrace()
        for metric, each in answers.items():
            total = summarise([row for _, row in each])
            found.scores[metric] = math.nan if total.value is None else total.value
            left = {"status": total.status, "rows": self.encoded(each)}
            found[metric] = {KEY: {"input": {}, "output": left}}
        self._results.add(to_sample(case, output), found)

    def finish(self) -> None:
        """Write the results."""
        self._results.finish()


def measure(question: Question) -> Measurement:
    """Carry out one metric, in an event loop of its own.

    Raises:
        JudgeError: If the judge fails, or gives fewer verdicts than there is to judge.
    """
    from bridge_ragas.judge import BridgeLLM, check_counts

    llm = BridgeLLM(question.inquiry)
    value = asyncio.run(_score(question, llm))
    if question.inquiry.failure is not None:
        raise question.inquiry.failure
    check_counts(llm.replies)
    return Measurement(
        reason=_reason(question, llm.replies),
        details={"native": own_of(question), "replies": _plain(llm.replies[:MOST_REPLIES])},
        **_measured(question, float(value)),
    )


async def _score(question: Question, llm: Any) -> Any:
    """The native value of one metric."""
    name = question.metric.name
    sample = to_sample(question.case, question.output, MULTI if name in CONVERSATIONS else SINGLE)
    if name == "g_eval":
        return await _graded(question, _to_show(sample, question.params.show), llm)
    metric = _make(question, llm)
    columns = sample.to_dict() if name not in CONVERSATIONS else vars(sample)
    if name == "topic_adherence":
        columns = {**columns, "reference_topics": list(question.params.topics)}
    taken = inspect.signature(metric.ascore).parameters
    found = await metric.ascore(**{key: columns[key] for key in taken if key in columns})
    return found.value


async def _graded(question: Question, sample: Any, llm: Any) -> Any:
    """The value of ``g_eval`` on the scale of :func:`scale_of`."""
    if question.params.rubric:
        metric = _make(question, llm)
        columns = sample.to_dict()
        taken = inspect.signature(metric.ascore).parameters
        return (await metric.ascore(**{key: columns.get(key) for key in taken})).value
    from ragas.metrics._simple_criteria import SimpleCriteriaScore

    score = SimpleCriteriaScore("g_eval", f"{question.params.criteria}\n{SCALE}", llm=llm)
    return await score._single_turn_ascore(sample, None)  # noqa: SLF001


def own_of(question: Question) -> str:
    """The class that carries a metric out: of ``g_eval``, another where there is a rubric."""
    has_rubric = question.metric.name == "g_eval" and question.params.rubric
    return RUBRICS if has_rubric else question.metric.own


def scale_of(question: Question) -> tuple[float, float] | None:
    """The scale of a metric's value, where it is not from 0 to 1."""
    if question.metric.name != "g_eval":
        return None
    return (1.0, 5.0) if question.params.rubric else (0.0, 10.0)


def _measured(question: Question, value: float) -> dict[str, Any]:
    """A native value as ours, from 0 to 1, with the native one beside it where that differs."""
    scale = scale_of(question)
    if scale is None:
        return {"value": exact_at_ends(value)}
    low, high = scale
    found = exact_at_ends((value - low) / (high - low))
    return {"value": found, "raw": Raw(value=value, scale=scale)}


def _make(question: Question, llm: Any) -> Any:
    """A metric of ``ragas.metrics.collections``, with its judge."""
    from ragas.metrics import collections

    from bridge_ragas.judge import BridgeEmbeddings

    own = getattr(collections, own_of(question))
    options: dict[str, Any] = {}
    if own_of(question) == RUBRICS:
        options["rubrics"] = _rubric(question.params)
    if question.metric.calls or question.metric.more:
        options["llm"] = llm
    if question.metric.embeds:
        options["embeddings"] = BridgeEmbeddings(question.inquiry)
    return own(**options)


def _rubric(params: Any) -> dict[str, str]:
    """A rubric as RAGAS spells it out for the judge, with the criteria before it."""
    levels = {f"score{number}_description": each for number, each in enumerate(params.rubric, 1)}
    told = params.criteria or "\n".join(params.steps)
    return {"criteria": told, **levels}


def _to_show(sample: Any, show: Sequence[str]) -> Any:
    """A sample without what the judge is not to see."""
    kept = {
        "user_input": "input" in show,
        "reference": "reference" in show,
        "retrieved_contexts": "contexts" in show,
        "reference_contexts": False,
    }
    return sample.model_copy(update={name: None for name, shown in kept.items() if not shown})


def _reason(question: Question, replies: Sequence[BaseModel]) -> str:
    """What the judge said last of why; RAGAS itself gives no reason."""
    said = [getattr(each, "reason", getattr(each, "feedback", None)) for each in replies]
    told = next((each for each in reversed(said) if isinstance(each, str) and each), "")
    where = "; what the judge replied is in details" if replies else ""
    return told or f"{own_of(question)} gives no reason{where}"


def _plain(replies: Sequence[BaseModel]) -> list[dict[str, Any]]:
    return [{type(reply).__name__: reply.model_dump(mode="json")} for reply in replies]
