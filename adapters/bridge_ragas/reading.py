"""A table being read: rows into cases, outputs and score rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from pydantic import ValidationError

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionLine, ConversionReport, Fate
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.carry import KEY
from bridge.plugin.imported import Scales
from bridge.plugin.reading import Reading
from bridge_ragas import records
from bridge_ragas.cases import from_sample
from bridge_ragas.rows import NAME, VERDICTS, read_score
from bridge_ragas.table import Row, Table

BLANKS = frozenset({"", "nan", "NaN", "None", "null", "<NA>"})
"""How a cell without a value is written."""


class TableReading:
    """One table.

    Args:
        source: The file.
        table: Its content.
        scales: Declared scales of native values.
        metrics: Columns that are metrics; if empty, those that look like it.
    """

    def __init__(
        self, source: Path, table: Table, scales: Scales, metrics: frozenset[str] = frozenset()
    ) -> None:
        self._source = source
        self._table = table
        self._scales = scales
        self._columns = records.columns_of(table.columns)
        taken = {*self._columns.values(), *records.INDEX, KEY, records.ID}
        self._rest = [name for name in table.columns if name not in taken]
        self._metrics = [name for name in self._rest if _is_metric(name, table, metrics)]
        reasons = {f"{name}_reason" for name in self._metrics} & set(self._rest)
        self._other = [n for n in self._rest if n not in self._metrics and n not in reasons]
        self._reasons = reasons
        self._reading = Reading(source, NAME)
        self._blank: Counter[str] = Counter()
        self._own: set[str] = set()

    def add(self, row: Row, line: int) -> None:
        """Read one row.

        Raises:
            InputError: If it cannot be read.
        """
        carried = _carried(row.get(KEY))
        try:
            single = carried is not None and "sent" not in carried
            sample = records.to_sample(row, self._columns, text=self._table.text, single=single)
            if carried is not None:
                _add_carried(sample, carried)
            case, output = from_sample(sample)
        except (ValidationError, ValueError) as error:
            why = explain(error) if isinstance(error, ValidationError) else str(error)
            what = f"the row cannot be read ({why})"
            raise InputError(what, where=self._source, line=line, fix="mend the row") from None
        if carried is None:
            case, output = self._identified(case, output, row)
        else:
            self._reading.version = carried.get("ragas", "")
        self._reading.add(case, output, self._rows(output, row, carried or {}))

    def _identified(self, case: Case, output: Output, row: Row) -> tuple[Case, Output]:
        """A case under its own id, with the columns that have no place in the model."""
        given = row.get(records.ID)
        name = case.id if given is None or str(given) in BLANKS else str(given)
        unique, number = name, 1
        while (output.system, unique, output.epoch) in self._reading.outputs:
            number += 1
            unique = f"{name} ({number})"
        kept = {name: row[name] for name in self._other if not _is_blank(row.get(name))}
        extras = {**case.extras, NAME: {**case.extras.get(NAME, {}), **kept}}
        fields = case.model_dump(mode="json", exclude_defaults=True)
        return (
            Case.model_validate(
                {**fields, "id": unique, "extras": extras if kept else case.extras}
            ),
            output.model_copy(update={"case_id": unique}),
        )

    def _rows(self, output: Output, row: Row, carried: Mapping[str, Any]) -> Iterator[Score]:
        found = carried.get("found", {})
        key = self._reading.key(output)
        for metric, left in found.items():
            value = _value(row.get(records.column_of(metric)))
            yield from read_score(metric, value, {KEY: {"output": left}}, key, self._scales)
        own = {records.column_of(metric) for metric in found}
        self._own |= own
        for metric in self._metrics:
            if metric in own:
                continue
            value = _value(row.get(metric))
            self._blank[metric] += value is None
            reason = row.get(f"{metric}_reason") or ""
            yield from read_score(metric, value, None, key, self._scales, str(reason))

    def finish(self) -> tuple[Bundle, ConversionReport]:
        """Bundle and report of everything read."""
        bundle = self._reading.bundle(self._metrics)
        report = ConversionReport(
            source=str(self._source),
            format=NAME,
            lines=tuple(line for line in self._lines() if line.count),
            notes=tuple(self._notes()),
        )
        return bundle, report

    def _lines(self) -> Iterator[ConversionLine]:
        for name in self._table.columns:
            fate: Fate = "native"
            count = sum(not _is_blank(row.get(name)) for row in self._table.rows)
            reason = ""
            if name in self._metrics:
                count = len(self._table.rows)
            elif name in self._other and name not in self._own:
                fate, reason = "carried", "kept as the case's extras"
            elif name in records.INDEX:
                fate, reason = "dropped", "it numbers the rows"
            yield ConversionLine(field=f"[].{name}", fate=fate, count=count, reason=reason)

    def _notes(self) -> Iterator[str]:
        if not self._reading.metrics:
            yield "the table has no metric: cases and outputs only"
        else:
            yield from self._reading.notes()
        for metric, count in self._blank.items():
            if count:
                yield f"{count} of {len(self._table.rows)} values of {metric} are blank: errors"
        for name in self._other:
            if name not in self._own and all(_is_blank(row.get(name)) for row in self._table.rows):
                yield f"column {name} is blank: if it is a metric, name it by the option metrics"


def _is_metric(name: str, table: Table, named: frozenset[str]) -> bool:
    if named:
        return name in named
    cells = [cell for row in table.rows if not _is_blank(cell := row.get(name))]
    if not cells or records.is_known(name):
        return records.is_known(name)
    if all(isinstance(cell, str) and cell in VERDICTS for cell in cells):
        return True
    return all(isinstance(_value(cell), float) and not isinstance(cell, bool) for cell in cells)


def _is_blank(cell: Any) -> bool:
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or (isinstance(cell, str) and cell in BLANKS)


def _value(cell: Any) -> Any:
    """The value of a metric: a number, ``None`` for a blank, or what else the cell holds."""
    if _is_blank(cell):
        return None
    if isinstance(cell, bool | int | float):
        return float(cell)
    try:
        return float(cell)
    except (TypeError, ValueError):
        return cell


def _carried(cell: Any) -> Mapping[str, Any] | None:
    """What a row of ours carries; ``None`` in anyone else's."""
    try:
        value = msgspec.json.decode(cell) if isinstance(cell, str) else cell
    except (msgspec.DecodeError, RecursionError):
        return None
    parts = ("case", "output", "found")
    if not isinstance(value, Mapping) or not all(
        isinstance(value.get(part), Mapping) for part in parts
    ):
        return None
    return value


def _add_carried(sample: records.Sample, carried: Mapping[str, Any]) -> None:
    """Let a sample carry what its row carries, and undo what a CSV file cannot tell apart."""
    single = "sent" not in carried
    if single and sample.response is None:
        sample.response = ""
    if not single and sample.user_input is None:
        sample.user_input = []
    vars(sample)[KEY] = carried
