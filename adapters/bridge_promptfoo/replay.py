"""Recorded answers as promptfoo's tests, and the provider that replays them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.output import Output
from bridge.plugin.scoring.shared import SharedMetric
from bridge.scorers.evaluate import shared_with_turns
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.cases import to_test
from bridge_promptfoo.scorers import SUMMARY, to_assertion
from bridge_promptfoo.seal import inert

REPLAY = f"file://{Path(__file__).with_name('replay.cjs')}"
"""The provider that answers each test with what was recorded, as promptfoo names a file."""
PROMPT = {"raw": "recorded", "label": "recorded outputs"}


def to_checked_test(
    case: Case,
    outputs: Sequence[Output],
    metrics: Iterable[SharedMetric],
    checks: Sequence[Check],
    assertion: Callable[[SharedMetric, Check], Fields] = to_assertion,
) -> Fields:
    """A case in one epoch as a test, with an assertion for each metric that it has a check for."""
    rows = [check for check, _ in shared_with_turns(checks, case)]
    in_force = {check.metric: check for check in reversed(rows)}
    return {
        **to_test(case, outputs),
        "options": {"disableVarExpansion": True},
        "assert": [
            assertion(metric, in_force[metric.metric])
            for metric in metrics
            if metric.metric in in_force
        ],
        "assertScoringFunction": SUMMARY,
    }


def around(name: str, systems: Iterable[str], tests: list[Fields]) -> Fields:
    """Tests as a whole config; each system is a provider that replays its outputs."""
    return {
        "description": inert(name),
        "prompts": [PROMPT],
        "providers": [to_provider(system) for system in systems],
        "tests": tests,
    }


def to_provider(system: str) -> Fields:
    """A system as a provider; a recorded ``HTTP 429`` is nothing to wait and try again for."""
    config = {"system": inert(system), "maxRetries": 0}
    return {"id": REPLAY, "label": inert(system), "config": config}
