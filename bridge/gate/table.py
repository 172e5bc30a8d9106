"""Score rows as numpy columns: no model object a row, whatever their number."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bridge.files.scores import ScoreRow
from bridge.model.score import STATUSES, RowKey

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
ERROR, SKIPPED, UNSUPPORTED = (STATUSES.index(s) for s in ("error", "skipped", "unsupported"))
PASSED, FAILED = (STATUSES.index(s) for s in ("passed", "failed"))
_STATUS_CODE: dict[str, int] = {status: index for index, status in enumerate(STATUSES)}
KEPT_REASONS = 2000
"""Most reasons of failed and broken rows kept in memory."""


class Stamp(NamedTuple):
    """What the values of a framework's metric depend on."""

    scorer: str
    scorer_version: str
    framework_version: str
    judge: str | None


class Vocabulary:
    """Names by number, in the order they came."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._codes: dict[str, int] = {}

    def code(self, name: str) -> int:
        """The number of a name, a new one if need be."""
        code = self._codes.get(name)
        if code is None:
            code = self._codes[name] = len(self.names)
            self.names.append(name)
        return code


@dataclass(slots=True)
class TableBuilder:
    """Collects rows into columns."""

    frameworks: Vocabulary = field(default_factory=Vocabulary)
    systems: Vocabulary = field(default_factory=Vocabulary)
    cases: Vocabulary = field(default_factory=Vocabulary)
    metrics: Vocabulary = field(default_factory=Vocabulary)
    columns: list[array[Any]] = field(
        default_factory=lambda: [array("q") for _ in range(7)] + [array("d") for _ in range(2)]
    )
    stamps: dict[tuple[str, str], set[Stamp]] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    cost_usd: float = 0.0

    def add(self, row: ScoreRow) -> None:
        """Add one row.

        Raises:
            ValueError: If the row contradicts itself: an unknown status, a value outside
                [0, 1], a verdict without a value or a value without one.
        """
        status = _STATUS_CODE.get(row.status)
        if status is None:
            raise ValueError(f"unknown status {row.status!r} (one of {', '.join(STATUSES)})")
        value = _checked_value(row, status)
        fields = (
            self.frameworks.code(row.framework),
            self.systems.code(row.system),
            self.cases.code(row.case_id),
            self.metrics.code(row.metric),
            row.epoch,
            -1 if row.turn is None else row.turn,
            status,
            value,
            np.nan if row.threshold is None else row.threshold,
        )
        for column, item in zip(self.columns, fields, strict=True):
            column.append(item)
        self._note(row, status)

    def _note(self, row: ScoreRow, status: int) -> None:
        stamp = Stamp(row.scorer, row.scorer_version, row.framework_version, row.judge)
        self.stamps.setdefault((row.framework, row.metric), set()).add(stamp)
        self.cost_usd += row.cost_usd or 0.0
        if status in (FAILED, ERROR) and len(self.reasons) < KEPT_REASONS:
            self.reasons[len(self.columns[0]) - 1] = row.error or row.reason

    def build(self) -> Table:
        """The rows in an order that depends on their keys alone."""
        integers = [_array(column, np.int64) for column in self.columns[:7]]
        value, threshold = (_array(column, np.float64) for column in self.columns[7:])
        vocabularies = (self.frameworks, self.systems, self.cases, self.metrics)
        framework, system, case, metric = (
            _ranks(vocabulary.names)[codes]
            for vocabulary, codes in zip(vocabularies, integers[:4], strict=True)
        )
        epoch, turn, status = integers[4:]
        order = np.lexsort((turn, epoch, case, metric, framework, system))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return Table(
            framework_names=tuple(sorted(self.frameworks.names)),
            system_names=tuple(sorted(self.systems.names)),
            case_names=tuple(sorted(self.cases.names)),
            metric_names=tuple(sorted(self.metrics.names)),
            framework=framework[order],
            system=system[order],
            case=case[order],
            metric=metric[order],
            epoch=epoch[order],
            turn=turn[order],
            status=status[order],
            value=value[order],
            threshold=threshold[order],
            stamps=self.stamps,
            reasons={int(place[row]): reason for row, reason in self.reasons.items()},
            cost_usd=self.cost_usd,
        )


def _array(column: array[Any], kind: Any) -> Any:
    return np.frombuffer(column, dtype=kind) if column else np.empty(0, kind)


def _ranks(names: list[str]) -> Ints:
    ranks = np.empty(len(names), np.int64)
    ranks[np.argsort(np.array(names, dtype=object), kind="stable")] = np.arange(len(names))
    return ranks


def _checked_value(row: ScoreRow, status: int) -> float:
    unscored = status in (ERROR, SKIPPED, UNSUPPORTED)
    if row.value is None:
        if not unscored:
            raise ValueError(f"status {row.status} without a value")
        return float("nan")
    if unscored:
        raise ValueError(f"status {row.status} with a value")
    if not 0.0 <= row.value <= 1.0:
        raise ValueError(f"value {row.value:g} is outside [0, 1]; declare the metric's scale")
    return row.value


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as columns of length n, sorted by system, framework, metric, case, epoch, turn.

    ``turn`` is -1 for the whole case; ``value`` and ``threshold`` are NaN where there is none.
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
    stamps: dict[tuple[str, str], set[Stamp]]
    reasons: dict[int, str]
    cost_usd: float

    def __len__(self) -> int:
        return len(self.value)

    def key(self, row: int) -> RowKey:
        """The key of a row."""
        turn = int(self.turn[row])
        return RowKey(
            self.framework_names[self.framework[row]],
            self.system_names[self.system[row]],
            self.case_names[self.case[row]],
            int(self.epoch[row]),
            None if turn < 0 else turn,
            self.metric_names[self.metric[row]],
        )

    def same_as_before(self) -> NDArray[np.bool_]:
        """Which rows have the key of the row before them."""
        same = np.ones(max(0, len(self) - 1), dtype=bool)
        for column in (self.system, self.framework, self.metric, self.case, self.epoch, self.turn):
            same &= column[1:] == column[:-1]
        return np.concatenate(([False], same)) if len(self) else same
