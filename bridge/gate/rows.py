"""Rows into a table: batch by batch, refusing those that contradict themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.files.scores import ScoreRow
from bridge.gate.table import (
    COLUMNS,
    FAILED,
    NAMED,
    NUMBERED,
    PASSED,
    SCORED,
    WHOLE_CASE,
    Floats,
    Ints,
    Mask,
    Stamp,
    Table,
)
from bridge.model.score import STATUSES

_FLOATS = frozenset({"value", "threshold", "cost"})
_STAMPED = attrgetter("system", "framework", "metric", *Stamp._fields)
_STATUS_CODE: dict[str, int] = {status: code for code, status in enumerate(STATUSES)}


class RowError(ValueError):
    """A row that contradicts itself.

    Attributes:
        index: Its place in the batch.
    """

    def __init__(self, index: int, what: str) -> None:
        super().__init__(what)
        self.index = index


class Vocabulary(dict[str | int, int]):
    """Numbers of names, in the order they came; whole numbers are names too."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, name: str | int) -> int:
        text = str(name)
        if not text.strip():
            raise ValueError("an empty name")
        if text is not name and text in self:
            code = self[text]
        else:
            code = len(self.names)
            self.names.append(text)
            self[text] = code
        self[name] = code
        return code


@dataclass(slots=True)
class TableBuilder:
    """Collects rows into columns."""

    names: dict[str, Vocabulary] = field(default_factory=lambda: {n: Vocabulary() for n in NAMED})
    columns: dict[str, list[NDArray[Any]]] = field(
        default_factory=lambda: {name: [] for name in COLUMNS}
    )
    stamps: dict[tuple[str, str, str], dict[bool, set[Stamp]]] = field(default_factory=dict)
    count: int = 0

    def extend(self, rows: Sequence[ScoreRow], source: int, lines: Sequence[int]) -> None:
        """Add a batch of rows.

        Args:
            rows: The rows.
            source: Number of the file they are from.
            lines: Their lines.

        Raises:
            RowError: At the first row that contradicts itself: an unknown status, a value outside
                [0, 1], a verdict without a value, a value without one, or a verdict of one of our
                own scorers that its threshold denies.
        """
        numbers: dict[str, Sequence[Any]] = {
            "epoch": _each("epoch", rows),
            "turn": [WHOLE_CASE if turn is None else turn for turn in _each("turn", rows)],
            "status": [_STATUS_CODE.get(status, -1) for status in _each("status", rows)],
            "value": _each("value", rows),  # None becomes NaN
            "threshold": _each("threshold", rows),
            "cost": _each("cost_usd", rows),
            "source": [source] * len(rows),
            "line": lines,
        }
        arrays: dict[str, Any] = {n: np.array(numbers[n], _kind(n)) for n in NUMBERED}
        _check(rows, arrays["status"], arrays["value"], arrays["threshold"])
        for name in NAMED:
            arrays[name] = self._coded(name, rows)
        for name in COLUMNS:
            self.columns[name].append(arrays[name])
        self._stamp(rows)
        self.count += len(rows)

    def _coded(self, name: str, rows: Sequence[ScoreRow]) -> Ints:
        codes = self.names[name]
        attribute = "case_id" if name == "case" else name
        found = _each(attribute, rows)
        try:
            return np.array([codes[each] for each in found], np.int64)
        except ValueError:
            empty = next(i for i, row in enumerate(rows) if _is_blank(getattr(row, attribute)))
            raise RowError(empty, f"{attribute} is empty") from None

    def _stamp(self, rows: Sequence[ScoreRow]) -> None:
        for valued in (True, False):
            chosen = (row for row in rows if (row.value is not None) is valued)
            for system, framework, metric, *stamp in set(map(_STAMPED, chosen)):
                sides = self.stamps.setdefault((str(system), str(framework), str(metric)), {})
                sides.setdefault(valued, set()).add(Stamp(*stamp))

    def build(self) -> Table:
        """The rows in an order that their content alone decides."""
        columns: dict[str, NDArray[Any]] = {
            name: np.concatenate([np.empty(0, _kind(name)), *arrays])
            for name, arrays in self.columns.items()
        }
        for name in NAMED:
            columns[name] = _ranks(self.names[name].names)[columns[name]]
        keys = ("system", "framework", "metric", "case", "epoch", "turn", "status", "value")
        order = np.lexsort([columns[key] for key in reversed(keys)])
        fields: dict[str, Any] = {name: columns[name][order] for name in COLUMNS}
        for name in NAMED:
            fields[f"{name}_names"] = tuple(sorted(self.names[name].names))
        return Table(**fields, stamps=self._deciding_stamps())

    def _deciding_stamps(self) -> dict[tuple[str, str, str], frozenset[Stamp]]:
        """Stamps of the rows that have a value, or of all where none has."""
        return {
            key: frozenset(sides.get(True) or sides.get(False) or ())
            for key, sides in self.stamps.items()
        }


def _each(attribute: str, rows: Sequence[ScoreRow]) -> list[Any]:
    return list(map(attrgetter(attribute), rows))


def _kind(column: str) -> type[np.float64 | np.int64]:
    return np.float64 if column in _FLOATS else np.int64


def _is_blank(name: str | int) -> bool:
    return isinstance(name, str) and not name.strip()


def _ranks(names: Sequence[str]) -> Ints:
    ranks = np.empty(len(names), np.int64)
    ranks[np.argsort(np.array(names, dtype=object), kind="stable")] = np.arange(len(names))
    return ranks


def _check(rows: Sequence[ScoreRow], status: Ints, value: Floats, threshold: Floats) -> None:
    """Refuse the first row, of the first fault in this order, that contradicts itself."""
    valued = ~np.isnan(value)
    verdict = (status == PASSED) | (status == FAILED) | (status == SCORED)
    _refuse(
        status < 0, lambda i: f"unknown status {rows[i].status!r} (one of {', '.join(STATUSES)})"
    )
    _refuse(verdict & ~valued, lambda i: f"status {rows[i].status} without a value")
    _refuse(~verdict & valued, lambda i: f"status {rows[i].status} with a value")
    _refuse(
        valued & ~((value >= 0.0) & (value <= 1.0)),
        lambda i: f"value {rows[i].value:g} is outside [0, 1]; declare the metric's scale",
    )
    reached = value >= threshold
    denied = ((status == PASSED) & ~reached) | ((status == FAILED) & reached) | (status == SCORED)
    ours = np.array(list(map(bool, _each("scorer_version", rows))), bool)
    _refuse(
        denied & ours & valued & ~np.isnan(threshold),
        lambda i: (
            f"{rows[i].status} with value {rows[i].value:g} at threshold {rows[i].threshold:g}"
        ),
    )


def _refuse(faulty: Mask, say: Callable[[int], str]) -> None:
    if faulty.any():
        index = int(np.argmax(faulty))
        raise RowError(index, say(index))
