"""Outputs files: JSONL, one output a case and epoch."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bridge.files.jsonl import read_models, write_atomically
from bridge.model.errors import InputError
from bridge.model.output import Output


def output_line(output: Output) -> str:
    """An output as one line of JSON."""
    skip = {name for name in ("messages", "prefilter", "extras") if not getattr(output, name)}
    return output.model_dump_json(exclude=skip or None)


def read_outputs(*paths: Path) -> list[Output]:
    """Read outputs files.

    Raises:
        InputError: On a faulty line, or two outputs for one (system, case, epoch).
    """
    seen: dict[tuple[str, str, int], str] = {}
    outputs = []
    for path in paths:
        for number, output in read_models(path, Output):
            if output.key in seen:
                system, case_id, epoch = output.key
                raise InputError(
                    f"system {system!r} answered case {case_id!r} twice in epoch {epoch} "
                    f"(first at {seen[output.key]})",
                    where=path,
                    line=number,
                    fix="keep one, or number the epochs",
                )
            seen[output.key] = f"{path}:{number}"
            outputs.append(output)
    return outputs


def write_outputs(outputs: Iterable[Output], path: Path) -> None:
    """Write an outputs file, atomically."""
    write_atomically(path, (f"{output_line(output)}\n" for output in outputs))
