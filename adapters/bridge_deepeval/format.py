"""DeepEval run files as cases, outputs and scores.

Options: ``scale``, the native scale of scores that are not in [0, 1] (``[0, 10]``, or
``{metric: [0, 10]}``). Nothing of DeepEval is imported and nothing in a file is executed.
"""

from __future__ import annotations

import re
from pathlib import Path

from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats.account import require_results
from bridge.plugin.options import refuse_others
from bridge.plugin.results.imported import read_scales
from bridge.plugin.results.reading import Reading
from bridge_deepeval.results.reading import RunReading
from bridge_deepeval.results.writing import write_run
from bridge_deepeval.rows import NAME

_HEAD = re.compile(
    rb'^\s*\{\s*("testRunData"\s*:\s*\{\s*)?"(testFile|testCases|conversationalTestCases)"\s*:'
)
_LINK = re.compile(rb'^\s*\{\s*"testRunLink"\s*:')
_RESULTS = (b'"metricsData"', b'"metricsScores"', b'"metricsMetadata"')
_CACHE = re.compile(rb'^\s*\{\s*"test_cases_lookup_map"\s*:')


class DeepEvalFormat:
    """Reads run files and the cache, and writes run files, without DeepEval."""

    info = FormatInfo(
        name=NAME,
        title="DeepEval run",
        patterns=("test_run_*.json", ".latest_run_full.json"),
        reads=frozenset({"cases", "outputs", "scores"}),
        writes=frozenset({"cases", "outputs", "scores"}),
        framework=NAME,
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """High for DeepEval's keys in DeepEval's order, higher with its metric data."""
        del path
        head = head.removeprefix(b"\xef\xbb\xbf")
        if _LINK.match(head) or _CACHE.match(head):
            return 0.9
        if not _HEAD.match(head):
            return 0.0
        return 0.95 if any(mark in head for mark in _RESULTS) else 0.5

    def stream(self, source: Path, options: ReadOptions) -> Reading:
        """A walk over the scores of a run file or a cache.

        Raises:
            InputError: If it is damaged, no run file, or larger than can be read safely.
        """
        scales = read_scales(options)
        return Reading(lambda: RunReading(source, scales))

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a run file whole; raises as :meth:`stream`."""
        return self.stream(source, options).bundle()

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write outputs and scores as a run file that DeepEval loads.

        Raises:
            InputError: If there is no output and no score, or an option is given.
        """
        refuse_others(self.info, options.options, ())
        require_results(bundle, dest)
        return write_run(bundle, dest)


FORMAT = DeepEvalFormat()
