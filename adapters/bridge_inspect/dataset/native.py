"""Samples of a dataset that we wrote as Inspect's own: for the task file beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.model.bundle import Bundle
from bridge.model.check import Check
from bridge.plugin.format import ReadOptions
from bridge.plugin.scoring.shared import shared_metrics
from bridge.scorers.registry import validate_check
from bridge_inspect.cases import to_sample
from bridge_inspect.dataset.format import DATASET
from bridge_inspect.dataset.reading import own_case
from bridge_inspect.framework import replayed

if TYPE_CHECKING:
    from inspect_ai.dataset import Dataset, Sample
    from inspect_ai.scorer import Scorer
    from inspect_ai.solver import Solver


@cache
def _bundle(path: Path) -> Bundle:
    return DATASET.read(path, ReadOptions())[0]


def load_samples(path: Path) -> Dataset:
    """A dataset as Inspect loads it, each record made a sample with :func:`record_to_sample`."""
    from inspect_ai.dataset import json_dataset

    return json_dataset(str(path), record_to_sample)


def record_to_sample(record: Mapping[str, Any]) -> Sample:
    """A record of a dataset as a sample whose metadata the shared scorers read.

    Raises:
        ValueError: If what it carries is damaged.
    """
    from inspect_ai.dataset import Sample

    made = to_sample(own_case(record))
    sandbox = record.get("sandbox")
    return Sample(
        id=made.id,
        input=made.input,
        target=made.target,
        choices=made.choices,
        metadata=made.metadata,
        files=record.get("files"),
        setup=record.get("setup"),
        sandbox=tuple(sandbox) if isinstance(sandbox, list) else sandbox,
    )


def replay(path: Path, system: str) -> Solver:
    """A solver that gives each sample the answer that a system was recorded with."""
    bundle = _bundle(path)
    answers = {
        (output.case_id, output.epoch): output
        for output in bundle.outputs
        if output.system == system
    }
    if not answers:
        raise ValueError(f"no output of a system {system!r} is recorded")
    solver: Solver = replayed({case.id: case for case in bundle.cases}, answers)
    return solver


def epochs_of(path: Path, system: str) -> int:
    """How many epochs of a system are recorded."""
    return max(each.epoch for each in _bundle(path).outputs if each.system == system)


def scorers(path: Path, checks: Sequence[Any]) -> list[Scorer] | None:
    """The shared scorers of a dataset: the suite's checks, and those that its cases add.

    Args:
        path: The dataset.
        checks: The suite's checks, as they are written in a suite.
    """
    from bridge_inspect.scorers import to_scorer

    suite = [Check.model_validate(check) for check in checks]
    for check in suite:
        validate_check(check)
    return [to_scorer(each) for each in shared_metrics(suite, _bundle(path).cases)] or None
