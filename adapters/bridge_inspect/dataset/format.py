"""Inspect datasets (JSON, JSON Lines, CSV) as a format.

Read options: ``fields``, the column of a field where its name does not tell it (``{input: question,
target: label}``), with ``metadata: [columns]`` as in a ``FieldSpec``; ``encoding``, ``delimiter``
and ``separator`` (of passages within a cell), where the file does not tell them. Write options:
``task`` (true), whether a task file is written beside the dataset. Inspect is not imported and
nothing in a file is executed; files that a sample names are not opened.
"""

from __future__ import annotations

from pathlib import Path

from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.plugin.cases.peek import first_keys
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.options import flag, refuse_others, table_options
from bridge_inspect.dataset.reading import FORMAT_NAME, read_dataset
from bridge_inspect.dataset.writing import write_dataset
from bridge_inspect.rows import NAME

_OF_SAMPLES = frozenset({"input", "target", "choices", "id", "metadata", "files", "setup"})


class InspectDatasetFormat:
    """A file of samples."""

    info = FormatInfo(
        name=FORMAT_NAME,
        title="an Inspect dataset",
        patterns=("samples.jsonl", "*.samples.jsonl", "*samples*.jsonl", "*samples*.json"),
        reads=frozenset({"suite", "cases", "outputs"}),
        writes=frozenset({"suite", "cases", "outputs"}),
        framework=NAME,
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """By the fields of the first sample: ``input`` with ``target``, and few others."""
        keys = set(first_keys(head, path))
        if not {"input", "target"} <= keys or keys & {"vars", "expected", "eval", "plan"}:
            return 0.0
        return 0.7 + 0.2 * len(keys & _OF_SAMPLES) / len(keys)

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a dataset.

        Raises:
            InputError: If it is damaged, or no row asks anything.
        """
        given = options.options
        fields = given.get("fields", {})
        listed = fields.get("metadata") if isinstance(fields, dict) else None
        columns = listed if isinstance(listed, list) else []
        if not all(isinstance(each, str) for each in columns):
            raise InputError(f"metadata is {columns!r}", fix="write [column, column]")
        if columns:
            given = {**given, "fields": {k: v for k, v in fields.items() if k != "metadata"}}
        return read_dataset(source, table_options(self.info, given), metadata=columns)

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write a dataset, and a task that runs it.

        Raises:
            InputError: If there is no case.
        """
        refuse_others(self.info, options.options, {"task"})
        return write_dataset(bundle, dest, task=flag(options.options, "task", default=True))


DATASET = InspectDatasetFormat()
