"""RAGAS results and datasets (CSV, JSON Lines, JSON) as cases, outputs and scores.

Options: ``scale``, the native scale of scores that are not in [0, 1] (``[0, 10]``, or
``{metric: [0, 10]}``); ``metrics``, the columns that are metrics, where their looks mislead;
``encoding`` of a CSV file that is not UTF-8; ``separator`` of passages within a cell.
Nothing of RAGAS is imported and nothing in a file is executed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from bridge.files.foreign.csv_rows import header_of, separator_of
from bridge.files.foreign.encodings import decoded_head
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats.account import require_results
from bridge.plugin.options import refuse_others, text
from bridge.plugin.results.imported import read_encoding, read_scales
from bridge.plugin.results.reading import Reading
from bridge_ragas import records
from bridge_ragas.results.reading import TableReading
from bridge_ragas.results.writing import write_result
from bridge_ragas.rows import NAME

_KEYS = re.compile(r'"((?:[^"\\]|\\.){1,80})"\s*:')


class RagasFormat:
    """Reads RAGAS's results of every version, and writes them as CSV, without RAGAS."""

    info = FormatInfo(
        name=NAME,
        title="RAGAS result",
        patterns=("*.ragas.csv",),
        reads=frozenset({"cases", "outputs", "scores"}),
        writes=frozenset({"cases", "outputs", "scores"}),
        framework=NAME,
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """High for RAGAS's columns with what we add, lower for its columns alone."""
        begin = decoded_head(head).lstrip()
        if path.suffix.lower() in (".csv", ".tsv"):
            names = set(header_of(begin, separator_of(begin)))
        elif path.suffix.lower() in (".json", ".jsonl") and begin[:1] in "[{":
            names = _first_keys(begin)
        else:
            return 0.0
        return records.likeness(names)

    def stream(self, source: Path, options: ReadOptions) -> Reading:
        """A walk over the scores of a result.

        Raises:
            InputError: If it is damaged, none of RAGAS's, or larger than can be read safely.
        """
        scales, encoding = read_scales(options), read_encoding(options)
        metrics, separator = _metrics(options), text(options.options, "separator") or ""
        return Reading(lambda: TableReading(source, scales, metrics, encoding, separator))

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a result or a dataset whole; raises as :meth:`stream`."""
        return self.stream(source, options).bundle()

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write outputs and scores as a result as CSV.

        Raises:
            InputError: If there is no output and no score, or an option is given.
        """
        refuse_others(self.info, options.options, ())
        require_results(bundle, dest)
        return write_result(bundle, dest)


FORMAT = RagasFormat()


def _metrics(options: ReadOptions) -> frozenset[str]:
    given = options.options.get("metrics", [])
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise InputError(f"metrics is {given!r}", fix="write [name, name]")
    return frozenset(given)


def _first_keys(text: str) -> set[str]:
    """The keys of the first object of a JSON or JSONL file, of which only the head may be there.

    Of an object that is cut off they count only if it begins with a field of RAGAS's.
    """
    start = text.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(text, max(start, 0))
    except (ValueError, RecursionError):
        names = [match.group(1) for match in _KEYS.finditer(text)]
        return set(names) if records.columns_of(names[:1]) else set()
    return set(value) if isinstance(value, dict) else set()
