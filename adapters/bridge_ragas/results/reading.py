"""A table being read: rows into answers with their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from pydantic import ValidationError

from bridge.files.scores import ScoreRow
from bridge.model.case import Case
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.accounts.accounting import NATIVE, Claim, Tally, carried, count_leaves, dropped
from bridge.plugin.carry import KEY
from bridge.plugin.cases.listed import PASSAGES, ListCells
from bridge.plugin.numbering import Numbered
from bridge.plugin.results.counterparts import StandIns
from bridge.plugin.results.imported import Scales
from bridge.plugin.results.reading import Answer, Counts
from bridge_ragas import records
from bridge_ragas.cases import digest_of, from_sample
from bridge_ragas.results.columns import is_blank, read_columns, value_of
from bridge_ragas.results.counterparts import find_check
from bridge_ragas.results.table import Row, open_table
from bridge_ragas.rows import NAME, read_score

TOTALS = frozenset({"total", "totals", "average", "avg", "mean", "sum", "overall", "summary"})
"""What the first cell of a row says that is about all others."""
BLANK = dropped("an empty cell")
TOTAL = dropped("a row about all others")
NUMBERING = dropped("it numbers the rows")
ASKED = ("user_input", "reference")
"""The fields that an id is made of, where there is none."""


class TableReading:
    """One table.

    Args:
        source: The file.
        scales: Declared scales of native values.
        metrics: Columns that are metrics; if empty, those that look like it.
        encoding: Encoding of a CSV file.
        separator: What separates passages within a cell, where something does.

    Raises:
        InputError: If it is damaged, or no table of RAGAS's.
    """

    framework = NAME

    def __init__(
        self,
        source: Path,
        scales: Scales,
        metrics: frozenset[str] = frozenset(),
        encoding: str = "",
        separator: str = "",
    ) -> None:
        self.source = source
        self._table = open_table(source, encoding)
        self._columns = read_columns(self._table, metrics)
        self._scales = scales
        self._stand_ins = StandIns(find_check)
        self._version = ""
        self._names = Numbered()
        self._told: Counter[int] = Counter()
        self._blank: Counter[str] = Counter()
        self._own: set[str] = set()
        self._left_out: list[int] = []
        self._lists = ListCells(separator)
        if not self._columns.rows or not records.likeness(set(self._columns.names)):
            shown = ", ".join(self._columns.names[:8])
            what = "no rows" if shown and not self._columns.rows else "empty"
            what = f"columns {shown}" if self._columns.rows else what
            raise InputError(f"no RAGAS table ({what})", where=source, fix="name another file")

    def answers(self) -> Iterator[Answer]:
        """Every row; in a table with a row a metric, every case with its first."""
        for line, row in self._table.rows():
            if self._is_total(row):
                self._left_out.append(line)
                continue
            try:
                yield self._answer(row, line)
            except (ValueError, KeyError, TypeError, AttributeError) as error:  # carried by anybody
                why = explain(error) if isinstance(error, ValidationError) else str(error)
                what = f"the row cannot be read ({why})"
                fix = "mend the row"
                raise InputError(what, where=self.source, line=line, fix=fix) from None

    def _is_total(self, row: Row) -> bool:
        """Whether a row is about all others: it asks nothing and says so."""
        fields = self._columns.fields.values()
        first = next((str(cell).strip().lower() for cell in row.values() if not is_blank(cell)), "")
        if first.rstrip(":") not in TOTALS:
            return False
        blank = [name for name in fields if is_blank(row.get(name))]
        return len(blank) >= len(self._columns.fields) - 1

    def _answer(self, row: Row, line: int) -> Answer:
        carried = _carried(row.get(KEY))
        if carried is not None:
            return self._carrying(row, carried)
        name, again, twin = self._name(row)
        key = {
            "framework": NAME,
            "framework_version": self._version,
            "system": "default",
            "case_id": name,
            "epoch": 1,
        }
        rows = list(self._rows(key, row, {}))
        return Answer(
            key,
            rows,
            lambda: self._content(row, name, rows),
            place="the row",
            line=line,
            again=again,
            twin=twin,
        )

    def _carrying(self, row: Row, carried: Mapping[str, Any]) -> Answer:
        """A row of ours, whose case and output say what it is called."""
        sample = self._sample(row, single="sent" not in carried)
        _add_carried(sample, carried)
        case, output = from_sample(sample)
        self._version = carried.get("ragas", "")
        key = {
            "framework": NAME,
            "framework_version": self._version,
            "system": output.system,
            "case_id": output.case_id,
            "epoch": output.epoch,
        }
        rows = list(self._rows(key, row, carried))
        return Answer(key, rows, lambda: (case, output), place=f"case {case.id!r}")

    def _sample(
        self, row: Row, fields: Iterable[str] = (), *, single: bool = False
    ) -> records.Sample:
        columns = self._columns.fields
        if fields:
            columns = {name: columns[name] for name in fields if name in columns}
        return records.to_sample(row, columns, text=self._table.text, single=single)

    def _name(self, row: Row) -> tuple[str, bool, bool]:
        """The id of a row's case, whether it stood there before, and whether another has it."""
        given = row.get(records.ID)
        name = (
            digest_of(self._sample(row, ASKED))
            if given is None or is_blank(given) or isinstance(given, list | dict)
            else str(given)
        )
        again = name in self._names
        if again and self._columns.long is not None:
            return name, True, False
        return self._names.of(name), False, again

    def _content(
        self, row: Row, name: str, rows: Sequence[Score | ScoreRow]
    ) -> tuple[Case, Output]:
        """A row's case and output, with the columns that have no place in the model."""
        case, output = from_sample(self._sample(self._with_lists(row)))
        kept = {
            name: cell
            for name in self._columns.other
            if name and not is_blank(cell := row.get(name))
        }
        extras = {**case.extras, NAME: {**case.extras.get(NAME, {}), **kept}}
        fields = case.model_dump(mode="json", exclude_defaults=True)
        fields |= {"id": name, "extras": extras if kept else case.extras}
        case = self._stand_ins.put(Case.model_validate(fields), rows)
        return case, output.model_copy(update={"case_id": name})

    def _with_lists(self, row: Row) -> Row:
        """A row of somebody else's, its cells of passages as lists."""
        columns = [self._columns.fields[name] for name in PASSAGES & self._columns.fields.keys()]
        return row | {name: self._lists.of(name, row[name]) for name in columns if name in row}

    def _rows(
        self, key: dict[str, Any], row: Row, carried: Mapping[str, Any]
    ) -> Iterator[Score | ScoreRow]:
        if self._columns.long is not None:
            yield from self._long_row(key, row)
            return
        found = carried.get("found", {})
        for metric, left in found.items():
            value = value_of(row.get(records.column_of(metric)))
            yield from read_score(metric, value, {KEY: {"output": left}}, key, self._scales)
        own = {records.column_of(metric) for metric in found}
        self._own |= own
        for metric in self._columns.metrics:
            if metric in own:
                continue
            value = value_of(row.get(metric), self._table.decimal)
            self._blank[metric] += value is None
            reason = row.get(f"{metric}_reason")
            said = "" if is_blank(reason) else str(reason)
            yield from read_score(metric, value, None, key, self._scales, said)

    def _long_row(self, key: dict[str, Any], row: Row) -> Iterator[Score | ScoreRow]:
        """The one score of a row; the same metric again, by another judge say, gets a number."""
        assert self._columns.long is not None
        named, scored = self._columns.long
        metric = "metric" if is_blank(row.get(named)) else str(row[named]).strip()
        self._told[hash((key["case_id"], metric))] += 1
        count = self._told[hash((key["case_id"], metric))]
        value = value_of(row.get(scored), self._table.decimal)
        self._blank[metric] += value is None
        reason, judge = row.get("reason"), row.get(self._columns.judge)
        said = "" if is_blank(reason) else str(reason)
        fields = key if is_blank(judge) else {**key, "judge": str(judge)}
        for each in read_score(metric, value, None, fields, self._scales, said):
            assert isinstance(each, ScoreRow)
            again = f"{metric} ({count})"
            yield each if count == 1 else msgspec.structs.replace(each, metric=again)

    def metrics(self) -> Iterable[str]:
        """The columns that are metrics."""
        return self._columns.metrics

    def account(self, tally: Tally) -> None:
        """Count every leaf of every cell; a blank one too, which stands for a score or nothing."""
        claims = {name: self._claim(name) for name in self._columns.names}
        for _, row in self._table.rows():
            total = self._is_total(row)
            for name, cell in row.items():
                blank = is_blank(cell) and name not in self._columns.metrics
                claim = TOTAL if total else BLANK if blank else claims[name]
                tally.add(f"[].{name}", claim, count_leaves(cell))

    def _claim(self, name: str) -> Claim:
        """What becomes of a column."""
        if name in self._columns.other and name not in self._own:
            return carried("kept as the case's extras")
        return NUMBERING if name in records.INDEX else NATIVE

    def notes(self, counts: Counts) -> Iterator[str]:
        """What is blank, and what is no metric."""
        columns = self._columns
        yield from self._table.notes
        yield from self._lists.notes()
        if not counts.carried:
            yield "the table has no metric: cases and outputs only"
        if self._left_out:
            yield f"line {self._left_out[0]} is about all rows and was left out"
        again = sum(count > 1 for count in self._told.values())
        if again:
            yield f"{again} values are of a case and metric that have one already: numbered"
        if columns.long is not None:
            yield from counts.gaps()
        for metric, count in self._blank.items():
            if count:
                whole = counts.carried[metric] if columns.long else columns.rows
                yield f"{count} of {whole} values of {metric} are blank: errors"
        for name in columns.other:
            if name not in self._own and not columns.filled[name]:
                yield f"column {name} is blank: if it is a metric, name it by the option metrics"


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
