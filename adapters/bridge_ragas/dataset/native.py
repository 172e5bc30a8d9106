"""Samples of a dataset that we wrote as RAGAS's own: for the script beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.model.check import Check
from bridge.model.output import Output
from bridge.plugin.carry import KEY
from bridge.plugin.cases.dataset import answered
from bridge.plugin.format import ReadOptions
from bridge.plugin.scoring.shared import shared_metrics
from bridge.scorers.registry import validate_check
from bridge_ragas.cases import is_conversation, to_sample
from bridge_ragas.dataset.format import DATASET
from bridge_ragas.held import MULTI, SINGLE

if TYPE_CHECKING:
    from ragas import EvaluationDataset
    from ragas.dataset_schema import EvaluationResult

UNANSWERED = "the sample has no response"


def load_datasets(path: Path) -> list[EvaluationDataset]:
    """The samples of a file, which carry their cases; a dataset for each kind that is there."""
    from ragas import EvaluationDataset

    bundle, _ = DATASET.read(path, ReadOptions())
    samples = [
        to_sample(case, output or Output(case_id=case.id, error=UNANSWERED))
        for case, output in answered(bundle)
    ]
    kinds = [[each for each in samples if is_conversation(each) == many] for many in (False, True)]
    return [EvaluationDataset(samples=kind) for kind in kinds if kind]


def metrics(path: Path, checks: Sequence[Any]) -> list[Any]:
    """The shared scorers of a dataset: the suite's checks, and those that its cases add.

    Args:
        path: The dataset.
        checks: The suite's checks, as they are written in a suite.

    Raises:
        ValueError: If there is no check at all.
    """
    from bridge_ragas.scorers import to_metric

    suite = [Check.model_validate(check) for check in checks]
    for check in suite:
        validate_check(check)
    bundle, _ = DATASET.read(path, ReadOptions())
    found = [to_metric(each) for each in shared_metrics(suite, bundle.cases)]
    if not found:
        raise ValueError("there is no check: add one to CHECKS")
    return found


def failures(result: EvaluationResult, dataset: EvaluationDataset) -> list[str]:
    """The checks that failed or could not be scored, and the cases on which none was, a line each.

    RAGAS itself knows values alone.

    Args:
        result: What ``ragas.evaluate`` gave.
        dataset: The dataset that it was given.
    """
    found: list[str] = []
    for sample, trace in zip(dataset.samples, result.traces, strict=True):
        name = vars(sample)[KEY]["case"].id
        statuses = set()
        for metric, left in trace.items():
            kept = left.get(KEY, {}).get("output") or {"status": "error", "rows": []}
            statuses.add(kept["status"])
            if kept["status"] in ("failed", "error"):
                said = "; ".join(filter(None, map(_reason, kept["rows"])))
                found.append(" ".join(f"{name}: {metric} {kept['status']}: {said}".split()))
        if statuses <= {"skipped", "unsupported"}:
            found.append(f"{name}: nothing was scored")
    return found


def _reason(row: Mapping[str, Any]) -> str:
    return str(row.get("error") or row.get("reason") or "")


def write_scores(result: EvaluationResult, dataset: EvaluationDataset, path: Path) -> Path:
    """Write RAGAS's own table of scores with the ids that it leaves out.

    Args:
        result: What ``ragas.evaluate`` gave.
        dataset: The dataset that it was given.
        path: The dataset's file, beside which the table is put.

    Returns:
        The file.
    """
    table = result.to_pandas()
    table.insert(0, "id", [vars(sample)[KEY]["case"].id for sample in dataset.samples])
    kind = MULTI if is_conversation(dataset.samples[0]) else SINGLE
    dest = path.with_name(f"{path.stem}.{kind}.scores.csv")
    table.to_csv(dest, index=False)
    return dest
