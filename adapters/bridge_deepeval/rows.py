"""Native metric results as score rows: those that we made, and those of other people's metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from bridge.files.scores import ScoreRow
from bridge.model.message import as_text
from bridge.model.score import Score, Status
from bridge.model.values import is_number
from bridge.plugin.carry import KEY
from bridge.plugin.results.imported import Scales, imported_row, lower_is_better, no_score
from bridge.plugin.scoring.shared import Summary, recorded

NAME = "deepeval"


_SUCCESS = {"passed": True, "failed": False, "error": False}


def success_of(total: Summary) -> bool | None:
    """DeepEval's success of rows; ``None`` where nothing was decided."""
    return _SUCCESS.get(total.status)


def error_of(total: Summary) -> str | None:
    """DeepEval's error of rows; ``None`` where they could be scored."""
    return (total.error or total.reason) if total.status == "error" else None


def read_score(
    native: Any, key: Mapping[str, Any], scales: Scales | None = None, *, lower: bool = False
) -> Sequence[Score | ScoreRow]:
    """The rows that a native result stands for.

    Args:
        native: DeepEval's ``MetricData``, or a run file's record with its attributes.
        key: ``framework``, ``framework_version``, ``system``, ``case_id`` and ``epoch``.
        scales: Declared scales of native values.
        lower: Whether lower is better.
    """
    own = _own_rows(native, key)
    if own is not None:
        return own
    row = _foreign(native, key, scales or Scales())
    return [lower_is_better(row) if lower else row]


def _own_rows(native: Any, key: Mapping[str, Any]) -> list[Score] | None:
    """The rows we recorded, unless the score was edited since."""
    if not native.verbose_logs or not native.verbose_logs.startswith(f'{{"{KEY}":'):
        return None
    try:
        rows = msgspec.json.decode(native.verbose_logs)[KEY]["rows"]
    except (TypeError, ValueError, KeyError, RecursionError):
        return None
    return recorded(rows, key, native.score) or None


def _foreign(native: Any, key: Mapping[str, Any], scales: Scales) -> ScoreRow:
    fields = {
        **key,
        "metric": native.name or "metric",
        "scorer": native.name,
        "threshold": native.threshold,
        "reason": "" if native.reason is None else as_text(native.reason),
        "judge": native.evaluation_model,
        "cost_usd": _amount(native.evaluation_cost),
    }
    status: Status = "scored"
    if native.success is not None:
        status = "passed" if native.success else "failed"
    number, why = native.score, "DeepEval gave no score"
    if native.error is not None:
        number, why = None, as_text(native.error) or "DeepEval gave no reason"
    elif number is not None and not is_number(number):
        number, why = None, no_score(number)
    return imported_row(number, fields, scales, why=why, status=status)


def _amount(value: Any) -> float | None:
    return value if is_number(value) and value >= 0 else None
