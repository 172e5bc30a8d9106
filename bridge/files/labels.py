"""Labels and calibrations: what people say of a judge's rows, and the file that comes of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from bridge.files.jsonl import read_models, read_object, write_atomically
from bridge.model.calibration import Calibration, CalibrationEntry, Label
from bridge.model.errors import InputError
from bridge.model.explain import explain

FIX = "make one with: bridge calibrate RUN --labels FILE -o FILE"


def read_labels(path: Path) -> list[tuple[int, Label]]:
    """The labels of a file, each with its line.

    Raises:
        InputError: At the first line that is none, or if there is none at all.
    """
    labels = list(read_models(path, Label))
    if not labels:
        raise InputError("holds no label", where=path, fix="write one JSON object a line")
    return labels


def read_calibration(path: Path) -> Calibration:
    """Read a calibration file.

    Raises:
        InputError: If it is not there or not one.
    """
    try:
        return Calibration.model_validate(read_object(path))
    except ValidationError as error:
        raise InputError(f"not a calibration ({explain(error)})", where=path, fix=FIX) from None


def write_calibration(calibration: Calibration, path: Path) -> None:
    """Write a calibration file, atomically."""
    write_atomically(path, [calibration.model_dump_json(indent=1), "\n"])


def merged(
    known: Iterable[CalibrationEntry], new: Iterable[CalibrationEntry]
) -> tuple[CalibrationEntry, ...]:
    """Entries with the new ones in place of those of the same metric."""
    by_metric = {entry.metric: entry for entry in known}
    by_metric.update((entry.metric, entry) for entry in new)
    return tuple(by_metric[name] for name in sorted(by_metric))
