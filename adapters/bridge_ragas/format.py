"""RAGAS results and datasets (CSV, JSON Lines, JSON) as cases, outputs and scores.

Options: ``scale``, the native scale of scores that are not in [0, 1] (``[0, 10]``, or
``{metric: [0, 10]}``); ``metrics``, the columns that are metrics, where their looks mislead.
Nothing of RAGAS is imported and nothing in a file is executed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.plugin.carry import KEY
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.imported import read_scales
from bridge_ragas import records
from bridge_ragas.reading import TableReading
from bridge_ragas.rows import NAME
from bridge_ragas.table import header, read_table

_KEYS = re.compile(r'"((?:[^"\\]|\\.){1,80})"\s*:')


class RagasFormat:
    """Reads what RAGAS leaves; writing results is left to the framework's own run."""

    info = FormatInfo(
        name=NAME,
        title="RAGAS result",
        patterns=("*.csv", "*.jsonl", "*.json"),
        reads=frozenset({"cases", "outputs", "scores"}),
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """High for RAGAS's columns with what we add, lower for its columns alone."""
        text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace").lstrip()
        if path.suffix == ".csv":
            names = set(header(text))
        elif path.suffix in (".json", ".jsonl") and text[:1] in "[{":
            names = _first_keys(text)
        else:
            return 0.0
        return _likeness(names)

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a result or a dataset.

        Raises:
            InputError: If it is damaged, none of RAGAS's, or larger than can be read safely.
        """
        scales = read_scales(options)
        table = read_table(source)
        if not table.rows or not _likeness(set(table.columns)):
            what = "no rows" if table.columns else "empty"
            what = f"columns {', '.join(table.columns[:8])}" if table.rows else what
            raise InputError(f"no RAGAS table ({what})", where=source, fix="name another file")
        reading = TableReading(source, table, scales, _metrics(options))
        for row, line in zip(table.rows, table.lines, strict=True):
            reading.add(row, line)
        return reading.finish()

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Refuse: a result is what a run leaves."""
        del bundle, options
        raise InputError(
            "a RAGAS result cannot be written yet", where=dest, fix="run the suite in ragas"
        )


FORMAT = RagasFormat()


def _metrics(options: ReadOptions) -> frozenset[str]:
    given = options.options.get("metrics", [])
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise InputError(f"metrics is {given!r}", fix="write [name, name]")
    return frozenset(given)


def _likeness(names: set[str]) -> float:
    """How much column names look like RAGAS's."""
    fields = records.columns_of(list(names))
    if "user_input" not in fields:
        return 0.0
    scored = any(records.is_known(name) for name in names)
    if fields["user_input"] == "user_input":
        alone = len(fields) == 1 and not scored
        return 0.97 if KEY in names else 0.3 if alone else 0.8
    old = {"response", "retrieved_contexts"} & set(fields)  # question, and answer or contexts
    return 0.6 if len(old) == 2 or (old and scored) else 0.0


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
