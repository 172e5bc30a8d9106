"""Baselines as a format: known when met, neither read as a bundle nor written from one."""

from __future__ import annotations

from pathlib import Path
from typing import Never

from bridge.files.baseline import read_baseline
from bridge.files.shape import document_shape
from bridge.model.bundle import Bundle
from bridge.model.errors import InputError
from bridge.plugin.format import FormatInfo, ReadOptions, WriteOptions


class BaselineFormat:
    """Knows a baseline, and yields nothing of it.

    It holds each case's mean over epochs and turns. Taken for score rows, these would be rows
    that no framework ever gave.
    """

    info = FormatInfo(
        name="baseline", title="a baseline", patterns=("baseline.json",), reads=frozenset()
    )

    def sniff(self, head: bytes, path: Path) -> float:
        """How well the outermost keys fit."""
        del path
        shape = document_shape(head)
        return shape.certainty if shape is not None and shape.kind == "baseline" else 0.0

    def read(self, source: Path, options: ReadOptions) -> Never:
        """Say what a baseline is for.

        Raises:
            InputError: Always; of what is wrong with the file, if it is no baseline.
        """
        del options
        read_baseline(source)
        fix = "compare with it: bridge gate RUN --baseline FILE"
        raise InputError("a baseline holds means of cases, not score rows", where=source, fix=fix)

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> Never:
        """Refuse: what is accepted is decided on a run.

        Raises:
            InputError: Always.
        """
        del bundle, options
        fix = "make one with: bridge baseline RUN -o FILE"
        raise InputError("a baseline is made from a run", where=dest, fix=fix)


BASELINE = BaselineFormat()
