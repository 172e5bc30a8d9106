"""Native metric results as score rows: those that we made, and those of other people's metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.files.scores import ScoreRow
from bridge.model.score import Score, Status
from bridge.model.values import is_number
from bridge.plugin.carry import KEY
from bridge.plugin.results.imported import UNIT, Scale, Scales, imported_row, lower_is_better
from bridge.plugin.scoring.shared import recorded

NAME = "ragas"
RUBRIC: Scale = (1.0, 5.0)
RUBRICS = frozenset({"domain_specific_rubrics", "instance_rubrics", "instance_specific_rubrics"})
"""RAGAS's metrics that score from 1 to 5."""
LOWER_IS_BETTER = frozenset({"noise_sensitivity"})
VERDICTS: Mapping[str, tuple[float, Status]] = {"pass": (1.0, "passed"), "fail": (0.0, "failed")}
"""What a discrete metric of RAGAS says by default."""


def read_score(
    metric: str,
    value: Any,
    trace: Any,
    key: Mapping[str, Any],
    scales: Scales | None = None,
    reason: str = "",
) -> Sequence[Score | ScoreRow]:
    """The rows that a native value stands for.

    Args:
        metric: The metric's name in the result.
        value: RAGAS's value: a number, NaN or ``None`` for a blank, ``{}`` for an exception.
        trace: What the metric left in the result's traces, or in a file beside the value.
        key: ``framework``, ``framework_version``, ``system``, ``case_id`` and ``epoch``.
        scales: Declared scales of native values.
        reason: What the file says of the value.
    """
    own = _own_rows(value, trace, key)
    if own is not None:
        return own
    return [_foreign(metric, value, {**key, "reason": reason}, scales or Scales())]


def to_number(value: Any) -> float | None:
    """A native value as a finite number; ``None`` where it is none."""
    return float(value) if isinstance(value, bool) or is_number(value) else None


def _own_rows(value: Any, trace: Any, key: Mapping[str, Any]) -> list[Score] | None:
    """The rows we recorded, unless the value was edited since; none where there was no check."""
    left = trace.get(KEY) if isinstance(trace, Mapping) else None
    found = left.get("output") if isinstance(left, Mapping) else None
    rows = found.get("rows") if isinstance(found, Mapping) else None
    return recorded(rows, key, to_number(value))


def _foreign(metric: str, value: Any, fields: Mapping[str, Any], scales: Scales) -> ScoreRow:
    base = metric.partition("(")[0]  # rouge_score(mode=fmeasure)
    fields = {**fields, "metric": metric, "scorer": base}
    if isinstance(value, str) and value in VERDICTS:  # on no scale but its own
        number, status = VERDICTS[value]
        fields = {**fields, "label": value}
        return imported_row(number, fields, Scales(), status=status, native=value)
    scale = scales.of(metric, RUBRIC if base in RUBRICS else UNIT)
    row = imported_row(
        to_number(value),
        fields,
        Scales({metric: scale}),
        why=f"RAGAS gave no value{_shown(value)}: it failed, timed out or found nothing to score",
    )
    return lower_is_better(row) if base in LOWER_IS_BETTER else row


def _shown(value: Any) -> str:
    return f" but {value[:80]!r}" if isinstance(value, str) and value else ""
