"""Inspect AI as a framework: cases as a task, and the native run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bridge.files.store import safe_name
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.errors import InputError
from bridge.model.job import Job
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.framework import require
from bridge.plugin.results.counterparts import Counterpart
from bridge.plugin.scoring.attached import attached_metrics
from bridge.plugin.scoring.route import run_tasks
from bridge.plugin.scoring.shared import shared_metrics
from bridge_inspect.info import INFO

if TYPE_CHECKING:
    from inspect_ai import Task


class InspectFramework:
    """Scores recorded outputs with Inspect's scorers and leaves an Inspect log."""

    info = INFO

    def ensure_available(self) -> None:
        """Raise :class:`bridge.MissingDependency` unless Inspect is there and recent enough."""
        require(INFO)

    def counterparts(self) -> Sequence[Counterpart]:
        """Its own metrics, and the checks that say the same."""
        from bridge_inspect.results.counterparts import COUNTERPARTS

        return COUNTERPARTS

    def to_native(self, bundle: Bundle) -> Task:
        """Cases with one system's outputs as a task that ``inspect eval`` runs as it is.

        Checks of Inspect's own model-graded scorers are attached too, with the judge that the
        suite names; what Inspect has no scorer of is a score that says so.

        Raises:
            InputError: If there is no output, or there are those of several systems.
        """
        from inspect_ai import Task
        from inspect_ai.dataset import MemoryDataset

        from bridge_inspect.cases import to_sample
        from bridge_inspect.natives import measure, measure_async
        from bridge_inspect.scorers import to_native_scorer, to_scorer

        answers = _answers(bundle)
        answered = {case_id for case_id, _ in answers}
        cases = [case for case in bundle.cases if case.id in answered]
        checks = bundle.suite.checks if bundle.suite else ()
        name = bundle.suite.name if bundle.suite else "bridge"
        scorers = [to_scorer(metric) for metric in shared_metrics(checks, cases)]
        own = attached_metrics(INFO, bundle, measure, cases)
        return Task(
            dataset=MemoryDataset([to_sample(case) for case in cases], name=name),
            solver=replayed({case.id: case for case in cases}, answers),
            scorer=[*scorers, *(to_native_scorer(each, measure_async) for each in own)],
            epochs=max(epoch for _, epoch in answers),
            name=safe_name(name),
        )

    def run(self, job: Job) -> Iterator[Score]:
        """Score a job; leaves a log for each system, and ``route.json``."""
        from bridge_inspect.natives import InspectNatives
        from bridge_inspect.route import InspectRoute

        yield from run_tasks(
            INFO, job, InspectRoute, lambda task: InspectNatives(task, job.spec).rows()
        )


FRAMEWORK = InspectFramework()


def to_task(bundle: Bundle) -> Task:
    """Cases with one system's outputs as an Inspect task, with the suite's checks as scorers.

    Inspect's own scorers (``g_eval``, ``answer_correctness``) ask the suite's judges: evaluate
    within :func:`bridge.judge.judges_served`.

    Example:
        >>> from bridge.model import Bundle, Case, Output
        >>> from bridge_inspect import to_task
        >>> from inspect_ai import eval
        >>> case = Case(id="refund-1", input="When?", expected="In 5 days.", checks=["equals"])
        >>> output = Output(case_id="refund-1", text="In 5 days.")
        >>> task = to_task(Bundle(cases=(case,), outputs=(output,)))
        >>> log = eval(task, model=None, display="none", log_dir=".")[0]
        >>> log.samples[0].scores["equals"].value
        1.0

    Raises:
        InputError: If there is no output, or there are those of several systems.
    """
    return FRAMEWORK.to_native(bundle)


def _answers(bundle: Bundle) -> Mapping[tuple[str, int], Output]:
    systems = {output.system for output in bundle.outputs}
    if len(systems) != 1:
        names = ", ".join(sorted(systems)) or "none"
        raise InputError(f"a task takes the outputs of one system, here: {names}")
    return {(output.case_id, output.epoch): output for output in bundle.outputs}


def replayed(cases: Mapping[str, Case], answers: Mapping[tuple[str, int], Output]) -> Any:
    """A solver that gives each sample its recorded answer."""
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    from bridge.plugin.carry import KEY
    from bridge_inspect.cases import carried_output, to_history, to_model_output

    @solver
    def recorded_outputs() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            del generate
            output = answers.get((str(state.sample_id), state.epoch))
            if output is None:
                error = f"no output is recorded for epoch {state.epoch}"
                state.output = ModelOutput(error=error)
                return state
            case = cases[output.case_id]
            state.messages = to_history(case, output)
            state.output = to_model_output(case, output)
            state.metadata[KEY] = {**state.metadata[KEY], "output": carried_output(case, output)}
            return state

        return solve

    return recorded_outputs()
