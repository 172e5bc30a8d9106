"""Score rows as numpy columns: no model object a row, whatever their number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bridge.model.score import STATUSES, RowKey
from bridge.scorers.evaluate import native_version

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

PASSED, FAILED, SCORED, ERROR, UNSUPPORTED, SKIPPED = range(len(STATUSES))
WHOLE_CASE = -1
"""The turn of a row about the whole case."""


class Stamp(NamedTuple):
    """What the values of a framework's metric depend on."""

    scorer: str
    scorer_version: str
    framework_version: str
    judge: str | None


Stamps = Mapping[tuple[str, str, str], frozenset[Stamp]]
"""The stamps of all rows by (system, framework, metric)."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as columns of length n, sorted by system, framework, metric, case, epoch, turn.

    The first four columns are numbers of names; names are sorted. ``turn`` is -1 for the whole
    case; ``value``, ``threshold`` and ``cost`` (US dollars of scoring) are NaN where there is
    none. ``source`` and ``line`` say where a row was read.
    """

    framework_names: tuple[str, ...]
    system_names: tuple[str, ...]
    case_names: tuple[str, ...]
    metric_names: tuple[str, ...]
    framework: Ints
    system: Ints
    case: Ints
    metric: Ints
    epoch: Ints
    turn: Ints
    status: Ints
    value: Floats
    threshold: Floats
    cost: Floats
    source: Ints
    line: Ints
    stamps: Stamps

    def __len__(self) -> int:
        return len(self.value)

    def cost_usd(self, frameworks: Iterable[str]) -> float:
        """What scoring cost in these frameworks, in US dollars."""
        rows = [self.of_framework(name) for name in frameworks]
        costs = self.cost[np.concatenate([np.empty(0, np.int64), *rows])]
        return math.fsum(costs[~np.isnan(costs)])

    def key(self, row: int) -> RowKey:
        """The key of a row."""
        turn = int(self.turn[row])
        return RowKey(
            self.framework_names[self.framework[row]],
            self.system_names[self.system[row]],
            self.case_names[self.case[row]],
            int(self.epoch[row]),
            None if turn == WHOLE_CASE else turn,
            self.metric_names[self.metric[row]],
        )

    def of_framework(self, name: str) -> Ints:
        """Numbers of the rows of a framework."""
        if name not in self.framework_names:
            return np.empty(0, np.int64)
        return np.flatnonzero(self.framework == self.framework_names.index(name))

    def of_system(self, name: str) -> Table:
        """The rows of one system alone, with the names that they use."""
        if self.system_names == (name,):
            return self
        rows = np.flatnonzero(self.system == self.system_names.index(name))
        columns: dict[str, Any] = {column: getattr(self, column)[rows] for column in COLUMNS}
        for column in NAMED:
            names = getattr(self, f"{column}_names")
            used, columns[column] = np.unique(columns[column], return_inverse=True)
            columns[f"{column}_names"] = tuple(names[code] for code in used)
        stamps = {key: stamps for key, stamps in self.stamps.items() if key[0] == name}
        return replace(self, stamps=stamps, **columns)

    def stamps_of(self, framework: str, metric: str) -> frozenset[Stamp]:
        """The stamps of a framework's metric, over all systems."""
        found: frozenset[Stamp] = frozenset()
        for system in self.system_names:
            found |= self.stamps.get((system, framework, metric), frozenset())
        return found

    def is_shared(self, framework: str, metric: str) -> bool:
        """Whether a metric is a shared check: its scorer carries a version that is ours alone."""
        own = native_version(framework, "")
        versions = [stamp.scorer_version for stamp in self.stamps_of(framework, metric)]
        return any(version and own not in version for version in versions)

    def same_as_before(self) -> Mask:
        """Which rows have the key of the row before them."""
        same = np.ones(max(0, len(self) - 1), dtype=bool)
        for column in (self.system, self.framework, self.metric, self.case, self.epoch, self.turn):
            same &= column[1:] == column[:-1]
        return np.concatenate(([False], same)) if len(self) else same


NAMED = ("framework", "system", "case", "metric")
NUMBERED = ("epoch", "turn", "status", "value", "threshold", "cost", "source", "line")
COLUMNS = (*NAMED, *NUMBERED)


def joint_codes(*sides: Sequence[Ints]) -> list[Ints]:
    """Rows of several sides as one number each: equal rows have equal numbers.

    Args:
        sides: The columns of each side, as many on every side; those of a side equally long.
    """
    lengths = np.cumsum([len(side[0]) for side in sides])
    packed = np.zeros(int(lengths[-1]), np.int64)
    for columns in zip(*sides, strict=True):
        column = np.concatenate(columns)
        column = column - column.min(initial=0)
        width = int(column.max(initial=0)) + 1
        if (int(packed.max(initial=0)) + 1) * width > np.iinfo(np.int64).max:
            packed = np.unique(packed, return_inverse=True)[1]
            column = np.unique(column, return_inverse=True)[1]
            width = int(column.max(initial=0)) + 1
        packed = packed * width + column
    return np.split(packed, lengths[:-1])
