"""What the columns of a table are: fields of a sample, metrics, reasons, the rest.

One walk over the table, before the one that reads it: whether a column is a metric shows in its
cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from bridge.plugin.carry import KEY
from bridge_ragas import records
from bridge_ragas.results.table import Table
from bridge_ragas.rows import VERDICTS

BLANKS = frozenset({"", "nan", "NaN", "None", "null", "<NA>", "N/A", "NULL"})
"""How a cell without a value is written."""
LONG_JUDGE = ("judge", "judge_model", "evaluator_model", "model")


@dataclass(slots=True)
class _Seen:
    """The cells of a column so far."""

    filled: int = 0
    numbers: bool = True
    verdicts: bool = True


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table.

    Attributes:
        names: All of them, in order.
        fields: Column by field of a sample.
        metrics: Those that are metrics.
        reasons: Those with the reason of a metric.
        other: Those that are nothing of this.
        filled: How many cells of each hold something.
        rows: How many rows there are.
        long: Columns of a table with a row for each case and metric, as (metric, value).
        judge: The column that names the judge, in such a table.
    """

    names: tuple[str, ...]
    fields: dict[str, str]
    metrics: tuple[str, ...] = ()
    reasons: frozenset[str] = frozenset()
    other: tuple[str, ...] = ()
    filled: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    long: tuple[str, str] | None = None
    judge: str = ""


def read_columns(table: Table, wanted: frozenset[str]) -> Columns:
    """Walk over a table and tell its columns apart.

    Args:
        table: The table.
        wanted: Columns that are metrics; if empty, those that look like it.
    """
    seen: dict[str, _Seen] = {name: _Seen() for name in table.columns()}
    count = 0
    for _, row in table.rows():
        count += 1
        for name, cell in row.items():
            _see(seen.setdefault(name, _Seen()), cell, table.decimal)
    names = tuple(seen)
    fields = records.columns_of(list(names))
    filled = {name: each.filled for name, each in seen.items()}
    long = records.long_columns(names)
    if long is not None:
        judge = next((name for name in LONG_JUDGE if name in names), "")
        taken = {*fields.values(), *records.INDEX, records.ID, *long, judge, "reason"}
        other = tuple(name for name in names if name not in taken)
        return Columns(names, fields, (), frozenset(), other, filled, count, long, judge)
    taken = {*fields.values(), *records.INDEX, KEY, records.ID}
    rest = [name for name in names if name not in taken]
    metrics = tuple(name for name in rest if _is_metric(name, seen[name], wanted))
    reasons = frozenset(f"{name}_reason" for name in metrics) & frozenset(rest)
    other = tuple(name for name in rest if name not in metrics and name not in reasons)
    return Columns(names, fields, metrics, reasons, other, filled, count)


def _see(seen: _Seen, cell: Any, decimal: str) -> None:
    if is_blank(cell):
        return
    seen.filled += 1
    seen.verdicts = seen.verdicts and isinstance(cell, str) and cell in VERDICTS
    seen.numbers = (
        seen.numbers and not isinstance(cell, bool) and isinstance(value_of(cell, decimal), float)
    )


def _is_metric(name: str, seen: _Seen, wanted: frozenset[str]) -> bool:
    if wanted:
        return name in wanted
    if not seen.filled or records.is_known(name):
        return records.is_known(name)
    return seen.verdicts or seen.numbers


def is_blank(cell: Any) -> bool:
    """Whether a cell has no value."""
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or (isinstance(cell, str) and cell.strip() in BLANKS)


def value_of(cell: Any, decimal: str = ".") -> Any:
    """The value of a metric: a number, ``None`` for a blank, or what else the cell holds."""
    if is_blank(cell):
        return None
    if isinstance(cell, bool | int | float):
        try:
            return float(cell)
        except OverflowError:
            return str(cell)
    try:
        text = cell.strip()
        if decimal != "." and "." not in text:
            text = text.replace(decimal, ".")
        return float(text)
    except (AttributeError, ValueError):
        return cell
