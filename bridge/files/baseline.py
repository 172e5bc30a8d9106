"""The baseline file: JSON, one case a line, so that a change shows as a small diff."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bridge.files.digest import set_digest
from bridge.files.jsonl import read_object, write_atomically
from bridge.model.baseline import Baseline
from bridge.model.errors import InputError
from bridge.model.explain import explain

FIX = "make one with: bridge baseline RUN -o FILE"


def read_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        InputError: If it is not there, not one, or was changed since it was made.
    """
    try:
        baseline = Baseline.model_validate(read_object(path))
    except ValidationError as error:
        raise InputError(f"not a baseline ({explain(error)})", where=path, fix=FIX) from None
    if baseline.golden_digest and set_digest(baseline.cases.values()) != baseline.golden_digest:
        raise InputError("its cases are not those of its golden_digest", where=path, fix=FIX)
    return baseline


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
