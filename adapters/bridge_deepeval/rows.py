"""Native metric results as score rows: those that we made, and those of other people's metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from bridge.model.score import Score, Status
from bridge.plugin.carry import KEY
from bridge.plugin.imported import Scales, imported_score
from bridge.plugin.shared import decode, summarise

NAME = "deepeval"


def read_score(native: Any, key: Mapping[str, Any], scales: Scales | None = None) -> list[Score]:
    """The rows that a native result stands for.

    Args:
        native: DeepEval's ``MetricData``, or a run file's record with its attributes.
        key: ``framework``, ``framework_version``, ``system``, ``case_id`` and ``epoch``.
        scales: Declared scales of native values.
    """
    own = _own_rows(native, key)
    return own if own is not None else [_foreign(native, key, scales or Scales())]


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


def _foreign(native: Any, key: Mapping[str, Any], scales: Scales) -> Score:
    fields = {
        **key,
        "metric": native.name,
        "scorer": native.name,
        "threshold": native.threshold,
        "reason": native.reason or "",
        "judge": native.evaluation_model,
        "cost_usd": native.evaluation_cost,
    }
    status: Status = "scored"
    if native.success is not None:
        status = "passed" if native.success else "failed"
    number = None if native.error is not None else native.score
    why = native.error or "DeepEval gave no score"
    return imported_score(number, fields, scales, why=why, status=status)
