"""Other people's scores as score rows: native scales, and what has no value.

Rows keep to [0, 1], higher is better. A native value on another scale is brought there when the
scale is declared (``scale: [0, 10]``, or ``scale: {metric: [0, 10]}``); without that, a value
outside [0, 1] is an error, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from bridge.files.scores import ScoreRow
from bridge.model.errors import InputError
from bridge.model.score import Status
from bridge.model.values import LARGEST
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

    def row(self, value: Any, fields: Mapping[str, Any]) -> ScoreRow:
        """The row of a value that another harness gave: a number, or true or false."""
        if isinstance(value, bool):
            value = float(value)
        good = isinstance(value, int | float)
        return imported_row(value if good else None, fields, self, why=no_score(value))


def no_score(value: Any) -> str:
    """Why a row has no value, where a file has something else in its place."""
    return "no score" if value is None else f"{repr(value)[:80]} is no score"


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


def seconds(milliseconds: Any) -> float | None:
    """Milliseconds as seconds; ``None`` for what is no number, or beyond one."""
    if not isinstance(milliseconds, int | float) or abs(milliseconds) > LARGEST:
        return None
    return milliseconds / 1000


def read_encoding(options: ReadOptions) -> str:
    """The ``encoding`` option; "" where it is left out.

    Raises:
        InputError: If it is no text.
    """
    given = options.options.get("encoding", "")
    if not isinstance(given, str):
        raise InputError(f"encoding is {given!r}", fix="name one such as cp1252")
    return given


def _pair(metric: str, pair: Any) -> Scale:
    numbers = isinstance(pair, list) and all(
        isinstance(end, int | float) and not isinstance(end, bool) for end in pair
    )
    if not numbers or len(pair) != 2 or not pair[0] < pair[1]:
        raise InputError(f"scale of {metric} is {pair}", fix="write [least, greatest]")
    return float(pair[0]), float(pair[1])


def imported_row(
    number: float | None,
    fields: Mapping[str, Any],
    scales: Scales,
    *,
    why: str = "",
    status: Status = "scored",
    native: Any = None,
) -> ScoreRow:
    """A row of a native value.

    Args:
        number: The native value as a number; ``None`` where there is none.
        fields: The row's other fields; ``threshold`` is on the native scale.
        scales: Declared scales.
        why: Why there is no number.
        status: The status, where there is a number within its scale.
        native: The value as the file has it, where that is not the number itself.
    """
    low, high = scale = scales.of(fields["metric"])
    plain = scale is UNIT and native is None and number is not None and 0.0 <= number <= 1.0
    if plain and 0.0 <= (fields.get("threshold") or 0.0) <= 1.0:  # as nearly all are
        return ScoreRow(**fields, status=status, value=number)
    kept = {name: value for name, value in fields.items() if name != "threshold"}
    threshold = fields.get("threshold")
    if threshold is not None and low <= threshold <= high:
        kept["threshold"] = (threshold - low) / (high - low)
    if number is None or not abs(number) <= LARGEST:
        error = why or f"{number} is no score"
        kept["reason"] = kept.get("reason") or error
        return ScoreRow(**kept, status="error", error=error)
    if not low <= number <= high:
        error = (
            f"{number:g} is outside [{low:g}, {high:g}]: declare the scale of {fields['metric']}"
        )
        return ScoreRow(**kept, status="error", error=error, raw=_raw(number))
    if native is not None or (low, high) != UNIT:
        kept["raw"] = _raw(number if native is None else native, (low, high))
    return ScoreRow(**kept, status=status, value=(number - low) / (high - low))


def lower_is_better(row: ScoreRow) -> ScoreRow:
    """A row whose native value is better when lower, turned round."""
    if row.value is None:
        return row
    raw = msgspec.json.decode(bytes(row.raw)) if bytes(row.raw) else {"value": row.value}
    turned = msgspec.Raw(msgspec.json.encode({**raw, "direction": "lower"}))
    threshold = None if row.threshold is None else 1.0 - row.threshold
    return msgspec.structs.replace(row, value=1.0 - row.value, threshold=threshold, raw=turned)


def _raw(value: Any, scale: Scale | None = None) -> msgspec.Raw:
    if isinstance(value, int) and value.bit_length() > 63:
        value = float(value)  # msgspec writes no longer ones
    raw = {"value": value} if scale is None else {"value": value, "scale": scale}
    return msgspec.Raw(msgspec.json.encode(raw))


def error_row(metric: str, why: str, key: Mapping[str, Any], scorer: str = "") -> ScoreRow:
    """The row of a metric that should be there and is not."""
    scorer = scorer or metric
    return ScoreRow(**key, metric=metric, scorer=scorer, status="error", error=why, reason=why)
