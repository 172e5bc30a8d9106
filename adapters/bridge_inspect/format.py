"""Inspect logs (``.eval`` and ``.json``), or a folder of them, as cases, outputs and scores.

Options: ``scale``, the native scale of scores that are not in [0, 1] (``[0, 10]``, or
``{metric: [0, 10]}``). Nothing of Inspect is imported and nothing in a log is executed.
"""

from __future__ import annotations

import re
from pathlib import Path

from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.formats.account import require_results
from bridge.plugin.options import refuse_others
from bridge.plugin.results.attempts import Attempt
from bridge.plugin.results.imported import read_scales
from bridge.plugin.results.reading import Reading
from bridge_inspect.results.archive import is_archive
from bridge_inspect.results.folder import FolderReading, attempt_of, files_in, logs_in
from bridge_inspect.results.layouts import open_log
from bridge_inspect.results.reading import LogReading
from bridge_inspect.results.writing import write_log
from bridge_inspect.rows import NAME

_JSON_HEAD = re.compile(
    rb'^\s*\{\s*("version"\s*:\s*\d+\s*,\s*)?"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:\s*\{'
)


class InspectFormat:
    """Reads and writes Inspect's logs, without Inspect."""

    info = FormatInfo(
        name=NAME,
        title="Inspect AI log",
        patterns=("*.eval",),
        reads=frozenset({"cases", "outputs", "scores"}),
        writes=frozenset({"cases", "outputs", "scores"}),
        framework=NAME,
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """1 for an archive with Inspect's journal, less for one that is only named so.

        A folder is known by the logs in it.
        """
        if path.is_dir():
            return 0.95 if any(map(self._is_log, files_in(path))) else 0.0
        if is_archive(head):
            if b"_journal/start.json" in head[:4096] or b"samples/" in head[:128]:
                return 1.0
            return 0.8 if path.suffix == ".eval" else 0.0
        return 0.95 if _JSON_HEAD.match(head.removeprefix(b"\xef\xbb\xbf")) else 0.0

    def stream(self, source: Path, options: ReadOptions) -> Reading:
        """A walk over the scores of a log, or of the logs of a folder.

        Raises:
            InputError: If it is damaged, no log, or larger than can be read safely.
        """
        scales = read_scales(options)
        if source.is_dir():
            logs = logs_in(source, self._is_log)
            return Reading(lambda: FolderReading(source, logs, scales))
        return Reading(lambda: LogReading(source, scales))

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a log whole; raises as :meth:`stream`."""
        return self.stream(source, options).bundle()

    def attempt(self, source: Path) -> Attempt | None:
        """What run a log is an attempt at.

        Raises:
            InputError: If it is damaged.
        """
        return None if source.is_dir() else attempt_of(open_log(source).head)

    def _is_log(self, path: Path) -> bool:
        """Whether a file is an archive named as a log, or a document that begins as one."""
        if path.suffix != ".json":
            return path.suffix == ".eval"
        try:
            with path.open("rb") as file:
                return self.sniff(file.read(4096), path) > 0
        except OSError:
            return False

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write outputs and scores as a log (``.eval`` or ``.json``) that ``inspect view`` opens.

        Raises:
            InputError: If there is no output and no score, or an option is given.
        """
        refuse_others(self.info, options.options, ())
        require_results(bundle, dest)
        return write_log(bundle, dest)


FORMAT = InspectFormat()
