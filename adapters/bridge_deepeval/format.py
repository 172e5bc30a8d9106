"""DeepEval run files as cases, outputs and scores.

Options: ``scale``, the native scale of scores that are not in [0, 1] (``[0, 10]``, or
``{metric: [0, 10]}``). Nothing of DeepEval is imported and nothing in a file is executed.
"""

from __future__ import annotations

import re
from pathlib import Path

from bridge.files.jsonl import read_whole
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.imported import read_scales
from bridge_deepeval import records
from bridge_deepeval.reading import RunReading
from bridge_deepeval.rows import NAME

MAX_BYTES = 2 * 1024**3
"""Largest run file read, in bytes."""

_HEAD = re.compile(
    rb'^\s*\{\s*("testRunData"\s*:\s*\{\s*)?"(testFile|testCases|conversationalTestCases)"\s*:'
)
_LINK = re.compile(rb'^\s*\{\s*"testRunLink"\s*:')


class DeepEvalFormat:
    """Reads what DeepEval leaves; writing run files is left to the framework's own run."""

    info = FormatInfo(
        name=NAME,
        title="DeepEval run",
        patterns=("test_run_*.json", ".latest_run_full.json", "*.json"),
        reads=frozenset({"cases", "outputs", "scores"}),
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """High for DeepEval's keys in DeepEval's order, higher with its metric data."""
        del path
        head = head.removeprefix(b"\xef\xbb\xbf")
        if _LINK.match(head):
            return 0.9
        if not _HEAD.match(head):
            return 0.0
        return 0.95 if b'"metricsData"' in head or b'"metricsScores"' in head else 0.5

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a run file.

        Raises:
            InputError: If it is damaged, no run file, or larger than can be read safely.
        """
        scales = read_scales(options)
        run = _decode(source)
        reading = RunReading(source, run, scales)
        for test_case in run.test_cases or ():
            reading.add(test_case)
        for conversation in run.conversational_test_cases or ():
            reading.add(conversation)
        return reading.finish()

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Refuse: a run file is what a run leaves."""
        del bundle, options
        raise InputError(
            "a DeepEval run cannot be written yet", where=dest, fix="run the suite in deepeval"
        )


FORMAT = DeepEvalFormat()


def _decode(source: Path) -> records.Run:
    content = read_whole(source, MAX_BYTES, "split the run")
    try:
        return records.decode(content)
    except RecursionError:
        what = "nested too deeply"
    except ValueError as error:
        what = f"no DeepEval run ({error})"
    raise InputError(what, where=source, fix="get a complete copy of the file")
