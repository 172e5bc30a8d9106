"""Native scores as score rows: those that we made, and those of other people's scorers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bridge.files.scores import ScoreRow
from bridge.model.score import Score
from bridge.model.values import is_number
from bridge.plugin.carry import KEY
from bridge.plugin.results.imported import Scales, imported_row, no_score
from bridge.plugin.scoring.shared import recorded

NAME = "inspect"
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Inspect's own score letters: correct, partial, incorrect, no answer."""
REASONS = {"error": "scoring_failed", "skipped": "skipped", "unsupported": "unsupported"}
"""Inspect's reason for a score that is NaN, by the neutral status."""
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""Words that Inspect reads as a score, in any case."""


def read_score(
    metric: str, native: Any, key: Mapping[str, Any], scales: Scales | None = None
) -> Sequence[Score | ScoreRow]:
    """The rows that a native score stands for.

    Args:
        metric: The score's name in the log.
        native: Inspect's ``Score``, or a log file's record with its attributes.
        key: ``framework``, ``framework_version``, ``system``, ``case_id`` and ``epoch``.
        scales: Declared scales of native values.
    """
    own = _own_rows(native, key)
    if own is not None:
        return own
    common = {**key, "scorer": metric, "reason": native.explanation or ""}
    if isinstance(native.value, Mapping) and native.value:
        parts = {f"{metric}.{name}": part for name, part in native.value.items()}
    else:
        parts = {metric: native.value}
    return [
        _foreign(value, {**common, "metric": name}, scales or Scales(), native.reason)
        for name, value in parts.items()
    ]


def _own_rows(native: Any, key: Mapping[str, Any]) -> list[Score] | None:
    """The rows we recorded, unless the score was edited since."""
    carried = (native.metadata or {}).get(KEY)
    rows = carried.get("rows") if isinstance(carried, Mapping) else None
    return recorded(rows, key, _scored(native.value)) or None


def _scored(value: Any) -> Any:
    """A native value; ``None`` for NaN, which says that there is none."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _foreign(value: Any, fields: Mapping[str, Any], scales: Scales, reason: str | None) -> ScoreRow:
    known = _to_known(value)
    if known is not None:  # on no scale but its own
        label = value if isinstance(value, str) else str(value).lower()
        said = " ".join(filter(None, (fields["reason"], f"({reason})" if reason else "")))
        told = {**fields, "label": label, "reason": said}
        return imported_row(known, told, Scales(), native=value)
    number = _to_number(value)
    why = no_score(_scored(value))
    return imported_row(
        number,
        fields,
        scales,
        why=f"{why} ({reason})" if reason else why,
        native=value if isinstance(value, str) else None,
    )


def _to_known(value: Any) -> float | None:
    """The number that Inspect itself sees in a letter, a word or a truth value."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        return LETTERS.get(value, WORDS.get(value.strip().lower()))
    return None


def _to_number(value: Any) -> float | None:
    """A native value as a finite number; ``None`` where it is none."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return float(value) if is_number(value) else None
