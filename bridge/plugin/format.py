"""The format protocol: a kind of file that is read and written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from bridge.files.scores import ScoreRow
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.score import Score
from bridge.model.values import EMPTY, JsonObject, Model


@dataclass(frozen=True, slots=True)
class FormatInfo:
    """What a format is.

    Attributes:
        name: Name on the command line.
        title: Name for people.
        patterns: File name patterns, the usual one first.
        reads: What ``read`` can yield: of ``suite``, ``cases``, ``outputs``, ``scores``.
        writes: What ``write`` can hold; empty where the format is only read.
        framework: The framework whose files these are; "" for ours and for those of none.
    """

    name: str
    title: str
    patterns: tuple[str, ...]
    reads: frozenset[str]
    writes: frozenset[str] = frozenset()
    framework: str = ""


class ReadOptions(Model):
    """How to read.

    Attributes:
        options: By name; each format documents its own.
        parts: The parts of a bundle that are wanted; a reader may leave out the others.
    """

    options: JsonObject = EMPTY
    parts: frozenset[str] = frozenset({"suite", "cases", "outputs", "scores"})


class WriteOptions(Model):
    """How to write: options by name, each format documents its own."""

    options: JsonObject = EMPTY


class ScoreStream(Protocol):
    """A walk over the scores of one file, which holds none of them."""

    def __iter__(self) -> Iterator[Answered]:
        """Every answer with its rows, then the errors in place of rows that some lack.

        Raises:
            InputError: If the file is faulty or has no row.
        """
        ...

    def notes(self) -> list[str]:
        """What a reader should know, after the walk."""
        ...

    def faults(self) -> list[str]:
        """Why the rows cannot be trusted, after the walk."""
        ...


class Answered(Protocol):
    """One answer in a :class:`ScoreStream`.

    Attributes:
        key: ``system``, ``case_id``, ``epoch`` and what else its rows have in common.
        rows: Its rows.
        spent: ``latency_s``, ``cost_usd``, ``input_tokens`` and ``output_tokens`` of the answer,
            those that the file has.
    """

    key: dict[str, Any]
    rows: Sequence[Score | ScoreRow]
    spent: dict[str, Any]


@runtime_checkable
class Streaming(Protocol):
    """A format whose scores can be taken one by one, so that a gate holds no file whole."""

    def stream(self, source: Path, options: ReadOptions) -> ScoreStream:
        """A walk over a file, which begins when it is asked for the first answer."""
        ...


@runtime_checkable
class Format(Protocol):
    """A kind of file. Never imports its framework and never executes what it reads."""

    @property
    def info(self) -> FormatInfo:
        """What the format is."""
        ...

    def sniff(self, head: bytes, path: Path) -> float:
        """How sure, in [0, 1], that a file with these first bytes is of this format."""
        ...

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a file; raises :class:`bridge.InputError` where it is faulty."""
        ...

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write a file that the format's own tools read."""
        ...
