"""Results as JSON rows, one a sample: what the formats of other harnesses have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.files.foreign.json_items import JsonItems, index_json, index_lines
from bridge.files.foreign.lenient import Lenient
from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.plugin.accounts.accounting import Claims, Tally
from bridge.plugin.accounts.itemised import account_items
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.results.imported import Scales, read_scales
from bridge.plugin.results.reading import Answer, Counts, Reading

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a row says.

    Attributes:
        key: ``system``, ``case_id`` and ``epoch``.
        values: Native value by metric; ``None`` where there is none.
        failure: Why it was not scored.
        case: Fields of the case beside its id.
        output: Fields of the output beside its key.
        again: Whether the case stood in the file before, with other metrics.
    """

    key: dict[str, Any]
    values: Mapping[str, Any]
    failure: str | None
    case: dict[str, Any]
    output: dict[str, Any]
    again: bool = False


class SampleRows:
    """A file of rows, open for one walk.

    Args:
        framework: Name of the framework in every row.
        document: The rows.
        claims: What becomes of their fields.
        scales: Declared scales of native values.
        parts: Reads a row; it is called in the order of the file.
    """

    def __init__(
        self,
        framework: str,
        document: JsonItems,
        claims: Claims,
        scales: Scales,
        parts: Callable[[Row], Parts],
    ) -> None:
        self.source = document.path
        self.framework = framework
        self._document = document
        self._claims = claims
        self._scales = scales
        self._parts = parts
        self._decoder: Lenient[Row] = Lenient(dict[str, Any])

    def answers(self) -> Iterator[Answer]:
        """Every row."""
        for number, item in enumerate(self._document.items(), 1):
            try:
                parts = self._parts(self._decoder.decode(item))
            except (ValueError, TypeError, AttributeError) as error:
                line = None if self._document.head else number
                what = f"row {number} cannot be read ({error})"
                where = self.source
                raise InputError(what, where=where, line=line, fix="mend the row") from None
            yield self._answer(parts, number)

    def _answer(self, parts: Parts, number: int) -> Answer:
        key = {"framework": self.framework, "framework_version": "", **parts.key}
        rows = [
            self._scales.row(value, {**key, "metric": name, "scorer": name})
            for name, value in parts.values.items()
        ]

        def content() -> tuple[Case, Output]:
            case = Case.model_validate({"id": key["case_id"], "expected": "", **parts.case})
            fields = {"system": key["system"], "case_id": case.id, "epoch": key["epoch"]}
            return case, Output.model_validate({**fields, **parts.output, "error": parts.failure})

        return Answer(
            key,
            rows if parts.failure is None else [],
            content,
            parts.failure,
            spent={**(parts.output.get("usage") or {}), **parts.output},
            place=f"row {number}",
            again=parts.again,
        )

    def metrics(self) -> list[str]:
        """None is named but in the rows."""
        return []

    def account(self, tally: Tally) -> None:
        """Count every leaf of the file."""
        account_items(tally, self._document, {(): self._claims}, Claims())

    def notes(self, counts: Counts) -> Iterator[str]:
        """Metrics that some rows lack, and what was mended."""
        yield from counts.gaps()
        yield from self._decoder.notes()


def sample_document(source: Path, fix: str) -> JsonItems:
    """Where the samples of a file lie: JSON Lines, or a list in a ``.json`` file.

    Args:
        source: The file.
        fix: What to do if it holds averages alone.

    Raises:
        InputError: If it does, or is damaged.
    """
    is_list = source.suffix == ".json"
    document = index_json(source, [()]) if is_list else index_lines(source)
    if is_list and () not in document.spans:
        raise InputError("averages alone, and no sample", where=source, fix=fix)
    return document


class SampleFormat:
    """A format of such files, which is only read.

    Args:
        info: What the format is.
        sure: How sure it is of a file, by the keys of its first object and the file's name.
        open_file: Opens a file.
    """

    def __init__(
        self,
        info: FormatInfo,
        sure: Callable[[bytes, Path], float],
        open_file: Callable[[Path, Scales], SampleRows],
    ) -> None:
        self.info = info
        self._sure = sure
        self._open = open_file

    def sniff(self, head: bytes, path: Path) -> float:
        """How well the keys of the first object fit."""
        return self._sure(head.removeprefix(b"\xef\xbb\xbf").lstrip(), path)

    def stream(self, source: Path, options: ReadOptions) -> Reading:
        """A walk over the scores of a file.

        Raises:
            InputError: If it is damaged, of another kind, or holds averages alone.
        """
        scales = read_scales(options)
        return Reading(lambda: self._open(source, scales))

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a file whole; raises as :meth:`stream`."""
        return self.stream(source, options).bundle()

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Refuse: it is the other harness that writes them."""
        del bundle, options
        what = f"{self.info.title} is only read"
        raise InputError(what, where=dest, fix="write another format")
