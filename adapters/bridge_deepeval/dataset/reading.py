"""Goldens and test cases being read, ours and anybody else's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.files.foreign.cells import parse_cell, parse_object
from bridge.files.foreign.tables import read_table
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.plugin.accounts.accounting import Tally
from bridge.plugin.carry import KEY
from bridge.plugin.cases.columns import Ids
from bridge.plugin.cases.dataset import Collected, validated
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
from bridge_deepeval.dataset.fields import CONVERSATION, SEPARATOR, SINGLE
from bridge_deepeval.dataset.rows import read_single, read_turned
from bridge_deepeval.rows import NAME

FORMAT_NAME = "deepeval_dataset"
BESIDE = "beside"
"""Key of the file that holds the rows of the other kind: a dataset of DeepEval's holds one."""

Pair = tuple[Case, Output | None]


def read_dataset(source: Path, how: TableOptions) -> tuple[Bundle, ConversionReport]:
    """Read a file of goldens or test cases, and the one beside it that it names.

    Args:
        source: The file.
        how: Its columns, encoding and dialect, as far as they are known.

    Raises:
        InputError: If it is damaged, or no row asks anything.
    """
    how.refuse_unknown({*SINGLE, *CONVERSATION})
    tally, collected = Tally(), Collected(source, NAME)
    reading = RowReading(source, collected, how.fields)
    rows = reading.read(TableRows(how.table(source), ListCells(how.separator, SEPARATOR)))
    rows.count(tally)
    notes = rows.notes()
    if reading.beside:
        path = _beside(source, reading.beside)
        beside = TableRows(read_table(path), ListCells(how.separator, SEPARATOR))
        others = RowReading(path, collected, how.fields).read(beside)
        others.count(tally, at=path.name)
        notes += others.notes()
    notes += [*reading.ids.notes(), *collected.notes()]
    return collected.bundle(), tally.report(source, FORMAT_NAME, notes)


def _beside(source: Path, name: str) -> Path:
    path = source.parent / name
    try:
        lies_there = path.name == name and path.is_file() and not path.is_symlink()
    except OSError:  # no name that a file can have
        lies_there = False
    if not lies_there or path == source:
        what = f"its other half, {name[:80]!r}, does not lie beside it"
        raise InputError(what, where=source, fix="put it there")
    return path


class RowReading:
    """Rows of one file, put into what is collected.

    Attributes:
        ids: The ids of the rows.
        beside: The file with the other rows, if a row names one.
    """

    def __init__(self, source: Path, collected: Collected, fields: Mapping[str, str]) -> None:
        self._source = source
        self._collected = collected
        self._given = fields
        self.ids = Ids("golden")
        self.beside = ""

    def read(self, rows: TableRows) -> TableRows:
        """Read every row.

        Raises:
            InputError: At the first faulty one, or if none asks anything.
        """
        cases = 0
        for index, row in enumerate(rows.table.rows):
            if is_comment(row):
                rows.skip(COMMENT, index)
            else:
                cases += self._row(rows, index)
        rows.refuse_if_nothing(self._source, cases, "DeepEval dataset")
        return rows

    def _row(self, rows: TableRows, index: int) -> bool:
        line = rows.table.lines[index]
        turned = is_conversation(rows.table.rows[index])
        values, rest = rows.of(index, CONVERSATION if turned else SINGLE, self._given)
        metadata = parse_object(values.get("additional_metadata"))
        parts = own_parts(metadata)
        if parts is not None and metadata is not None:
            values["additional_metadata"] = {
                key: item for key, item in metadata.items() if key != KEY
            }
            rows.claim(OURS, index, rows.used["additional_metadata"], KEY)
        try:
            case, answer = read_turned(values, rest) if turned else read_single(values, rest)
        except ValueError as error:
            raise InputError(str(error), where=self._source, line=line, fix="mend it") from None
        if parts is None and not (case["turns"] if turned else case["input"] is not None):
            rows.skip(ASKS_NOTHING, index)
            return False
        case["input"] = "" if case["input"] is None else case["input"]
        name = values.get("name") if parts is not None else self._id(values, case, index)
        self._add(case | {"id": name}, answer, parts, line)
        return True

    def _id(self, values: Mapping[str, Any], case: dict[str, Any], index: int) -> str:
        """The id of somebody else's row; a name beside its id, or one changed, stays in extras."""
        given, name = values.get("id"), values.get("name")
        made = self.ids.of(name if given is None else given, index + 1)
        kept = {"name": name} if given is not None and name is not None else {}
        kept |= {"id": given} if given is not None and str(given) != made else {}
        if kept:
            own = case.get("extras", {}).get(NAME, {})
            case["extras"] = {NAME: {**own, **kept}}
        return made

    def _add(self, case: Any, answer: Any, parts: Mapping[str, Any] | None, line: int) -> None:
        made = validated(Case, case, self._source, line)
        output = None
        if answer is not None:
            output = validated(Output, answer | {"case_id": made.id}, self._source, line)
        if parts is None:
            self._collected.add(made, output, line)
            return
        self._collected.add_own(parts, made, output, line)
        self.beside = str(parts.get(BESIDE) or self.beside)


def is_conversation(row: Mapping[str, Any]) -> bool:
    """Whether a row is a conversational golden: it has turns, or a scenario and no input."""
    keys = {key.lower() for key in row if row[key] not in (None, "")}
    turns = next((row[key] for key in row if key.lower() in CONVERSATION["turns"]), None)
    if isinstance(parse_cell(turns), list) and turns:
        return True
    return "scenario" in keys and "input" not in keys


def pair_of_row(row: Mapping[str, Any]) -> Pair:
    """Case and output as anybody would read them of a row.

    Args:
        row: A row as it is written, without what it carries.
    """
    turned = is_conversation(row)
    values, rest = split(row, CONVERSATION if turned else SINGLE)
    case, answer = read_turned(values, rest) if turned else read_single(values, rest)
    made = Case.model_validate({**case, "id": values["name"], "input": case["input"] or ""})
    if answer is None:
        return made, None
    return made, Output.model_validate(answer | {"case_id": made.id})
