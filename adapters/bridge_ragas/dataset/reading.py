"""Datasets and testsets being read, ours and anybody else's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.files.foreign.cells import parse_object
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.plugin.accounts.accounting import Tally
from bridge.plugin.carry import KEY
from bridge.plugin.cases.columns import Ids
from bridge.plugin.cases.dataset import Answered, Collected, validated
from bridge.plugin.cases.listed import ListCells
from bridge.plugin.cases.rows import ASKS_NOTHING, COMMENT, OURS, TableRows, is_comment, split
from bridge.plugin.options import TableOptions
from bridge_ragas.dataset.fields import FIELDS, fields_of
from bridge_ragas.dataset.rows import id_of, read_row
from bridge_ragas.rows import NAME

FORMAT_NAME = "ragas_dataset"
MARK = "dataset"
"""Key that tells what our datasets carry from what our results do."""
TURNED = "turned"
"""Key that tells the conversation of a case with turns."""


def read_dataset(source: Path, how: TableOptions) -> tuple[Bundle, ConversionReport]:
    """Read a dataset or testset of any version.

    Args:
        source: The file.
        how: Its columns, encoding and dialect, as far as they are known.

    Raises:
        InputError: If it is damaged, or no row asks anything.
    """
    how.refuse_unknown(FIELDS)
    rows = TableRows(how.table(source), ListCells(how.separator))
    reading = SampleReading(source, rows, how.fields)
    cases = sum(reading.read(index) for index in range(len(rows.table.rows)))
    rows.refuse_if_nothing(source, cases, "RAGAS dataset")
    tally = Tally()
    rows.count(tally)
    notes = [*rows.notes(), *reading.notes(), *reading.collected.notes()]
    return reading.collected.bundle(), tally.report(source, FORMAT_NAME, notes)


class SampleReading:
    """Rows of one file, put into what is collected.

    Attributes:
        collected: What was read.
    """

    def __init__(self, source: Path, rows: TableRows, fields: Mapping[str, str]) -> None:
        self._source = source
        self._rows = rows
        self._given = fields
        self._fields = fields_of(rows.table.columns)
        self._ids = Ids("sample")
        self.collected = Collected(source, NAME)

    def read(self, index: int) -> bool:
        """Read one row; whether it is a case.

        Raises:
            InputError: If it is faulty.
        """
        table = self._rows.table
        row, line = table.rows[index], table.lines[index]
        if is_comment(row):
            self._rows.skip(COMMENT, index)
            return False
        parts = own_parts(row)
        fields = self._fields if parts is None else FIELDS
        values, rest = self._rows.of(index, fields, self._given)
        if parts is not None:
            rest = {name: value for name, value in rest.items() if name != KEY}
            self._rows.claim(OURS, index, KEY)
        try:
            case, answer = read_row(values, rest, turned=parts is not None and TURNED in parts)
        except ValueError as error:
            raise InputError(str(error), where=self._source, line=line, fix="mend it") from None
        if parts is None and case["input"] is None:
            self._rows.skip(ASKS_NOTHING, index)
            return False
        case["input"] = "" if case["input"] is None else case["input"]
        self._name(case, values, parts, index)
        self._add(case, answer, parts, line)
        return True

    def _name(
        self,
        case: dict[str, Any],
        values: Mapping[str, Any],
        parts: Mapping[str, Any] | None,
        index: int,
    ) -> None:
        given = values.get("id")
        if parts is not None:
            case["id"] = id_of(values) if given is None else given
            return
        case["id"] = self._ids.of(id_of(values) if given in (None, "") else given, index + 1)
        if given is not None and given != case["id"]:
            own = case.get("extras", {}).get(NAME, {})
            case["extras"] = {NAME: {**own, "id": given}}

    def _add(self, case: Any, answer: Any, parts: Mapping[str, Any] | None, line: int) -> None:
        made = validated(Case, case, self._source, line)
        output = None
        if answer is not None:
            output = validated(Output, answer | {"case_id": made.id}, self._source, line)
        if parts is None:
            self.collected.add(made, output, line)
        else:
            self.collected.add_own(parts, made, output, line)

    def notes(self) -> list[str]:
        """What a reader should know."""
        older = "reference_contexts from 'contexts': a testset before RAGAS 0.2"
        is_older = self._rows.used.get("reference_contexts") == "contexts"
        return [*self._ids.notes(), *([older] if is_older else [])]


def own_parts(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a row of ours carries; ``None`` in anybody else's."""
    parts = parse_object(row.get(KEY))
    return parts if parts is not None and MARK in parts and "case" in parts else None


def pair_of_row(row: Mapping[str, Any], *, turned: bool) -> Answered:
    """Case and output as anybody would read them of a row, without what it carries."""
    values, rest = split(row, FIELDS)
    case, answer = read_row(values, rest, turned=turned)
    asked = "" if case["input"] is None else case["input"]
    named = values.get("id", id_of(values))
    made = Case.model_validate({**case, "id": named, "input": asked})
    if answer is None:
        return made, None
    return made, Output.model_validate(answer | {"case_id": made.id})
