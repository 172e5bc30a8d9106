"""The shared scorers as RAGAS metrics, for both of its APIs.

``SCORERS["tool_use"](threshold=1.0)`` makes a metric for ``ragas.evaluate``, of single- and
multi-turn samples; with ``collection=True`` it makes one of the API of
``ragas.metrics.collections``, for ``@experiment``. Parameters are those of the shared scorer, with
``threshold``, ``metric``, ``weight`` and ``negate``.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, overload

from langchain_core.callbacks import CallbackManager
from ragas.dataset_schema import MultiTurnSample, SingleTurnSample
from ragas.metrics.base import MultiTurnMetric, SingleTurnMetric
from ragas.metrics.collections.base import BaseMetric
from ragas.metrics.result import MetricResult
from ragas.run_config import RunConfig

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.output import Output
from bridge.plugin.carry import KEY
from bridge.plugin.scoring.attached import AttachedMetric
from bridge.plugin.scoring.shared import Answer, SharedMetric, Summary, encode, summarise
from bridge.scorers.registry import BUILT_IN, validate_check
from bridge_ragas.cases import from_sample

Read = Callable[[Any], tuple[Case, Output]]
Leave = Callable[[Any, dict[str, Any]], None]

UNKNOWN = Summary(value=None, status="skipped", reason="the case has no such check", error=None)
"""What a metric says of a case that has no check of its name."""

_LOG = logging.getLogger(__name__)


def leave_in_traces(callbacks: Any, found: dict[str, Any]) -> None:
    """Leave what was found where RAGAS keeps a judge's words: ``EvaluationResult.traces``.

    A RAGAS value is a bare number, so this is the only place for a status and a reason.
    """
    for row in found["rows"]:
        if row["status"] == "error":  # as RAGAS does of an exception, which becomes NaN too
            _LOG.error("not scored: %s", row["error"])
    if isinstance(callbacks, CallbackManager):
        callbacks.on_chain_start({"name": KEY}, {}).on_chain_end({"output": found})


class Shared(SingleTurnMetric, MultiTurnMetric):
    """A shared scorer as a metric of ``ragas.evaluate``.

    What has no value is NaN, which RAGAS leaves out of its means; no scorer raises.
    """

    def __init__(
        self, metric: SharedMetric, read: Read = from_sample, leave: Leave = leave_in_traces
    ) -> None:
        # without required columns a metric gets the very sample, with what it carries
        super().__init__(name=metric.metric)
        self.metric = metric
        self.read = read
        self.leave = leave

    def init(self, run_config: RunConfig) -> None:
        """Nothing to set up: a shared scorer needs no model."""

    def measure(self, sample: Any, callbacks: Any = None) -> float:
        """Measure one sample, and leave status, reason and rows behind."""
        answers = self.metric.measure_native(lambda: self.read(sample))
        total, found = _summary(answers, self.metric.stamp)
        self.leave(callbacks, found)
        return math.nan if total.value is None else total.value

    async def _single_turn_ascore(self, sample: Any, callbacks: Any) -> float:
        return self.measure(sample, callbacks)

    async def _multi_turn_ascore(self, sample: Any, callbacks: Any) -> float:
        return self.measure(sample, callbacks)


class Native(Shared):
    """A metric of RAGAS's own, guarded, as a metric of ``ragas.evaluate``.

    RAGAS's newer classes, which carry it out, are none that ``ragas.evaluate`` takes. What a judge
    failed at, or what has nothing to score against, is NaN with its status and reason in the
    traces.
    """

    async def _single_turn_ascore(self, sample: Any, callbacks: Any) -> float:
        return await asyncio.to_thread(self.measure, sample, callbacks)

    async def _multi_turn_ascore(self, sample: Any, callbacks: Any) -> float:
        return await asyncio.to_thread(self.measure, sample, callbacks)


class SharedCollection(BaseMetric):
    """A shared scorer as a metric of RAGAS's newer API.

    What has no value is a ``MetricResult`` of ``None`` with its reason; ``traces["output"]`` holds
    status and rows.
    """

    def __init__(self, metric: SharedMetric, read: Read = from_sample) -> None:
        super().__init__(name=metric.metric)
        self.metric = metric
        self.read = read

    async def ascore(self, sample: Any = None, **columns: Any) -> MetricResult:
        """Measure a sample, or the columns of one.

        Raises:
            TypeError: On a column that RAGAS does not know.
        """
        native = to_native_sample(columns) if sample is None else sample
        total, found = _summary(self.metric.measure_native(lambda: self.read(native)))
        return MetricResult(total.value, total.reason, {"input": {}, "output": found})


def to_native_sample(columns: dict[str, Any]) -> SingleTurnSample | MultiTurnSample:
    """A sample of a row's columns; a list of messages as ``user_input`` makes it multi-turn.

    Raises:
        TypeError: On a column that RAGAS does not know, which it would drop in silence.
    """
    many = isinstance(columns.get("user_input"), list)
    model = MultiTurnSample if many else SingleTurnSample
    unknown = sorted(set(columns) - set(model.model_fields))
    if unknown:
        raise TypeError(f"no column {', '.join(unknown)} in a {model.__name__}")
    return model(**columns)


def _summary(answers: tuple[Answer, ...], stamp: str = "") -> tuple[Summary, dict[str, Any]]:
    total = summarise([found for _, found in answers]) if answers else UNKNOWN
    return total, {"status": total.status, "rows": encode(answers, stamp)}


def to_native_metric(metric: AttachedMetric) -> Native:
    """A metric that RAGAS's own carries out, under its neutral name."""
    return Native(metric)


def to_metric(
    metric: SharedMetric, read: Read = from_sample, leave: Leave = leave_in_traces
) -> Shared:
    """A metric of a job as a native metric of the same name."""
    return Shared(metric, read, leave)


@overload
def _make(name: str, *, collection: Literal[True], **params: Any) -> SharedCollection: ...
@overload
def _make(name: str, *, collection: Literal[False] = False, **params: Any) -> Shared: ...


def _make(
    name: str,
    *,
    collection: bool = False,
    metric: str | None = None,
    threshold: float | None = None,
    weight: float = 1.0,
    negate: bool = False,
    **params: Any,
) -> Shared | SharedCollection:
    common = {"metric": metric, "threshold": threshold, "weight": weight, "negate": negate}
    check = Check.model_validate({"scorer": name, "params": params, **common})
    validate_check(check)
    shared = SharedMetric(check.metric, check.scorer, check)
    return SharedCollection(shared) if collection else to_metric(shared)


SCORERS = {name: partial(_make, name) for name in BUILT_IN}
"""Makers of the built-in scorers' metrics by name."""
