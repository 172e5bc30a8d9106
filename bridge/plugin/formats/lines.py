"""Golden sets, outputs and scores: JSON Lines, one value a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.files.golden import read_golden_set, write_cases
from bridge.files.outputs import read_outputs, write_outputs
from bridge.files.scores import read_scores, write_scores
from bridge.files.shape import line_shape
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats.account import account_read, account_written
from bridge.plugin.options import refuse_others


@dataclass(frozen=True, slots=True)
class LinesFormat:
    """A file with one part of a bundle.

    Attributes:
        info: What the format is; it reads and writes one part.
        kind: The kind of line.
        reader: Reads the values and what a reader should know.
        writer: Writes the values.
    """

    info: FormatInfo
    kind: str
    reader: Callable[[Path], tuple[Sequence[Any], Iterable[str]]]
    writer: Callable[[Sequence[Any], Path], None]

    def sniff(self, head: bytes, path: Path) -> float:
        """How well the keys of the first line fit."""
        del path
        shape = line_shape(head)
        return shape.certainty if shape is not None and shape.kind == self.kind else 0.0

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a file.

        Raises:
            InputError: At the first faulty line.
        """
        refuse_others(self.info, options.options, ())
        values, notes = self.reader(source)
        (part,) = self.info.reads
        bundle = Bundle.model_validate({part: tuple(values)})
        return bundle, account_read(self.info, source, bundle, notes)

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write the part of a bundle that this format holds."""
        refuse_others(self.info, options.options, ())
        (part,) = self.info.writes
        self.writer(getattr(bundle, part), dest)
        return account_written(self.info, dest, bundle, self.info.writes)


def _read_cases(path: Path) -> tuple[Sequence[Case], Iterable[str]]:
    golden = read_golden_set(path)
    return golden.cases, golden.notes()


def _info(name: str, title: str, part: str, *patterns: str) -> FormatInfo:
    held = frozenset({part})
    return FormatInfo(name=name, title=title, patterns=patterns, reads=held, writes=held)


GOLDEN_SET = LinesFormat(
    _info("golden_set", "a golden set", "cases", "cases.jsonl", "*.jsonl"),
    "case",
    _read_cases,
    write_cases,
)
OUTPUTS = LinesFormat(
    _info("outputs", "an outputs file", "outputs", "*.outputs.jsonl", "outputs.jsonl"),
    "output",
    lambda path: (read_outputs(path), ()),
    write_outputs,
)
SCORES = LinesFormat(
    _info("scores", "a scores file", "scores", "scores/*.jsonl", "*.scores.jsonl"),
    "score",
    lambda path: (read_scores(path), ()),
    write_scores,
)
