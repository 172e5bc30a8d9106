"""Rows into a table: batch by batch, refusing those that contradict themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bridge.files.scores import Identifier, ScoreRow
from bridge.gate.intake.table import (
    COLUMNS,
    FAILED,
    NAMED,
    PASSED,
    SCORED,
    WHOLE_CASE,
    Ints,
    Mask,
    Stamp,
    Stamps,
    Table,
    joint_codes,
)
from bridge.model.score import STATUSES

Columns = dict[str, NDArray[Any]]

_FLOATS = frozenset({"value", "threshold", "cost"})
_STATUS_CODE: dict[str, int] = {status: code for code, status in enumerate(STATUSES)}
_ATTRIBUTES = {name: "case_id" if name == "case" else name for name in NAMED}
_SORTED_BY = ("system", "framework", "metric", "case", "epoch", "turn", "status")


class _Kind(NamedTuple):
    """What the rows of a metric have in common: looked at once in a batch, not in each row."""

    framework: Identifier
    system: Identifier
    metric: Identifier
    status: str
    threshold: float | None
    scorer: str
    scorer_version: str
    framework_version: str
    judge: str | None

    @property
    def code(self) -> int:
        """Number of the status; -1 for one that is none."""
        return _STATUS_CODE.get(self.status, -1)

    @property
    def valued(self) -> bool:
        """Whether its rows have a value."""
        return self.code in (PASSED, FAILED, SCORED)

    @property
    def stamp(self) -> Stamp:
        """What the values depend on."""
        return Stamp(self.scorer, self.scorer_version, self.framework_version, self.judge)


_KIND = attrgetter(*_Kind._fields)


class RowError(ValueError):
    """A row that contradicts itself.

    Attributes:
        index: Its place in the batch.
    """

    def __init__(self, index: int, what: str) -> None:
        super().__init__(what)
        self.index = index


class Vocabulary(dict[Identifier, int]):
    """Numbers of names, in the order they came; whole numbers are names too, blank ones are -1."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, name: Identifier) -> int:
        text = str(name)
        if not text.strip():
            code = -1
        elif text is not name and text in self:
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
    kinds: set[_Kind] = field(default_factory=set)
    count: int = 0

    def extend(self, rows: Sequence[ScoreRow], source: int, lines: Sequence[int]) -> set[str]:
        """Add a batch of rows.

        Args:
            rows: The rows.
            source: Number of the file they are from.
            lines: Their lines.

        Returns:
            The frameworks they name.

        Raises:
            RowError: At the first row that contradicts itself: an unknown status, a value outside
                [0, 1], a verdict without a value, a value without one, a verdict of one of our
                own scorers that its threshold denies, or an empty name.
        """
        kinds, number = _by_kind(rows)
        columns = {name: each[number] for name, each in self._of_kinds(kinds).items()}
        columns |= self._of_rows(rows)
        columns["source"] = np.full(len(rows), source, np.int64)
        columns["line"] = np.array(lines, np.int64)
        _check(rows, columns)
        for name in COLUMNS:
            self.columns[name].append(columns[name])
        self.kinds.update(kinds)
        self.count += len(rows)
        return {str(kind.framework) for kind in kinds}

    def _of_kinds(self, kinds: Sequence[_Kind]) -> Columns:
        return {
            "framework": self._coded("framework", [kind.framework for kind in kinds]),
            "system": self._coded("system", [kind.system for kind in kinds]),
            "metric": self._coded("metric", [kind.metric for kind in kinds]),
            "status": np.array([kind.code for kind in kinds], np.int64),
            "threshold": np.array([kind.threshold for kind in kinds], np.float64),
            "valued": np.array([kind.valued for kind in kinds], bool),
            "ours": np.array([bool(kind.scorer_version) for kind in kinds], bool),
        }

    def _of_rows(self, rows: Sequence[ScoreRow]) -> Columns:
        turns = [WHOLE_CASE if turn is None else turn for turn in _each("turn", rows)]
        return {
            "case": self._coded("case", _each("case_id", rows)),
            "epoch": np.array(_each("epoch", rows), np.int64),
            "turn": np.array(turns, np.int64),
            "value": np.array(_each("value", rows), np.float64),  # None becomes NaN
            "cost": np.array(_each("cost_usd", rows), np.float64),
        }

    def _coded(self, name: str, found: Sequence[Identifier]) -> Ints:
        return np.fromiter(map(self.names[name].__getitem__, found), np.int64, len(found))

    def build(self) -> Table:
        """The rows in an order that their content alone decides."""
        columns: Columns = {
            name: np.concatenate([np.empty(0, _type(name)), *arrays])
            for name, arrays in self.columns.items()
        }
        for name in NAMED:
            columns[name] = _ranks(self.names[name].names)[columns[name]]
        order = _order(columns)
        fields: dict[str, Any] = {name: columns[name][order] for name in COLUMNS}
        for name in NAMED:
            fields[f"{name}_names"] = tuple(sorted(self.names[name].names))
        return Table(**fields, stamps=self._deciding_stamps())

    def _deciding_stamps(self) -> Stamps:
        """Stamps of the rows that have a value, or of all where none has."""
        found = defaultdict[tuple[str, str, str], dict[bool, set[Stamp]]](
            lambda: {True: set(), False: set()}
        )
        for kind in self.kinds:
            key = (str(kind.system), str(kind.framework), str(kind.metric))
            found[key][kind.valued].add(kind.stamp)
        return {key: frozenset(sides[True] or sides[False]) for key, sides in found.items()}


def _by_kind(rows: Sequence[ScoreRow]) -> tuple[list[_Kind], Ints]:
    """The kinds of some rows, and the number of each row's."""
    numbers = defaultdict[Any, int](count().__next__)
    number = np.fromiter(map(numbers.__getitem__, map(_KIND, rows)), np.int64, len(rows))
    return list(map(_Kind._make, numbers)), number


def _each(attribute: str, rows: Sequence[ScoreRow]) -> list[Any]:
    return list(map(attrgetter(attribute), rows))


def _type(column: str) -> type[np.float64 | np.int64]:
    return np.float64 if column in _FLOATS else np.int64


def _ranks(names: Sequence[str]) -> Ints:
    ranks = np.empty(len(names), np.int64)
    ranks[np.argsort(np.array(names, dtype=object), kind="stable")] = np.arange(len(names))
    return ranks


def _order(columns: Columns) -> Ints:
    """The places of the rows when sorted by key and status; of those with the same, by value."""
    (keys,) = joint_codes([columns[name] for name in _SORTED_BY])
    order = np.argsort(keys, kind="stable")
    if (np.diff(keys[order]) == 0).any():
        order = np.lexsort((columns["value"], keys))
    return order


def _check(rows: Sequence[ScoreRow], columns: Columns) -> None:
    """Refuse the first row, of the first fault in this order, that contradicts itself."""
    status, value, threshold = columns["status"], columns["value"], columns["threshold"]
    valued = ~np.isnan(value)
    verdict = columns["valued"]
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
    _refuse(
        denied & columns["ours"] & valued & ~np.isnan(threshold),
        lambda i: (
            f"{rows[i].status} with value {rows[i].value:g} at threshold {rows[i].threshold:g}"
        ),
    )
    for name, attribute in _ATTRIBUTES.items():
        _refuse(columns[name] < 0, _is_empty(attribute))


def _is_empty(attribute: str) -> Callable[[int], str]:
    return lambda _: f"{attribute} is empty"


def _refuse(faulty: Mask, say: Callable[[int], str]) -> None:
    if np.count_nonzero(faulty):
        index = int(np.argmax(faulty))
        raise RowError(index, say(index))
