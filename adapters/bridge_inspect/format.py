"""Inspect logs (``.eval`` and ``.json``) as cases, outputs and scores.

Options: ``scale``, the native scale of scores that are not in [0, 1] (``[0, 10]``, or
``{metric: [0, 10]}``). Nothing of Inspect is imported and nothing in a log is executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from bridge.files.jsonl import read_whole, unreadable
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions
from bridge.plugin.imported import read_scales
from bridge_inspect import records
from bridge_inspect.archive import Archive, is_archive, open_archive
from bridge_inspect.reading import LogReading
from bridge_inspect.rows import NAME

T = TypeVar("T")

MAX_JSON = 2 * 1024**3
"""Largest ``.json`` log read, in bytes."""

_JSON_HEAD = re.compile(
    rb'^\s*\{\s*("version"\s*:\s*\d+\s*,\s*)?"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:\s*\{'
)


class InspectFormat:
    """Reads what Inspect leaves; writing logs is left to the framework's own run."""

    info = FormatInfo(
        name=NAME,
        title="Inspect AI log",
        patterns=("*.eval", "*.json"),
        reads=frozenset({"cases", "outputs", "scores"}),
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """1 for an archive with Inspect's journal, less for one that is only named so."""
        if is_archive(head):
            if b"_journal/start.json" in head[:4096] or b"samples/" in head[:128]:
                return 1.0
            return 0.8 if path.suffix == ".eval" else 0.0
        return 0.95 if _JSON_HEAD.match(head.removeprefix(b"\xef\xbb\xbf")) else 0.0

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a log.

        Raises:
            InputError: If it is damaged, no log, or larger than can be read safely.
        """
        scales = read_scales(options)
        with _open(source) as (log, samples):
            reading = LogReading(source, log, scales)
            for sample in samples:
                reading.add(sample)
        return reading.finish()

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Refuse: a log is what a run leaves."""
        del bundle, options
        raise InputError(
            "an Inspect log cannot be written yet", where=dest, fix="run the suite in inspect"
        )


FORMAT = InspectFormat()


@contextmanager
def _open(source: Path) -> Iterator[tuple[records.Log, Iterable[records.Sample]]]:
    """The head of a log, and its samples one at a time."""
    try:
        with source.open("rb") as file:
            archived = is_archive(file.read(4))
    except OSError as error:
        raise unreadable(source, error) from None
    if not archived:
        log = _decode(read_whole(source, MAX_JSON, "convert it to .eval"), records.Log, source)
        yield log, log.samples or []
        return
    with open_archive(source) as archive:
        name = next((n for n in ("header.json", "_journal/start.json") if n in archive.members), "")
        if not name:
            raise InputError(
                "no Inspect log in this archive", where=source, fix="name another file"
            )
        yield _decode(archive.read(name), records.Log, source), _members(archive, source)


def _members(archive: Archive, source: Path) -> Iterator[records.Sample]:
    for name in archive.members:
        if name.startswith("samples/") and name.endswith(".json"):
            yield _decode(archive.read(name), records.Sample, source, name)


def _decode(content: bytes, kind: type[T], source: Path, member: str = "") -> T:
    try:
        return records.decode(content, kind)
    except RecursionError:
        what = "nested too deeply"
    except (ValueError, AttributeError) as error:
        what = f"no Inspect log ({str(error) or type(error).__name__})"
    place = f"member {member} is {what}" if member else what
    raise InputError(place, where=source, fix="get a complete copy of the log")
