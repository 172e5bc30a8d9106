"""Goldens of a dataset that we wrote as DeepEval's test cases: for the pytest file beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.output import Output
from bridge.plugin.carry import KEY
from bridge.plugin.cases.dataset import restored
from bridge.plugin.cases.rows import own_parts
from bridge.plugin.scoring.shared import shared_metrics
from bridge.scorers.evaluate import shared_with_turns
from bridge.scorers.registry import validate_check
from bridge_deepeval.calls import Fields
from bridge_deepeval.cases import from_test_case, is_conversation
from bridge_deepeval.cases import to_test_case as to_native
from bridge_deepeval.dataset.reading import Pair, pair_of_row

if TYPE_CHECKING:
    from deepeval.dataset import ConversationalGolden, Golden
    from deepeval.test_case import ConversationalTestCase, LLMTestCase

UNANSWERED = "the golden has no actual_output"


def load_goldens(paths: Iterable[Path]) -> list[Golden | ConversationalGolden]:
    """Goldens as DeepEval loads them.

    Args:
        paths: Files of goldens, each of one kind.
    """
    from deepeval.dataset import EvaluationDataset

    goldens: list[Golden | ConversationalGolden] = []
    for path in paths:
        dataset = EvaluationDataset()
        dataset.add_goldens_from_json_file(str(path))
        goldens += dataset.goldens
    return goldens


def to_test_case(golden: Golden | ConversationalGolden) -> LLMTestCase | ConversationalTestCase:
    """A golden with its answer as a test case; without one it counts as failed.

    Raises:
        ValueError: If what the golden carries is damaged.
    """
    case, output = pair_of_golden(golden)
    return to_native(case, output or Output(case_id=case.id, error=UNANSWERED))


def pair_of_golden(golden: Any) -> Pair:
    """The case of a golden, and its output if it has one."""
    row = _row(golden)
    metadata = row.pop("additional_metadata", None) or {}
    parts = own_parts(metadata)
    row["additional_metadata"] = {key: value for key, value in metadata.items() if key != KEY}
    row["name"] = row.get("name") or "golden"
    case, output = pair_of_row(row)
    if parts is None:
        return case, output
    case = restored(Case, parts["case"], case)
    if parts.get("output") is not None:
        output = restored(Output, parts["output"], output)
    return case, None if output is None else output.model_copy(update={"case_id": case.id})


def _row(golden: Any) -> Fields:
    """A golden as the row of a file that DeepEval loaded it from."""
    dumped: Fields = golden.model_dump(mode="json", exclude_defaults=True)
    if getattr(golden, "retrieval_context", None):  # whose dump runs sources into texts
        dumped["retrieval_context"] = [
            each if isinstance(each, str) else {"context": each.context, "source": each.source}
            for each in golden.retrieval_context
        ]
    if getattr(golden, "persona", None) is not None:  # which is left out of dumps
        dumped["persona"] = golden.persona.model_dump(mode="json", exclude_defaults=True)
    return {key: value for key, value in dumped.items() if value not in (None, [], {})}


def metrics_of(test_case: LLMTestCase | ConversationalTestCase, checks: Sequence[Any]) -> list[Any]:
    """The metrics of one test case: its own checks, and those of the suite.

    Args:
        test_case: A test case of :func:`to_test_case`.
        checks: The suite's checks, as they are written in a suite.

    Raises:
        ValueError: If the case has no check at all: it would pass without being looked at.
    """
    from bridge_deepeval.scorers import to_metric

    suite = [Check.model_validate(check) for check in checks]
    for check in suite:
        validate_check(check)
    case, _ = from_test_case(test_case)
    apply = {check.metric for check, _ in shared_with_turns(suite, case)}
    metrics = [each for each in shared_metrics(suite, [case]) if each.metric in apply]
    if not metrics:
        raise ValueError(f"case {case.id!r} has no check: add one to CHECKS")
    turned = is_conversation(test_case)
    return [to_metric(each, conversational=turned) for each in metrics]


def assert_scored(metrics: Sequence[Any]) -> None:
    """Fail a test case on which nothing was scored: DeepEval takes it for a success.

    Args:
        metrics: What :func:`metrics_of` made, after ``assert_test``.

    Raises:
        AssertionError: If none has a score.
    """
    if all(metric.score is None for metric in metrics):
        said = "; ".join(f"{metric.__name__}: {metric.reason}" for metric in metrics)
        raise AssertionError(f"nothing was scored ({said})")
