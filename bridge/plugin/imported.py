"""Other people's scores as score rows: native scales, and what has no value.

Rows keep to [0, 1], higher is better. A native value on another scale is brought there when the
scale is declared (``scale: [0, 10]``, or ``scale: {metric: [0, 10]}``); without that, a value
outside [0, 1] is an error, never a guess.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from bridge.model.errors import InputError
from bridge.model.score import Raw, Score, Status
from bridge.plugin.format import ReadOptions

Scale = tuple[float, float]
UNIT: Scale = (0.0, 1.0)
ANY = "*"


class Scales:
    """The declared scale of each metric's native values."""

    def __init__(self, declared: Mapping[str, Scale] | None = None) -> None:
        self._declared = dict(declared or {})

    def of(self, metric: str, native: Scale = UNIT) -> Scale:
        """The (least, greatest) native value of a metric; ``native`` where nothing is declared."""
        return self._declared.get(metric, self._declared.get(ANY, native))


def read_scales(options: ReadOptions) -> Scales:
    """The ``scale`` option: one scale for all metrics, or one a metric.

    Raises:
        InputError: If it is no pair of ascending numbers, nor a mapping to such pairs.
    """
    given = options.options.get("scale")
    if given is None:
        return Scales()
    pairs = given if isinstance(given, Mapping) else {ANY: given}
    return Scales({metric: _pair(metric, pair) for metric, pair in pairs.items()})


def _pair(metric: str, pair: Any) -> Scale:
    numbers = isinstance(pair, list) and all(
        isinstance(end, int | float) and not isinstance(end, bool) for end in pair
    )
    if not numbers or len(pair) != 2 or not pair[0] < pair[1]:
        raise InputError(f"scale of {metric} is {pair}", fix="write [least, greatest]")
    return float(pair[0]), float(pair[1])


def null_numbers(value: Any, skip: Collection[str] = ()) -> int:
    """Put null in place of NaN and infinities, in place; returns how many there were.

    Args:
        value: Data as :func:`json.loads` gives it.
        skip: Keys whose values are left alone.
    """
    if not isinstance(value, dict | list):
        return 0
    found = 0
    for name, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if name in skip:
            continue
        if isinstance(item, float) and not math.isfinite(item):
            value[name] = None
            found += 1
        else:
            found += null_numbers(item, skip)
    return found


def imported_score(
    number: float | None,
    fields: Mapping[str, Any],
    scales: Scales,
    *,
    why: str = "",
    status: Status = "scored",
    native: Any = None,
) -> Score:
    """A score row of a native value.

    Args:
        number: The native value as a number; ``None`` where there is none.
        fields: The row's other fields; ``threshold`` is on the native scale.
        scales: Declared scales.
        why: Why there is no number.
        status: The status, where there is a number within its scale.
        native: The value as the file has it, where that is not the number itself.
    """
    low, high = scales.of(fields["metric"])
    kept = {name: value for name, value in fields.items() if name != "threshold"}
    threshold = fields.get("threshold")
    if threshold is not None and low <= threshold <= high:
        kept["threshold"] = (threshold - low) / (high - low)
    if number is None or not math.isfinite(number):
        error = why or f"{number} is no score"
        return Score(**{**kept, "reason": kept.get("reason") or error}, status="error", error=error)
    if not low <= number <= high:
        error = (
            f"{number:g} is outside [{low:g}, {high:g}]: declare the scale of {fields['metric']}"
        )
        return Score(**kept, status="error", error=error, raw=Raw(value=number))
    raw = None
    if native is not None or (low, high) != UNIT:
        raw = Raw(value=number if native is None else native, scale=(low, high))
    return Score(**kept, status=status, value=(number - low) / (high - low), raw=raw)
