"""Native scores as score rows: those that we made, and those of other people's scorers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bridge.model.score import Raw, Score
from bridge.plugin.carry import KEY
from bridge.plugin.shared import decode, summarise

NAME = "inspect"
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Inspect's own score letters: correct, partial, incorrect, no answer."""
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}

Scale = tuple[float, float]
Scales = Mapping[str, Scale]
"""The declared scale of a metric's native values; ``*`` is that of every other metric."""


def read_score(
    metric: str, native: Any, key: Mapping[str, Any], scales: Scales | None = None
) -> list[Score]:
    """The rows that a native score stands for.

    Args:
        metric: The score's name in the log.
        native: Inspect's ``Score``, or a log file's row with its attributes.
        key: ``framework``, ``framework_version``, ``system``, ``case_id`` and ``epoch``.
        scales: Declared scales of native values.
    """
    own = _own_rows(native, key)
    if own is not None:
        return own
    reason = native.explanation or ""
    common = {**key, "metric": metric, "scorer": metric, "reason": reason}
    value = native.value
    if isinstance(value, Mapping):
        return [
            _foreign(part, {**common, "metric": f"{metric}.{name}"}, scales, native.reason)
            for name, part in value.items()
        ]
    return [_foreign(value, common, scales, native.reason)]


def _own_rows(native: Any, key: Mapping[str, Any]) -> list[Score] | None:
    """The rows we recorded, unless the score was edited since."""
    carried = (native.metadata or {}).get(KEY)
    if not isinstance(carried, Mapping) or not isinstance(carried.get("rows"), Sequence):
        return None
    try:
        rows = decode(carried["rows"], key)
    except (TypeError, ValueError):
        return None
    return rows if summarise(rows).value == _number(native.value) else None


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _foreign(
    value: Any, common: Mapping[str, Any], scales: Scales | None, why: str | None
) -> Score:
    number = _to_number(value)
    if number is None:
        shown = "no value" if value is None or _number(value) is None else f"value {value!r}"
        error = f"{shown} ({why})" if why else f"{shown}, which is no score"
        return Score(**{**common, "reason": common["reason"] or error}, status="error", error=error)
    low, high = _scale(common["metric"], scales)
    raw = Raw(value=value, scale=(low, high)) if (low, high) != (0.0, 1.0) else None
    if isinstance(value, str):
        raw = raw or Raw(value=value)
    if not low <= number <= high:
        error = f"value {value} is outside [{low:g}, {high:g}]: declare the metric's scale"
        return Score(**common, status="error", error=error, raw=Raw(value=value))
    return Score(
        **common,
        status="scored",
        value=(number - low) / (high - low),
        label=value if value in LETTERS else None,
        raw=raw,
    )


def _scale(metric: str, scales: Scales | None) -> Scale:
    known = scales or {}
    return known.get(metric, known.get("*", (0.0, 1.0)))


def _to_number(value: Any) -> float | None:
    """A native value as a finite number; ``None`` where it is none."""
    if isinstance(value, str):
        known = LETTERS.get(value, WORDS.get(value.strip().lower()))
        if known is not None:
            return known
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool | int | float) and math.isfinite(value):
        return float(value)
    return None
