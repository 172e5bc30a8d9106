"""A native result file being read: what all result formats have in common.

A format opens a file as a :class:`ResultFile`, which yields one :class:`Answer` after another and
holds none of them. :class:`Reading` walks over it, for the gate, which wants the rows alone, and
for a conversion, which also wants cases and outputs.

Rows decide. A case that failed, or on which nothing was scored, gets an error row for every metric
of the file, so that it cannot leave the denominator unseen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from bridge.files.scores import ScoreRow, as_row, as_score
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.plugin.accounts.accounting import Tally
from bridge.plugin.results.imported import error_row

T = TypeVar("T")


def _no_content() -> tuple[Case, Output]:
    raise ValueError("the file does not hold it")


@dataclass(slots=True)
class Answer:
    """One answered case of a result file.

    Attributes:
        key: What its rows have in common: ``framework``, ``framework_version``, ``system``,
            ``case_id`` and ``epoch``.
        rows: Its rows, those of foreign metrics without a model object each.
        content: Reads case and output, when they are wanted.
        failure: Why it was not scored at all.
        gap: Why each metric that other answers have and this one lacks is an error; ``None``
            where it may lack some.
        spent: ``latency_s``, ``cost_usd``, ``input_tokens`` and ``output_tokens`` of the answer,
            those that the file has.
        place: What the file calls it, for errors.
        line: The 1-based line it stands on, where the file has lines.
        again: Whether it was given before, with other rows.
        absent: Whether the file only speaks of it, and holds neither case nor output.
        twin: Whether another before it has its name, so that a number was added.
    """

    key: dict[str, Any]
    rows: Sequence[Score | ScoreRow] = ()
    content: Callable[[], tuple[Case, Output]] = _no_content
    failure: str | None = None
    gap: str | None = None
    spent: dict[str, Any] = field(default_factory=dict)
    place: str = ""
    line: int | None = None
    again: bool = False
    absent: bool = False
    twin: bool = False


class ResultFile(Protocol):
    """One result file, open for one walk."""

    @property
    def source(self) -> Path:
        """The file."""
        ...

    @property
    def framework(self) -> str:
        """Name of the framework in every row."""
        ...

    def answers(self) -> Iterator[Answer]:
        """Every answer; raises :class:`bridge.InputError` where the file is faulty."""
        ...

    def metrics(self) -> Iterable[str]:
        """Metrics that the head of the file names, for a file without any row."""
        ...

    def account(self, tally: Tally) -> None:
        """Count every leaf of the file, on a walk of its own."""
        ...

    def notes(self, counts: Counts) -> Iterable[str]:
        """What a reader should know of this file, after the last answer."""
        ...


@dataclass(slots=True)
class Counts:
    """What was seen of a file so far.

    Attributes:
        walked: Answers taken.
        answers: Answered cases, epochs counted.
        failed: Those that failed.
        silent: Those without any score.
        absent: Those that the file only speaks of, counted nowhere else.
        gapped: Those with a ``gap``.
        twins: Those with the name of another before them.
        first_twin: What the first of them is called, with its number.
        carried: Answers with a row, by metric, in the order the metrics were seen.
        sums: Number and sum of the values of the whole case, by metric.
    """

    walked: int = 0
    answers: int = 0
    failed: int = 0
    silent: int = 0
    gapped: int = 0
    absent: int = 0
    twins: int = 0
    first_twin: str = ""
    carried: Counter[str] = field(default_factory=Counter)
    sums: dict[str, tuple[int, float]] = field(default_factory=dict)

    def take(self, answer: Answer) -> None:
        """Count an answer."""
        self.walked += 1
        if answer.absent:
            self.absent += 1
            return
        self.answers += not answer.again
        self.failed += answer.failure is not None
        self.silent += answer.failure is None and not answer.rows
        self.gapped += answer.gap is not None
        if answer.twin:
            self.twins += 1
            self.first_twin = self.first_twin or answer.key["case_id"]
        self.carried.update(_metrics(answer).keys())
        for row in answer.rows:
            if row.value is not None and row.turn is None:
                count, total = self.sums.get(str(row.metric), (0, 0.0))
                self.sums[str(row.metric)] = (count + 1, total + row.value)

    def gaps(self) -> Iterator[str]:
        """Notes on metrics that some cases have no row of, for files where all cases should."""
        whole = self.answers - self.failed - self.silent
        for metric, count in self.carried.items():
            if count < whole:
                yield f"{metric}: {whole - count} of {whole} cases carry no such score"

    def notes(self) -> Iterator[str]:
        """What a reader should know of failed and silent cases."""
        if self.failed:
            yield f"{self.failed} cases failed: every other metric of theirs is an error"
        if self.silent and self.carried:
            yield f"{self.silent} cases carry no score: every metric of theirs is an error"


class Reading:
    """A walk over a result file.

    Args:
        open_file: Opens the file; called again where something of it is needed a second time, so
            that nothing has to be kept.
    """

    def __init__(self, open_file: Callable[[], ResultFile]) -> None:
        self._open = open_file
        self._file = open_file()
        self.counts = Counts()

    def __iter__(self) -> Iterator[Answer]:
        """Every answer; then once more those that lack rows, with an error in place of each.

        Raises:
            InputError: If the file is faulty or has no row.
        """
        counts = self.counts
        for answer in self._file.answers():
            _refuse_nameless(answer, self._file.source)
            counts.take(answer)
            yield answer
        if not counts.answers:
            fix = "nothing was measured there"
            raise InputError("holds no row", where=self._file.source, fix=fix)
        if any((counts.failed, counts.silent, counts.gapped, counts.absent)):
            yield from self._owed()

    def _owed(self) -> Iterator[Answer]:
        wanted = self.counts.carried or dict.fromkeys(self._file.metrics())
        for answer in self._open().answers():
            why = answer.failure or answer.gap
            if why is None and not answer.rows:
                why = f"{self._file.framework} recorded no score"
            if why is None:
                continue
            found = _metrics(answer)
            rows = [error_row(name, why, answer.key) for name in wanted if name not in found]
            if rows:
                yield replace(answer, rows=rows, spent={})

    def rows(self) -> Iterator[ScoreRow]:
        """Every row, as the gate takes it."""
        for answer in self:
            for row in answer.rows:
                yield as_row(row)

    def notes(self) -> list[str]:
        """What a reader should know, after the walk."""
        return [*self.counts.notes(), *self._file.notes(self.counts)]

    def faults(self) -> list[str]:
        """Why the rows cannot be joined with others by name, after the walk."""
        if not self.counts.twins:
            return []
        such = f"{self.counts.twins}, such as {self.counts.first_twin!r}"
        return [f"cases with the name of another: {such}; give each a name of its own"]

    def bundle(self) -> tuple[Bundle, ConversionReport]:
        """Everything in the file.

        Raises:
            InputError: If it is faulty, or an answer stands twice.
        """
        cases: dict[str, Case] = {}
        outputs: dict[tuple[str, str, int], Output] = {}
        scores: list[Score] = []
        for number, answer in enumerate(self, 1):
            where = self._file.source
            read = partial(_as_scores, answer.rows)
            scores.extend(_read(read, where, answer.place, answer.line))
            if number > self.counts.walked or answer.again or answer.absent:
                continue  # it is there already
            case, output = read_content(answer.content, where, answer.place, answer.line)
            if output.key in outputs:
                what = f"case {case.id!r} stands twice in epoch {output.epoch}"
                raise InputError(what, where=self._file.source, fix="keep one of them")
            cases.setdefault(case.id, case)
            outputs[output.key] = output
        bundle = Bundle(
            cases=tuple(cases.values()), outputs=tuple(outputs.values()), scores=tuple(scores)
        )
        tally = Tally()
        source, name = self._file.source, self._file.framework
        try:
            self._file.account(tally)
        except (ValueError, RecursionError) as error:  # in what was skipped so far
            fix = "get a complete copy of the file"
            raise InputError(f"no JSON ({error})", where=source, fix=fix) from None
        return bundle, tally.report(source, name, [*self.notes(), *self.faults()])


def read_content(
    read: Callable[[], tuple[Case, Output]], source: Path, place: str, line: int | None = None
) -> tuple[Case, Output]:
    """Case and output of an answer.

    Args:
        read: Reads them.
        source: The file.
        place: What the file calls the answer.
        line: The line it stands on, where the file has lines.

    Raises:
        InputError: If they cannot be read.
    """
    return _read(read, source, place, line)


def _read(read: Callable[[], T], source: Path, place: str, line: int | None) -> T:
    try:
        return read()
    except ValidationError as error:
        what = explain(error)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = str(error) or type(error).__name__
    what = f"{place} cannot be read ({what})"
    raise InputError(what, where=source, line=line, fix="mend the file")


def _refuse_nameless(answer: Answer, source: Path) -> None:
    for name in ("case_id", "system"):
        if not str(answer.key[name]).strip():
            what = f"{answer.place or 'a row'} has an empty {name}"
            raise InputError(what, where=source, line=answer.line, fix="give it a name")


def _as_scores(rows: Iterable[Score | ScoreRow]) -> list[Score]:
    return [as_score(row) for row in rows]


def _metrics(answer: Answer) -> dict[str, None]:
    return dict.fromkeys(str(row.metric) for row in answer.rows)
