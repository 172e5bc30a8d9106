"""The baseline file: JSON, one case a line, so that a change shows as a small diff."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bridge.files.jsonl import explain, unreadable, write_atomically
from bridge.model.baseline import Baseline
from bridge.model.errors import InputError


def read_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        InputError: If it is not there or not one.
    """
    try:
        return Baseline.model_validate_json(path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from None
    except ValidationError as error:
        fix = "make one with: bridge baseline RUN -o FILE"
        raise InputError(f"not a baseline ({explain(error)})", where=path, fix=fix) from None


def write_baseline(baseline: Baseline, path: Path) -> None:
    """Write a baseline, atomically."""
    write_atomically(path, [*_json(baseline.model_dump(mode="json", exclude_none=True)), "\n"])


def _json(value: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Objects one key a line, whatever their depth."""
    if not value:
        yield "{}"
        return
    yield "{\n"
    inner = f"{indent} "
    for index, (key, item) in enumerate(value.items()):
        yield f"{inner}{json.dumps(key, ensure_ascii=False)}: "
        if isinstance(item, Mapping):
            yield from _json(item, inner)
        else:
            yield json.dumps(item, ensure_ascii=False)
        yield ",\n" if index < len(value) - 1 else "\n"
    yield f"{indent}}}"
