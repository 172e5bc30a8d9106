"""One native metric asked of a framework: what is known without a judge, and what a judge says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.judge.errors import JudgeError
from bridge.judge.inquiry import Inquiry
from bridge.judge.session import judge_in_force
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.judge import JudgeConfig
from bridge.model.output import Output
from bridge.model.score import Measurement, error_measurement
from bridge.plugin.framework import FrameworkInfo
from bridge.plugin.metrics import NativeMetric, by_name
from bridge.plugin.scoring.applicable import known_of
from bridge.scorers.registry import read_params


@dataclass(frozen=True, slots=True)
class Question:
    """One native metric to be carried out.

    Attributes:
        metric: Which.
        params: The check's parameters.
        case: The case as the metric sees it: a turn is a case of its own.
        output: Its output, likewise.
        inquiry: How the judge is asked; asks nothing where the metric needs none.
    """

    metric: NativeMetric
    params: Any
    case: Case
    output: Output
    inquiry: Inquiry


Measure = Callable[[Question], Measurement]
"""Carries out one metric in its framework; may raise."""


@dataclass(frozen=True, slots=True)
class Measurer:
    """A framework's own metrics, each asked of the judge that its check names.

    Attributes:
        info: The framework.
        judges: The suite's judges.
        measure: Carries out one metric.
    """

    info: FrameworkInfo
    judges: Mapping[str, JudgeConfig]
    measure: Measure

    def known(self, check: Check, case: Case, output: Output) -> Measurement | None:
        """What is known of a metric without asking; ``None`` where it is to be carried out."""
        return known_of(self.info, self.judges, check, case, output)

    def carry_out(
        self, check: Check, case: Case, output: Output, tag: Mapping[str, Any]
    ) -> Measurement:
        """What a metric finds; a judge's failure is an error, whatever the framework made of it.

        Args:
            check: The check, no group.
            case: The case as the metric sees it.
            output: Its output, likewise.
            tag: What the judge is asked for, for its ledger.
        """
        return self.known(check, case, output) or self._ask(check, case, output, tag)

    def _ask(self, check: Check, case: Case, output: Output, tag: Mapping[str, Any]) -> Measurement:
        question = self._question(check, case, output, tag)
        try:
            found = self.measure(question)
        except Exception as error:
            failure = question.inquiry.failure or judge_error_in(error)
            if failure is None:
                raise
            return error_measurement(str(failure))
        failure = question.inquiry.failure
        return found if failure is None else error_measurement(str(failure))

    def _question(
        self, check: Check, case: Case, output: Output, tag: Mapping[str, Any]
    ) -> Question:
        judge = Unasked() if check.judge is None else judge_in_force(check.judge)
        inquiry = Inquiry(judge, tag, vary=varies(self.judges, check))
        metric = by_name(self.info.native_metrics)[check.scorer]
        return Question(metric, read_params(check), case, output, inquiry)


class Unasked:
    """Stands where a metric needs no judge."""

    def ask(self, request: Any) -> Any:
        """Refuse.

        Raises:
            JudgeError: Always, of kind ``request``.
        """
        del request
        raise JudgeError("request", "the check names no judge")


def tag_of(info: FrameworkInfo, check: Check, output: Output) -> dict[str, Any]:
    """What a judge is asked for, for its ledger."""
    return {
        "framework": info.name,
        "metric": check.metric,
        "case_id": output.case_id,
        "system": output.system,
        "epoch": output.epoch,
    }


def varies(judges: Mapping[str, JudgeConfig], check: Check) -> bool:
    """Whether a check's judge may answer an equal question differently."""
    config = judges.get(check.judge or "")
    return config is not None and config.temperature != 0


def judge_error_in(error: BaseException | None) -> JudgeError | None:
    """The judge's failure behind an exception of a framework's."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, JudgeError):
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None
