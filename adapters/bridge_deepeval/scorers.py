"""The shared scorers as DeepEval metrics, for test cases and for conversational ones.

``SCORERS["tool_use"](threshold=1.0)`` makes a metric for ``deepeval.evaluate`` or
``assert_test``; parameters are those of the shared scorer, with ``threshold``, ``metric``,
``weight`` and ``negate``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from deepeval.config.eval_mode import EvalMode
from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseConversationalMetric, BaseMetric

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.output import Output
from bridge.plugin.carry import KEY
from bridge.plugin.scoring.attached import AttachedMetric
from bridge.plugin.scoring.shared import Answer, SharedMetric, encode, summarise
from bridge.scorers.evaluate import threshold_of
from bridge.scorers.registry import BUILT_IN, validate_check
from bridge_deepeval.cases import from_test_case
from bridge_deepeval.rows import error_of, success_of

Read = Callable[[Any], tuple[Case, Output]]


class _Shared:
    """What both kinds of metric have in common.

    A class of its own because DeepEval wraps every method of a metric class in a tracing call.
    """

    eval_mode = EvalMode.LLM  # else every measurement reads and hashes all settings
    threshold: float | None
    score: float | None
    reason: str | None
    success: bool | None
    error: str | None
    verbose_logs: str | None

    def __init__(self, metric: SharedMetric, read: Read = from_test_case) -> None:
        self.metric = metric
        self.read = read
        # evaluate() refuses metrics that all lack a threshold; each case sets its own
        self.threshold = 1.0 if metric.threshold is None else metric.threshold

    @property
    def __name__(self) -> str:
        return self.metric.metric

    def measure(self, test_case: Any, *_: Any, **__: Any) -> float | None:
        """Measure one test case; everything the last one left is overwritten."""
        answers = self.metric.measure_native(lambda: self.read(test_case))
        self.score = self.reason = self.success = self.error = self.verbose_logs = None
        if not answers:
            raise MissingTestCaseParamsError(f"the case has no check {self.metric.metric}")
        self._take(answers)
        return self.score

    def _take(self, answers: tuple[Answer, ...]) -> None:
        total = summarise([found for _, found in answers])
        self.threshold = threshold_of(answers[0][0])
        self.score, self.reason = total.value, total.reason
        self.success, self.error = success_of(total), error_of(total)
        carried = {KEY: {"status": total.status, "rows": encode(answers, self.metric.stamp)}}
        self.verbose_logs = msgspec.json.encode(carried).decode()

    async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> float | None:
        """:meth:`measure`, which never waits."""
        return self.measure(test_case)

    def is_successful(self) -> bool | None:
        """Whether the last test case passed; ``None`` where nothing was decided."""
        return self.success


class SharedSingle(_Shared, BaseMetric):  # type: ignore[misc,no-untyped-call]
    """A shared scorer as a metric of test cases."""


class SharedConversational(_Shared, BaseConversationalMetric):  # type: ignore[misc,no-untyped-call]
    """A shared scorer as a metric of conversational test cases."""


class _Native(_Shared):
    """What both kinds of a metric of DeepEval's own have in common: they wait for a judge."""

    def __init__(self, metric: AttachedMetric, read: Read = from_test_case) -> None:
        super().__init__(metric, read)
        judge = None if metric.check is None else metric.check.judge
        self.evaluation_model = None if judge is None else f"bridge/{judge}"

    async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> float | None:
        """:meth:`measure` in a thread of its own."""
        return await asyncio.to_thread(self.measure, test_case)


class NativeSingle(_Native, BaseMetric):  # type: ignore[misc,no-untyped-call]
    """A metric of DeepEval's own, guarded, as a metric of test cases."""


class NativeConversational(_Native, BaseConversationalMetric):  # type: ignore[misc,no-untyped-call]
    """A metric of DeepEval's own, guarded, as a metric of conversational test cases."""


def to_native_metric(
    metric: AttachedMetric, conversational: bool
) -> NativeSingle | NativeConversational:
    """A metric that DeepEval's own carries out, under its neutral name."""
    return NativeConversational(metric) if conversational else NativeSingle(metric)


def to_metric(
    metric: SharedMetric, conversational: bool, read: Read = from_test_case
) -> SharedSingle | SharedConversational:
    """A metric of a job as a native metric of the same name."""
    return SharedConversational(metric, read) if conversational else SharedSingle(metric, read)


def _make(
    name: str,
    *,
    conversational: bool = False,
    metric: str | None = None,
    threshold: float | None = None,
    weight: float = 1.0,
    negate: bool = False,
    **params: Any,
) -> SharedSingle | SharedConversational:
    common = {"metric": metric, "threshold": threshold, "weight": weight, "negate": negate}
    check = Check.model_validate({"scorer": name, "params": params, **common})
    validate_check(check)
    return to_metric(SharedMetric(check.metric, check.scorer, check), conversational)


SCORERS = {name: partial(_make, name) for name in BUILT_IN}
"""Makers of the built-in scorers' metrics by name."""
