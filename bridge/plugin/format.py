"""The format protocol: a kind of file that is read and written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.values import EMPTY, JsonObject, Model


@dataclass(frozen=True, slots=True)
class FormatInfo:
    """What a format is.

    Attributes:
        name: Name on the command line.
        title: Name for people.
        patterns: File name patterns, the usual one first.
        reads: What ``read`` can yield: of ``suite``, ``cases``, ``outputs``, ``scores``.
        writes: What ``write`` can hold; empty where the format is only read.
    """

    name: str
    title: str
    patterns: tuple[str, ...]
    reads: frozenset[str]
    writes: frozenset[str] = frozenset()


class ReadOptions(Model):
    """How to read.

    Attributes:
        options: By name; each format documents its own.
        parts: The parts of a bundle that are wanted; a reader may leave out the others.
    """

    options: JsonObject = EMPTY
    parts: frozenset[str] = frozenset({"suite", "cases", "outputs", "scores"})


class WriteOptions(Model):
    """How to write: options by name, each format documents its own."""

    options: JsonObject = EMPTY


@runtime_checkable
class Format(Protocol):
    """A kind of file. Never imports its framework and never executes what it reads."""

    @property
    def info(self) -> FormatInfo:
        """What the format is."""
        ...

    def sniff(self, head: bytes, path: Path) -> float:
        """How sure, in [0, 1], that a file with these first bytes is of this format."""
        ...

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        """Read a file; raises :class:`bridge.InputError` where it is faulty."""
        ...

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        """Write a file that the format's own tools read."""
        ...
