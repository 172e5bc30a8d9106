"""Jobs for the real RAGAS in this process, kept from the network and from the real HOME."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bridge.execution.worker import set_environment
from bridge.model import Bundle, Case, Job, JobSpec, Output, Score, Suite
from bridge.plugin.core import FRAMEWORK as CORE
from bridge_ragas import FRAMEWORK
from bridge_ragas.info import INFO

SHARED = ("value", "status", "reason", "error", "label", "details", "turn", "threshold", "weight")
"""What must be the same in every framework."""


@contextmanager
def switched_off(folder: Path) -> Iterator[None]:
    """RAGAS's switches as a worker sets them, while it is used in this process."""
    before = dict(os.environ)
    set_environment(INFO, folder)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def make_job(
    folder: Path, pairs: Sequence[tuple[Case, Output]], checks: Sequence[Any] = ("equals",)
) -> Job:
    """A job of answered cases."""
    spec = JobSpec.model_validate(
        {"framework": "ragas", "suite": "small", "checks": list(checks), "native_dir": folder}
    )
    cases = tuple({case.id: case for case, _ in pairs}.values())
    return Job(spec=spec, cases=cases, outputs=tuple(output for _, output in pairs))


def make_bundle(
    pairs: Sequence[tuple[Case, Output]], checks: Sequence[Any] = ("equals",)
) -> Bundle:
    """The same as a bundle with a suite."""
    suite = Suite.model_validate(
        {"name": "s", "golden_set": "c", "system": {"recorded": "o"}, "checks": list(checks)}
    )
    cases = tuple({case.id: case for case, _ in pairs}.values())
    return Bundle(suite=suite, cases=cases, outputs=tuple(output for _, output in pairs))


def run_both(job: Job) -> tuple[list[Score], list[Score]]:
    """The rows of core and of RAGAS, in the order of core's."""
    ours = list(CORE.run(job))
    by_key = {row.key[1:]: row for row in FRAMEWORK.run(job)}
    return ours, [by_key[row.key[1:]] for row in ours]


def shared(row: Score) -> list[Any]:
    """The fields that must be the same."""
    return [getattr(row, name) for name in SHARED]


def plain(text: str, expected: str = "a", **fields: Any) -> tuple[Case, Output]:
    """A small answered case."""
    case = Case.model_validate({"id": f"c-{text}", "input": "q", "expected": expected, **fields})
    return case, Output(case_id=case.id, text=text)


def talk() -> tuple[Case, Output]:
    """An answered case with turns, tool calls and a wrong answer."""
    case = Case.model_validate(
        {
            "id": "talk",
            "input": "someone asks twice",
            "expected": "",
            "tools": [{"name": "f", "parameters": {"type": "object"}}],
            "turns": [
                {"user": "one?", "expected": "1", "expected_calls": {"calls": [{"name": "f"}]}},
                {"user": "two?", "expected": "2"},
            ],
        }
    )
    turns = [{"text": "1", "tool_calls": [{"name": "f", "result": 1}]}, {"text": "3"}]
    return case, Output.model_validate({"case_id": "talk", "turns": turns})
