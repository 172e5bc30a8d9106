"""DeepEval as a framework: cases as test cases, and the native run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.model.bundle import Bundle
from bridge.model.errors import InputError
from bridge.model.job import Job
from bridge.model.score import Score
from bridge.plugin.framework import require
from bridge.plugin.results.counterparts import Counterpart
from bridge.plugin.scoring.attached import attached_metrics
from bridge.plugin.scoring.route import run_tasks
from bridge.plugin.scoring.shared import shared_metrics
from bridge_deepeval.info import INFO


@dataclass(frozen=True, slots=True)
class NativeSet:
    """What ``deepeval.evaluate`` takes: test cases and conversations, each with their metrics.

    Attributes:
        test_cases: ``LLMTestCase`` objects.
        metrics: Metrics for them.
        conversations: ``ConversationalTestCase`` objects.
        conversational_metrics: Metrics for those.
    """

    test_cases: tuple[Any, ...]
    metrics: tuple[Any, ...]
    conversations: tuple[Any, ...]
    conversational_metrics: tuple[Any, ...]


class DeepEvalFramework:
    """Scores recorded outputs with DeepEval's metrics and leaves a DeepEval run file."""

    info = INFO

    def ensure_available(self) -> None:
        """Raise :class:`bridge.MissingDependency` unless DeepEval is there and recent enough."""
        require(INFO)

    def counterparts(self) -> Sequence[Counterpart]:
        """Its own metrics, and the checks that say the same."""
        from bridge_deepeval.results.counterparts import COUNTERPARTS

        return COUNTERPARTS

    def to_native(self, bundle: Bundle) -> NativeSet:
        """Cases with their outputs as test cases with metrics, ready for ``deepeval.evaluate``.

        Checks of DeepEval's own metrics are attached too, each carried out by its class with the
        judge that the suite names. A conversation's check of single answers is one metric with a
        row for each turn, since DeepEval has no place for them in a conversation.

        Raises:
            InputError: If there is no output.
        """
        from bridge_deepeval.cases import is_conversation, to_test_case
        from bridge_deepeval.natives import measure
        from bridge_deepeval.scorers import to_metric, to_native_metric

        if not bundle.outputs:
            raise InputError("there is no output to make test cases of")
        by_id = {case.id: case for case in bundle.cases}
        pairs = [(by_id[output.case_id], output) for output in bundle.outputs]
        native = [to_test_case(case, output) for case, output in pairs]
        shared = shared_metrics(bundle.suite.checks if bundle.suite else (), bundle.cases)
        own = attached_metrics(INFO, bundle, measure)

        def metrics(conversational: bool) -> tuple[Any, ...]:
            made = [to_metric(each, conversational) for each in shared]
            return (*made, *(to_native_metric(each, conversational) for each in own))

        return NativeSet(
            test_cases=tuple(each for each in native if not is_conversation(each)),
            metrics=metrics(conversational=False),
            conversations=tuple(each for each in native if is_conversation(each)),
            conversational_metrics=metrics(conversational=True),
        )

    def run(self, job: Job) -> Iterator[Score]:
        """Score a job; leaves a run file for each system, and ``route.json``."""
        from bridge_deepeval.natives import DeepEvalNatives
        from bridge_deepeval.route import DeepEvalRoute

        yield from run_tasks(
            INFO, job, DeepEvalRoute, lambda task: DeepEvalNatives(task, job.spec).rows()
        )


FRAMEWORK = DeepEvalFramework()


def to_test_cases(bundle: Bundle) -> NativeSet:
    """Cases with their outputs as DeepEval test cases, with the suite's checks as metrics.

    DeepEval's own metrics (``faithfulness``, ``g_eval``, ...) ask the suite's judges: evaluate
    within :func:`bridge.judge.judges_served`.

    Example:
        >>> from bridge.model import Bundle, Case, Output
        >>> from bridge_deepeval import to_test_cases
        >>> case = Case(id="refund-1", input="When?", expected="In 5 days.", checks=["equals"])
        >>> output = Output(case_id="refund-1", text="In 5 days.")
        >>> native = to_test_cases(Bundle(cases=(case,), outputs=(output,)))
        >>> metric = native.metrics[0]
        >>> metric.measure(native.test_cases[0])
        1.0
        >>> metric.is_successful(), metric.reason
        (True, 'equals "In 5 days."')

    Raises:
        InputError: If there is no output.
    """
    return FRAMEWORK.to_native(bundle)
