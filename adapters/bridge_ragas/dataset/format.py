"""RAGAS datasets and testsets (CSV, JSON Lines, JSON, Parquet) of every version as a format.

Read options: ``fields``, the column of a field where its name does not tell it (``{user_input:
frage}``); ``encoding``, ``delimiter`` and ``separator`` (of passages within a cell), where the file
does not tell them. Write options: ``script`` (true), whether a script that runs the dataset is
written beside it. RAGAS is not imported and nothing in a file is executed. Files with scores are
read by the format ``ragas``.
"""

from __future__ import annotations

from pathlib import Path

from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.plugin.carry import KEY
from bridge.plugin.cases.peek import first_keys
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.options import flag, refuse_others, table_options
from bridge_ragas.dataset.reading import FORMAT_NAME, MARK, read_dataset
from bridge_ragas.dataset.writing import write_dataset
from bridge_ragas.records import is_known
from bridge_ragas.rows import NAME

_OURS = f'{{"{KEY}": {{"{MARK}":'.encode()
_TESTSET = frozenset({"synthesizer_name", "evolution_type", "question_type", "episode_done"})
_OLD = ("question", "answer", "contexts", "ground_truth", "ground_truths", "ground_truth_context")


class RagasDatasetFormat:
    """A file of samples, single- or multi-turn, or of a testset."""

    info = FormatInfo(
        name=FORMAT_NAME,
        title="a RAGAS dataset",
        patterns=("ragas.jsonl", "*.ragas.jsonl", "*ragas*.jsonl"),
        reads=frozenset({"suite", "cases", "outputs"}),
        writes=frozenset({"suite", "cases", "outputs"}),
        framework=NAME,
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """By the columns of a sample or testset, and none of a metric."""
        if head.removeprefix(b"\xef\xbb\xbf").startswith(_OURS):
            return 0.99
        keys = set(first_keys(head, path))
        if KEY in keys or any(is_known(key) for key in keys):
            return 0.0
        if "user_input" in keys:
            return 0.85 if len(keys) > 1 else 0.3
        old = sum(name in keys for name in _OLD)
        if "question" not in keys or old < 2:
            return 0.0
        return 0.85 if keys & _TESTSET else 0.55 + 0.05 * old

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a dataset.

        Raises:
            InputError: If it is damaged, or no row asks anything.
        """
        return read_dataset(source, table_options(self.info, options.options))

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write a dataset, and a script that runs it.

        Raises:
            InputError: If there is no case.
        """
        refuse_others(self.info, options.options, {"script"})
        return write_dataset(bundle, dest, script=flag(options.options, "script", default=True))


DATASET = RagasDatasetFormat()
