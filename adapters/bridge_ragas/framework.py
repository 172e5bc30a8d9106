"""RAGAS as a framework: cases as evaluation datasets, and the native run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from bridge_ragas.cases import is_conversation, to_sample
from bridge_ragas.held import MULTI, SINGLE, Kind
from bridge_ragas.info import INFO, LANGCHAIN

if TYPE_CHECKING:
    from ragas import EvaluationDataset


@dataclass(frozen=True, slots=True)
class NativeSet:
    """What ``ragas.evaluate`` takes: datasets of one kind of sample each, and metrics for both.

    Attributes:
        single_turn: ``SingleTurnSample`` objects, or null if there are none.
        multi_turn: ``MultiTurnSample`` objects, or null if there are none.
        metrics: Metrics of either.
    """

    single_turn: EvaluationDataset | None
    multi_turn: EvaluationDataset | None
    metrics: tuple[Any, ...]


class RagasFramework:
    """Scores recorded outputs with RAGAS's metrics and leaves its results as CSV and JSONL."""

    info = INFO

    def ensure_available(self) -> None:
        """Raise :class:`bridge.MissingDependency` unless RAGAS is there and can be imported."""
        require(INFO)
        require(LANGCHAIN)

    def counterparts(self) -> Sequence[Counterpart]:
        """Its own metrics, and the checks that say the same."""
        from bridge_ragas.results.counterparts import COUNTERPARTS

        return COUNTERPARTS

    def to_native(self, bundle: Bundle) -> NativeSet:
        """Cases with their outputs as datasets with metrics, ready for ``ragas.evaluate``.

        Checks of RAGAS's own metrics are among them, with the judge that the suite names.

        Raises:
            InputError: If there is no output.
        """
        native = [to_sample(case, output) for case, output in _pairs(bundle)]
        name = bundle.suite.name if bundle.suite else None
        return NativeSet(
            single_turn=_dataset([each for each in native if not is_conversation(each)], name),
            multi_turn=_dataset([each for each in native if is_conversation(each)], name),
            metrics=tuple(to_metrics(bundle)),
        )

    def run(self, job: Job) -> Iterator[Score]:
        """Score a job; leaves a result of each system and kind of sample, and ``route.json``."""
        from bridge_ragas.natives import RagasNatives
        from bridge_ragas.route import RagasRoute

        yield from run_tasks(
            INFO, job, RagasRoute, lambda task: RagasNatives(task, job.spec).rows()
        )


FRAMEWORK = RagasFramework()


def to_dataset(bundle: Bundle, kind: Kind | None = None) -> EvaluationDataset:
    """Cases with their outputs as a RAGAS evaluation dataset; :func:`to_metrics` has the checks.

    Example:
        >>> from bridge.model import Bundle, Case, Output
        >>> from bridge_ragas import to_dataset
        >>> from bridge_ragas.scorers import SCORERS
        >>> from ragas import evaluate
        >>> case = Case(id="refund-1", input="When is my refund paid?", expected="In 5 days.")
        >>> output = Output(case_id="refund-1", text="In 5 days.")
        >>> dataset = to_dataset(Bundle(cases=(case,), outputs=(output,)))
        >>> metrics = [SCORERS["equals"](), SCORERS["contains"](value="days")]
        >>> evaluate(dataset, metrics, show_progress=False)
        {'equals': 1.0000, 'contains': 1.0000}
        >>> dataset.to_jsonl("refunds.jsonl")

    Args:
        bundle: Cases and outputs.
        kind: ``single_turn`` or ``multi_turn`` samples; null for the kind that holds most of each.

    Raises:
        InputError: If there is no output, or a dataset would hold both kinds, which RAGAS refuses.
    """
    samples = [to_sample(case, output, kind) for case, output in _pairs(bundle)]
    kinds = {MULTI if is_conversation(each) else SINGLE for each in samples}
    if len(kinds) > 1:
        raise InputError(
            "the cases make single-turn and multi-turn samples, and a dataset holds one kind",
            fix=f"ask for kind={MULTI!r}, or take both datasets of RagasFramework.to_native",
        )
    name = bundle.suite.name if bundle.suite else None
    dataset = _dataset(samples, name)
    assert dataset is not None
    return dataset


def to_metrics(bundle: Bundle) -> list[Any]:
    """A bundle's checks as metrics of ``ragas.evaluate``; a dataset has no place for them.

    RAGAS's own metrics (``faithfulness``, ``g_eval``, ...) ask the suite's judges: evaluate within
    :func:`bridge.judge.judges_served`, with ``allow_nest_asyncio=False``.

    Example:
        >>> from bridge.model import Bundle, Case, Output
        >>> from bridge_ragas import to_dataset, to_metrics
        >>> from ragas import evaluate
        >>> case = Case(id="refund-1", input="When?", expected="In 5 days.", checks=["equals"])
        >>> bundle = Bundle(cases=(case,), outputs=(Output(case_id="refund-1", text="Soon."),))
        >>> evaluate(to_dataset(bundle), to_metrics(bundle), show_progress=False)
        {'equals': 0.0000}
    """
    from bridge_ragas.natives import measure
    from bridge_ragas.scorers import to_metric, to_native_metric

    shared = shared_metrics(bundle.suite.checks if bundle.suite else (), bundle.cases)
    own = attached_metrics(INFO, bundle, measure)
    return [*map(to_metric, shared), *map(to_native_metric, own)]


def _pairs(bundle: Bundle) -> list[tuple[Case, Output]]:
    if not bundle.outputs:
        raise InputError("there is no output to make samples of")
    by_id = {case.id: case for case in bundle.cases}
    return [(by_id[output.case_id], output) for output in bundle.outputs]


def _dataset(samples: Sequence[Any], name: str | None) -> EvaluationDataset | None:
    from ragas import EvaluationDataset

    return EvaluationDataset(samples=list(samples), name=name) if samples else None
