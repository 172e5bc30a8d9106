"""The conversion report of our own formats: what they hold they hold exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.conversion import ConversionLine, ConversionReport, Fate
from bridge.model.errors import InputError
from bridge.model.suite import Suite
from bridge.model.values import Model
from bridge.plugin.format import FormatInfo

PARTS = ("suite", "cases", "outputs", "scores")
"""The parts of a bundle."""


def account(
    info: FormatInfo, path: Path, bundle: Bundle, held: Collection[str], notes: Iterable[str] = ()
) -> ConversionReport:
    """Every field and check of a bundle, native in the parts that a file holds, else dropped.

    Args:
        info: The format.
        path: The file.
        bundle: What was read, or is written.
        held: The parts that the file holds.
        notes: What a reader should know.
    """
    lines: list[ConversionLine] = []
    for part in PARTS:
        fate: Fate = "native" if part in held else "dropped"
        reason = "" if part in held else f"{info.title} holds no {part}"
        lines.extend(
            ConversionLine(field=field, fate=fate, count=count, reason=reason)
            for field, count in _fields(part, bundle).items()
        )
    return ConversionReport(
        source=str(path), format=info.name, lines=tuple(lines), notes=tuple(notes)
    )


def _fields(part: str, bundle: Bundle) -> Mapping[str, int]:
    """How many there are of each field that was given, and of checks."""
    counts: Counter[str] = Counter()
    given = getattr(bundle, part)
    items: Sequence[Model] = given if isinstance(given, tuple) else [given] if given else []
    path = f"{part}[]" if isinstance(given, tuple) else part
    for item in items:
        counts.update(f"{path}.{name}" for name in item.model_fields_set)
        for where, checks in _checks(item):
            counts[f"{path}.{where}[]"] += len(checks)
    return {field: count for field, count in sorted(counts.items()) if count}


def _checks(item: Model) -> Iterator[tuple[str, Sequence[Check]]]:
    if isinstance(item, Suite | Case):
        yield "checks", item.checks
    if isinstance(item, Case):
        for turn in item.turns:
            yield "turns[].checks", turn.checks


def refuse_options(info: FormatInfo, options: Mapping[str, object]) -> None:
    """Refuse options: our own formats have none.

    Raises:
        InputError: If there is one.
    """
    if options:
        what = f"format {info.name} takes no option {', '.join(options)}"
        raise InputError(what, fix="leave it out")
