"""promptfoo results (JSON) as cases, outputs and scores; a provider with its prompt is a system.

Options: ``scale``, the native scale of scores that are not in [0, 1] (``[0, 10]``, or
``{metric: [0, 10]}``). promptfoo is not started and nothing in a file is executed.
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
from bridge_promptfoo import records
from bridge_promptfoo.reading import ResultsReading
from bridge_promptfoo.rows import NAME

MAX_BYTES = 2 * 1024**3
"""Largest results file read, in bytes."""

_HEAD = re.compile(
    rb'^\s*\{\s*"evalId"\s*:\s*(null|"[^"]*")\s*,\s*"results"\s*:\s*\{\s*"version"\s*:\s*\d+\s*,'
)


class PromptfooFormat:
    """Reads what promptfoo leaves; writing results is left to the framework's own run."""

    info = FormatInfo(
        name=NAME,
        title="promptfoo results",
        patterns=("*.json",),
        reads=frozenset({"cases", "outputs", "scores"}),
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """High for promptfoo's keys in promptfoo's order."""
        del path
        return 0.95 if _HEAD.match(head.removeprefix(b"\xef\xbb\xbf")) else 0.0

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a results file.

        Raises:
            InputError: If it is damaged, no results file, or larger than can be read safely.
        """
        scales = read_scales(options)
        return ResultsReading(source, _decode(source), scales).read()

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Refuse: results are what a run leaves."""
        del bundle, options
        raise InputError(
            "promptfoo results cannot be written yet", where=dest, fix="run the suite in promptfoo"
        )


FORMAT = PromptfooFormat()


def _decode(source: Path) -> records.File:
    content = read_whole(source, MAX_BYTES, "split the run")
    try:
        return records.decode(content)
    except RecursionError:
        what = "nested too deeply"
    except ValueError as error:
        what = f"no promptfoo results ({error})"
    raise InputError(what, where=source, fix="get a complete copy, exported by a recent promptfoo")
