"""Native metric results as score rows: those that we made, and those of other people's metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from bridge.model.score import Raw, Score, Status
from bridge.plugin.carry import KEY
from bridge.plugin.shared import decode, summarise

NAME = "deepeval"

Scale = tuple[float, float]
Scales = Mapping[str, Scale]
"""The declared scale of a metric's native values; ``*`` is that of every other metric."""


def read_score(native: Any, key: Mapping[str, Any], scales: Scales | None = None) -> list[Score]:
    """The rows that a native result stands for.

    Args:
        native: DeepEval's ``MetricData``, or a run file's row with its attributes.
        key: ``framework``, ``framework_version``, ``system``, ``case_id`` and ``epoch``.
        scales: Declared scales of native values.
    """
    own = _own_rows(native, key)
    return own if own is not None else [_foreign(native, key, scales)]


def _own_rows(native: Any, key: Mapping[str, Any]) -> list[Score] | None:
    """The rows we recorded, unless the score was edited since."""
    if not native.verbose_logs or not native.verbose_logs.startswith(f'{{"{KEY}":'):
        return None
    try:
        carried = msgspec.json.decode(native.verbose_logs)[KEY]
        rows = decode(carried["rows"], key)
    except (TypeError, ValueError, KeyError):
        return None
    return rows if summarise(rows).value == native.score else None


def _foreign(native: Any, key: Mapping[str, Any], scales: Scales | None) -> Score:
    low, high = (scales or {}).get(native.name, (scales or {}).get("*", (0.0, 1.0)))
    common = {**key, "metric": native.name, "scorer": native.name}
    common |= {"reason": native.reason or native.error or "", "judge": native.evaluation_model}
    threshold, score = native.threshold, native.score
    if threshold is not None and low <= threshold <= high:
        common["threshold"] = (threshold - low) / (high - low)
    if native.error is not None or score is None or not math.isfinite(score):
        error = native.error or "DeepEval gave no score"
        return Score(**{**common, "reason": common["reason"] or error}, status="error", error=error)
    if not low <= score <= high:
        error = f"score {score:g} is outside [{low:g}, {high:g}]: declare the metric's scale"
        return Score(**common, status="error", error=error, raw=Raw(value=score))
    status: Status = "scored"
    if native.success is not None:
        status = "passed" if native.success else "failed"
    return Score(
        **common,
        status=status,
        value=(score - low) / (high - low),
        raw=None if (low, high) == (0.0, 1.0) else Raw(value=score, scale=(low, high)),
        cost_usd=native.evaluation_cost,
    )
