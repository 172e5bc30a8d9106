"""Dataset files being read, ours and anybody else's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bridge.files.foreign.cells import parse_object
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.plugin.accounts.accounting import NATIVE, Tally, untouched
from bridge.plugin.carry import KEY
from bridge.plugin.cases.columns import Ids
from bridge.plugin.cases.dataset import Collected, restored, validated
from bridge.plugin.cases.listed import ListCells
from bridge.plugin.cases.rows import (
    ASKS_NOTHING,
    COMMENT,
    OURS,
    TableRows,
    is_comment,
    own_parts,
    split,
)
from bridge.plugin.options import TableOptions
from bridge_inspect.dataset.rows import FIELDS, NAME, read_listed, read_record

FORMAT_NAME = "inspect_dataset"
OUTPUTS = "outputs"
"""Key of the recorded outputs: a dataset of Inspect's has one sample a case."""


def read_dataset(
    source: Path, how: TableOptions, *, metadata: Sequence[str] = ()
) -> tuple[Bundle, ConversionReport]:
    """Read a dataset file.

    Args:
        source: The file.
        how: Its columns, encoding and dialect, as far as they are known.
        metadata: Columns that are metadata.

    Raises:
        InputError: If it is damaged, or no row asks anything.
    """
    how.refuse_unknown(FIELDS)
    rows = TableRows(how.table(source), ListCells(how.separator))
    reading = RecordReading(source, rows, how.fields, metadata)
    cases = sum(reading.read(index) for index in range(len(rows.table.rows)))
    rows.refuse_if_nothing(source, cases, "Inspect dataset")
    tally = Tally()
    rows.count(tally)
    notes = [*rows.notes(), *reading.ids.notes(), *reading.collected.notes()]
    return reading.collected.bundle(), tally.report(source, FORMAT_NAME, notes)


class RecordReading:
    """Records of one file, put into what is collected.

    Attributes:
        ids: The ids of the records.
        collected: What was read.
    """

    def __init__(
        self, source: Path, rows: TableRows, fields: Mapping[str, str], listed: Sequence[str]
    ) -> None:
        self._source = source
        self._rows = rows
        self._fields = fields
        self._listed = listed
        self.ids = Ids("sample")
        self.collected = Collected(source, NAME)

    def read(self, index: int) -> bool:
        """Read one record; whether it is a case.

        Raises:
            InputError: If it is faulty.
        """
        table = self._rows.table
        row, line = table.rows[index], table.lines[index]
        if is_comment(row):
            self._rows.skip(COMMENT, index)
            return False
        values, rest = self._rows.of(index, FIELDS, self._fields)
        found = parse_object(values.get("metadata"))
        parts = own_parts(found)
        if parts is not None and found is not None:
            values["metadata"] = untouched(found, {KEY})
            self._rows.claim(OURS, index, self._rows.used["metadata"], KEY)
        case = read_record(values, rest)
        if case["input"] is None:
            self._rows.skip(ASKS_NOTHING, index)
            return False
        self._take_listed(case, row, index)
        given = values.get("id")
        case["id"] = given if parts is not None else self._id(given, case, index)
        made = validated(Case, case, self._source, line)
        if parts is None:
            self.collected.add(made, None, line)
        else:
            self._add_own(parts, made, line)
        return True

    def _take_listed(self, case: dict[str, Any], row: Mapping[str, Any], index: int) -> None:
        listed = read_listed(row, self._listed)
        if not listed:
            return
        case["metadata"] = {**case["metadata"], **listed}
        for name in listed:
            self._rows.claim(NATIVE, index, name)
        own = case.get("extras", {}).get(NAME, {})
        rest = untouched(own, listed)
        case["extras"] = {NAME: rest} if rest else {}

    def _id(self, given: Any, case: dict[str, Any], index: int) -> str:
        made = self.ids.of(given, index + 1)
        if given is not None and given != made and given != "":
            own = case.get("extras", {}).get(NAME, {})
            case["extras"] = {NAME: {**own, "id": given}}
        return made

    def _add_own(self, parts: Mapping[str, Any], case: Case, line: int) -> None:
        case, _ = self.collected.add_own(untouched(parts, {"output"}), case, None, line)
        try:
            outputs = [{**fields, "case_id": case.id} for fields in parts.get(OUTPUTS, ())]
        except TypeError:
            what = "what it carries of outputs is damaged"
            fix = "take the file as it was written"
            raise InputError(what, where=self._source, line=line, fix=fix) from None
        for fields in outputs:
            self.collected.add(case, validated(Output, fields, self._source, line), line)


def case_of_record(record: Mapping[str, Any]) -> Case:
    """The case of a record as anybody would read it, without what it carries."""
    values, rest = split(record, FIELDS)
    metadata = values.get("metadata")
    if metadata is not None and own_parts(metadata) is not None:
        values["metadata"] = untouched(metadata, {KEY})
    case = read_record(values, rest)
    return Case.model_validate({**case, "id": values["id"]})


def own_case(record: Mapping[str, Any]) -> Case:
    """The case of a record that we wrote, with what it carries.

    Raises:
        ValueError: If that is damaged.
    """
    parts = own_parts(record.get("metadata")) or {"case": {}}
    return restored(Case, parts["case"], case_of_record(record))
