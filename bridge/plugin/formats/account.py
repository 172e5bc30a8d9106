"""The conversion report of our own formats: what they hold they hold exactly."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import NATIVE, Claims, Tally, account_bundle, dropped
from bridge.plugin.format import FormatInfo

PARTS = {"suite": "suite.*", "cases": "cases[].*", "outputs": "outputs[].*", "scores": "scores[].*"}
"""The parts of a bundle, with the fields that are told apart in a report."""


def account_read(
    info: FormatInfo, path: Path, bundle: Bundle, notes: Iterable[str] = ()
) -> ConversionReport:
    """Every leaf of a file of ours that was read: all native.

    Args:
        info: The format.
        path: The file.
        bundle: What was read.
        notes: What a reader should know.
    """
    tally = Tally()
    given: Mapping[str, Any] = bundle.model_dump(mode="json", exclude_unset=True)
    held = {part: value for part, value in given.items() if value}
    if held:
        tally.document(held, Claims({PARTS[part]: NATIVE for part in held}))
    return tally.report(path, info.name, notes)


def account_written(
    info: FormatInfo, path: Path, bundle: Bundle, held: Collection[str], notes: Iterable[str] = ()
) -> ConversionReport:
    """Every leaf of a bundle, native in the parts that a file holds, else dropped.

    Args:
        info: The format.
        path: The file.
        bundle: What is written.
        held: The parts that the file holds.
        notes: What a reader should know.
    """
    claims = {
        field: NATIVE if part in held else dropped(f"{info.title} holds no {part}")
        for part, field in PARTS.items()
    }
    return account_bundle(bundle, Claims(claims), path, info.name, notes)


def require_results(bundle: Bundle, dest: Path) -> None:
    """Make sure that there is something for a result file to hold.

    Raises:
        InputError: If there is no output and no score.
    """
    if not bundle.outputs and not bundle.scores:
        fix = "write its cases in another format"
        raise InputError("nothing to write: no output and no score", where=dest, fix=fix)
