"""promptfoo results as cases, outputs and scores; a provider with its prompt is a system.

Read are JSON of versions 1 to 3, what ``promptfoo share`` sends, JSON Lines and CSV exports.
Options: ``scale``, the native scale of scores that are not in [0, 1] (``[0, 10]``, or
``{metric: [0, 10]}``); ``encoding`` of a CSV export that is not UTF-8; ``judge``, where no grader
is named that can be one. promptfoo is not started and nothing in a file is executed.
"""

from __future__ import annotations

import re
from pathlib import Path

from bridge.files.foreign.encodings import decoded_head
from bridge.files.shape import leading_keys
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats.account import require_results
from bridge.plugin.options import refuse_others
from bridge.plugin.results.imported import read_encoding, read_scales
from bridge.plugin.results.reading import Reading
from bridge_promptfoo.config.graders import Graders, fallback_of
from bridge_promptfoo.results.graded import judges_of
from bridge_promptfoo.results.reading import ResultsReading
from bridge_promptfoo.results.table import looks_like_export
from bridge_promptfoo.results.writing import write_results
from bridge_promptfoo.rows import NAME

_HEAD = re.compile(
    rb'\{\s*("(evalId|id|shareableUrl)"\s*:\s*(null|"[^"]*")\s*,\s*)*("data"\s*:\s*\{[^{\[]*)?'
    rb'("version"\s*:\s*\d+\s*,\s*)?("createdAt"\s*:\s*"[^"]*"\s*,\s*)?'
    rb'"results"\s*:\s*(\{\s*"(version|timestamp|prompts|results|stats)"\s*:|\[\s*\{\s*"(prompt|provider|vars|success)")'
)
_ROW_KEYS = frozenset(
    {"gradingResult", "promptIdx", "testIdx", "testCase", "providerResponse", "namedScores"}
)


class PromptfooFormat:
    """What promptfoo leaves."""

    info = FormatInfo(
        name=NAME,
        title="promptfoo results",
        patterns=("*.promptfoo.json",),
        reads=frozenset({"suite", "cases", "outputs", "scores"}),
        writes=frozenset({"cases", "outputs", "scores"}),
        framework=NAME,
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """High for promptfoo's keys, and for what it marks the cells of a CSV export with."""
        if path.suffix.lower() == ".csv":
            return looks_like_export(decoded_head(head))
        head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if match := _HEAD.match(head):
            return 0.95 if b'"version"' in match[0] or b'"evalId"' in match[0] else 0.7
        first = head.removeprefix(b"[").lstrip()
        found = _ROW_KEYS.intersection(leading_keys(first))
        return 0.9 if len(found) > 1 else 0.0

    def stream(self, source: Path, options: ReadOptions) -> Reading:
        """A walk over the scores of a results file.

        Raises:
            InputError: If it is damaged, no results file, or larger than can be read safely.
        """
        return self._reading(source, options, None)

    def _reading(self, source: Path, options: ReadOptions, graders: Graders | None) -> Reading:
        scales, encoding = read_scales(options), read_encoding(options)
        return Reading(lambda: ResultsReading(source, scales, encoding, graders))

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a results file whole, with the judges of its graders; raises as :meth:`stream`."""
        graders = Graders(fallback_of(options.options.get("judge")), {})
        bundle, report = self._reading(source, options, graders).bundle()
        whole, told = judges_of(bundle, graders, source)
        return whole, report.model_copy(update={"notes": (*report.notes, *told)})

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write outputs and scores as a results file that ``promptfoo import`` takes.

        Raises:
            InputError: If there is no output and no score, or an option is given.
        """
        refuse_others(self.info, options.options, ())
        require_results(bundle, dest)
        return write_results(bundle, dest)


FORMAT = PromptfooFormat()
