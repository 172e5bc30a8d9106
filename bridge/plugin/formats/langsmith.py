"""LangSmith datasets as they are exported: JSON Lines, JSON, CSV.

An example has ``inputs`` and ``outputs`` of any shape: their one value is the input and the
reference, else the value whose name tells, else the whole. All inputs are template values too. In
a CSV file they stand under ``inputs``/``outputs`` as JSON, or a column each (``input_question``,
``outputs.answer``). Read options: ``input`` and ``expected``, the keys to take.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.files.foreign.cells import is_blank, parse_cell
from bridge.files.foreign.tables import Row, Table, read_table
from bridge.files.shape import leading_keys
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import KEPT, NATIVE, Claim, Tally, count_leaves
from bridge.plugin.cases.columns import SYNONYMS, Ids, match_columns
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats.foreign import (
    asked,
    labels,
    made,
    messages,
    object_of,
)
from bridge.plugin.options import refuse_others, text

NAME = "langsmith"
_MARKS = frozenset({"inputs", "outputs"})
_PREFIX = re.compile(r"(inputs?|outputs?|reference_outputs?)[._/](.+)", re.DOTALL)
_SIDES = {"inputs": "inputs", "outputs": "outputs", "reference_outputs": "outputs"}
_ASKED = ("messages", *SYNONYMS["input"])
_ANSWER = ("messages", *SYNONYMS["expected"], *SYNONYMS["output"])


class LangSmithFormat:
    """Reads exported datasets."""

    info = FormatInfo(
        name=NAME,
        title="a LangSmith dataset",
        patterns=("*.langsmith.jsonl",),
        reads=frozenset({"cases"}),
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """By ``inputs`` and ``outputs``, or columns that begin so."""
        if path.suffix.lower() == ".csv":
            line = head.lstrip(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
            sides = {_side(name.strip(" \"'\r"))[0] for name in line.split(",")}
            return 0.7 if {"inputs", "outputs"} <= sides else 0.0
        if path.suffix.lower() not in (".json", ".jsonl"):
            return 0.0
        keys = set(leading_keys(head.lstrip(b"\xef\xbb\xbf[ \t\r\n")))
        if not keys >= _MARKS:
            return 0.0
        return 0.8 if keys & {"dataset_id", "created_at", "split", "source_run_id"} else 0.6

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a dataset.

        Raises:
            InputError: If it is damaged, or an example has no inputs.
        """
        refuse_others(self.info, options.options, ("input", "expected"))
        keys = {side: text(options.options, side) or "" for side in ("input", "expected")}
        return _Reading(source, read_table(source), keys).read()

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Refuse: LangSmith takes CSV and JSON Lines of any columns.

        Raises:
            InputError: Always.
        """
        del bundle, options
        raise InputError("LangSmith datasets are only read", where=dest, fix="upload a golden set")


LANGSMITH = LangSmithFormat()


def _side(column: str) -> tuple[str, str]:
    """Which side a column is of, and the key within it; "" where it is of none."""
    if column in _SIDES:
        return _SIDES[column], ""
    match = _PREFIX.fullmatch(column)
    return ("", "") if match is None else (f"{match[1].split('_')[-1].rstrip('s')}s", match[2])


@dataclass(slots=True)
class _Reading:
    source: Path
    table: Table
    keys: Mapping[str, str]
    ids: Ids = field(default_factory=lambda: Ids("example"))
    tally: Tally = field(default_factory=Tally)

    def read(self) -> tuple[Bundle, ConversionReport]:
        rows = enumerate(zip(self.table.rows, self.table.lines, strict=True), 1)
        cases = tuple(self._case(row, number, line) for number, (row, line) in rows)
        notes = [*self.table.notes, *self.ids.notes()]
        return Bundle(cases=cases), self.tally.report(self.source, NAME, notes)

    def _case(self, row: Row, number: int, line: int) -> Case:
        inputs, outputs, rest = self._sides(row, line)
        if not inputs:
            fix = "is it a LangSmith export? name its format with --from"
            raise InputError("an example without inputs", where=self.source, line=line, fix=fix)
        given = rest.pop("metadata", None)
        metadata = object_of(given)
        if metadata is None:
            raise InputError(
                "its metadata is no object", where=self.source, line=line, fix="mend it"
            )
        splits = metadata.pop("dataset_split", None)
        tags = [*labels(splits), *labels(rest.pop("split", None))]
        fields: dict[str, Any] = {
            "id": self.ids.of(rest.pop("id", None), number),
            "input": asked(_one(inputs, self.keys["input"], _ASKED)),
            "expected": _expected(_one(outputs, self.keys["expected"], _ANSWER)),
            "vars": inputs,
            "metadata": metadata,
            "tags": list(dict.fromkeys(tags)),
            "extras": {NAME: {"outputs": outputs, **rest}},
        }
        return made(Case, fields, self.source, line)

    def _sides(self, row: Row, line: int) -> tuple[Row, Row, Row]:
        """Inputs, outputs, and the rest of a row."""
        sides: dict[str, Row] = {"inputs": {}, "outputs": {}}
        rest: Row = {}
        for column, cell in row.items():
            side, key = _side(column)
            if not side:
                rest[column] = cell
                native = column in ("id", "metadata", "split")
                self._count(column, cell, NATIVE if native else KEPT)
                continue
            if key:
                sides[side][key] = parse_cell(cell) if self.table.text else cell
            else:
                sides[side] |= self._object(column, cell, line)
            self._count(column, cell, NATIVE)
        return sides["inputs"], sides["outputs"], rest

    def _object(self, column: str, cell: Any, line: int) -> Row:
        value = parse_cell(cell) if self.table.text else cell
        if isinstance(value, dict):
            return value
        if value is None or value == "":
            return {}
        if isinstance(value, str | int | float):
            return {column.rstrip("s"): value}
        raise InputError(f"{column} is no object", where=self.source, line=line, fix="mend it")

    def _count(self, column: str, value: Any, claim: Claim) -> None:
        self.tally.add(f"{self.table.at}[].{column}", claim, count_leaves(value))


def _one(values: Row, key: str, known: tuple[str, ...]) -> Any:
    """The value that counts among several: the one named, the only one, or that whose name tells.

    Raises:
        InputError: If the one named is not there.
    """
    if key:
        if values and key not in values:
            raise InputError(f"there is no {key!r}", fix=f"use one of {', '.join(values)}")
        return values.get(key)
    if len(values) == 1:
        return next(iter(values.values()))
    found = match_columns(values, {"it": known})
    return values[found["it"]] if found else values


def _expected(value: Any) -> Any:
    """A reference: the text of a chat's last message, else the value."""
    if is_blank(value) or value == {}:
        return ""
    one = messages([value]) if isinstance(value, dict) else messages(value)
    content = one[-1]["content"] if one else None
    if isinstance(content, str):
        return content
    return [value] if isinstance(value, list) else value
