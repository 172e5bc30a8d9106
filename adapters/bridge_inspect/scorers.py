"""The shared scorers as Inspect scorers: ``bridge_inspect/<name>``.

Inspect's registry finds them by entry point (``inspect score LOG --scorer
bridge_inspect/tool_use``); parameters are those of the shared scorer, with ``threshold``,
``metric``, ``weight`` and ``negate``.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import registry_info

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.plugin.carry import KEY
from bridge.plugin.scoring.attached import AttachedMetric
from bridge.plugin.scoring.measurer import Question
from bridge.plugin.scoring.shared import Answer, SharedMetric, encode, summarise
from bridge.scorers.registry import BUILT_IN, validate_check
from bridge_inspect import judge
from bridge_inspect.cases import from_state
from bridge_inspect.rows import REASONS

PACKAGE = "bridge_inspect"
Read = Callable[[TaskState, Target], tuple[Case, Output]]
Measure = Callable[[Question], Coroutine[Any, Any, Measurement]]


def to_scorer(metric: SharedMetric, read: Read = from_state) -> Scorer:
    """A metric of a job as a scorer whose name in the log is the metric's.

    Args:
        metric: The metric, with the suite's check if the suite has one.
        read: How case and output are read from the state.
    """

    @scorer(metrics=[mean()], name=f"{_PREFIX}{metric.metric}")
    def shared(check: Any = None) -> Scorer:
        del check  # recorded in the log as the scorer's options
        return _scorer(metric, read)

    return shared(None if metric.check is None else metric.check.model_dump(mode="json"))


def _scorer(metric: SharedMetric, read: Read) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score | None:
        answers = metric.measure_native(lambda: read(state, target))
        return to_score(answers, state.output.completion) if answers else None

    return score


def to_native_scorer(metric: AttachedMetric, measure: Measure) -> Scorer:
    """A metric that a scorer of Inspect's own carries out, under its neutral name.

    The judge is asked in the event loop of the evaluation, so that Inspect records the call.

    Args:
        metric: The metric, with the suite's check if the suite has one.
        measure: Carries it out.
    """

    @scorer(metrics=[mean()], name=f"{_PREFIX}{metric.metric}")
    def native(check: Any = None) -> Scorer:
        del check  # recorded in the log as the scorer's options
        return _native_scorer(metric, measure)

    return native(None if metric.check is None else metric.check.model_dump(mode="json"))


def _native_scorer(metric: AttachedMetric, measure: Measure) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score | None:
        loop = asyncio.get_running_loop()

        def wait_for(question: Question) -> Measurement:
            return asyncio.run_coroutine_threadsafe(measure(question), loop).result()

        asking = metric.asking(wait_for)
        answers = await asyncio.to_thread(asking.measure_native, lambda: from_state(state, target))
        return to_score(answers, state.output.completion, metric.stamp) if answers else None

    return score


def to_score(answers: tuple[Answer, ...], answer: str, native: str = "") -> Score:
    """Rows as one native score; what has no value is NaN, which Inspect leaves out of its means.

    Args:
        answers: The rows.
        answer: The text that was scored.
        native: What stands for the version of a metric of the framework's own.
    """
    total = summarise([found for _, found in answers])
    return Score(
        value=math.nan if total.value is None else total.value,
        answer=answer,
        explanation=total.reason,
        reason=REASONS.get(total.status),
        metadata={KEY: {"status": total.status, "rows": encode(answers, native)}},
    )


def _register(name: str) -> Callable[..., Scorer]:
    @scorer(metrics=[mean()], name=f"{_PREFIX}{name}")
    def shared(
        metric: str | None = None,
        threshold: float | None = None,
        weight: float = 1.0,
        negate: bool = False,
        **params: Any,
    ) -> Scorer:
        common = {"metric": metric, "threshold": threshold, "weight": weight, "negate": negate}
        check = Check.model_validate({"scorer": name, "params": params, **common})
        validate_check(check)
        return _scorer(SharedMetric(check.metric, check.scorer, check), from_state)

    return shared


def _prefix() -> str:
    """What a name needs in front to be registered as ``bridge_inspect/<name>``.

    Inspect puts the package there itself, but only where it takes the package for installed,
    which it does not when the distribution has another name and is installed for editing.
    """

    @scorer(metrics=[mean()], name="shared")
    def shared() -> Scorer:
        return _scorer(SharedMetric("shared", "equals"), from_state)

    named = registry_info(shared).name == f"{PACKAGE}/shared"
    return "" if named else f"{PACKAGE}/"


_PREFIX = _prefix()
SCORERS = {name: _register(name) for name in BUILT_IN}
"""Factories of the built-in scorers by name."""
JUDGE = judge.bridge
"""The judge as a model, registered with them: ``get_model("bridge/<judge>")``."""
