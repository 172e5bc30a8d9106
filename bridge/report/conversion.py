"""A conversion for a terminal: the counts of both halves, and every line that is not native."""

from __future__ import annotations

from collections.abc import Iterator

from bridge.model.conversion import Conversion, ConversionLine, ConversionReport, Fate
from bridge.model.counted import counted
from bridge.report.columns import table
from bridge.report.inert import one_line
from bridge.report.verification import verification_lines

FATES: tuple[Fate, ...] = ("native", "carried", "executable", "dropped")
"""As they are shown, the worst last."""
MOST_LINES = 60
"""Most lines shown of one half; the report file has them all."""
HEAD = ("fate", "count", "field", "reason")


def conversion_to_terminal(conversion: Conversion, width: int | None = None) -> str:
    """A conversion as text.

    Args:
        conversion: What to show.
        width: Columns of the terminal; nothing is cut if ``None``.
    """
    return "\n".join(_lines(conversion, width)) + "\n"


def _lines(conversion: Conversion, width: int | None) -> Iterator[str]:
    read, written = conversion.read, conversion.written
    yield f"{_file(read)} -> {_file(written)}"
    held = ("case", "output", "score")
    yield ", ".join(counted(getattr(conversion, f"{part}s"), part) for part in held)
    for name, half in (("read", read), ("written", written)):
        yield ""
        yield f"{name}: {_counts(half)}"
        yield from _told(half, width)
    if conversion.verification is not None:
        yield ""
        yield from verification_lines(conversion.verification, width)


def _file(report: ConversionReport) -> str:
    return f"{one_line(report.source)} ({one_line(report.format)})"


def _counts(report: ConversionReport) -> str:
    counts = report.counts
    told = ", ".join(f"{counts[fate]} {fate}" for fate in FATES if counts.get(fate))
    return f"{counted(report.total, 'value')}: {told}" if told else "no values"


def _told(report: ConversionReport, width: int | None) -> Iterator[str]:
    lines = sorted(
        (line for line in report.lines if line.fate != "native"),
        key=lambda line: (-FATES.index(line.fate), line.field),
    )
    if lines:
        yield from table(HEAD, [_cells(line) for line in lines[:MOST_LINES]], width)
    if len(lines) > MOST_LINES:
        yield f"... and {len(lines) - MOST_LINES} more"
    yield from (f"note: {one_line(note, 400)}" for note in report.notes)


def _cells(line: ConversionLine) -> tuple[str, ...]:
    return (line.fate, str(line.count), one_line(line.field, 60), one_line(line.reason, 400))
