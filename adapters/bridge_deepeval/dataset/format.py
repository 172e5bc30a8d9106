"""DeepEval datasets (goldens and test cases in JSON, JSON Lines or CSV) as a format.

Read options: ``fields``, the column of a field where its name does not tell it (``{input:
frage}``); ``encoding``, ``delimiter`` and ``separator`` (of passages within a cell), where the file
does not tell them. Write options: ``tests`` (true), whether a pytest file is written beside the
dataset. DeepEval is not imported and nothing in a file is executed.
"""

from __future__ import annotations

from pathlib import Path

from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.plugin.cases.columns import folded
from bridge.plugin.cases.peek import first_keys
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.options import flag, refuse_others, table_options
from bridge_deepeval.dataset.reading import FORMAT_NAME, read_dataset
from bridge_deepeval.dataset.writing import write_dataset
from bridge_deepeval.rows import NAME

_TELLING = {
    folded(name): weight
    for weight, names in (
        (0.5, ("actual_output", "expected_output", "retrieval_context", "expected_tools")),
        (0.5, ("tools_called", "scenario", "expected_outcome", "additional_metadata", "turns")),
        (0.2, ("input", "context", "source_file", "custom_column_key_values")),
    )
    for name in names
}
"""How telling a field of DeepEval's is."""
_OTHERS = frozenset(map(folded, ("metricsData", "testCases", "vars", "user_input", "messages")))
"""Fields of run files and of other tools' files."""


class DeepEvalDatasetFormat:
    """A file of goldens or test cases, single- or multi-turn."""

    info = FormatInfo(
        name=FORMAT_NAME,
        title="a DeepEval dataset",
        patterns=("goldens.json", "*.goldens.json", "*goldens*.json"),
        reads=frozenset({"suite", "cases", "outputs"}),
        writes=frozenset({"suite", "cases", "outputs"}),
        framework=NAME,
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """By the fields of the first row."""
        keys = {folded(key) for key in first_keys(head, path)}
        if keys & _OTHERS:
            return 0.0
        sure = sum(_TELLING.get(key, 0.0) for key in keys)
        return min(0.9, sure) if sure >= 0.5 else 0.0

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a dataset.

        Raises:
            InputError: If it is damaged, or no row asks anything.
        """
        return read_dataset(source, table_options(self.info, options.options))

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write a dataset, and a pytest file that runs it.

        Raises:
            InputError: If there is no case.
        """
        refuse_others(self.info, options.options, {"tests"})
        return write_dataset(bundle, dest, tests=flag(options.options, "tests", default=True))


DATASET = DeepEvalDatasetFormat()
