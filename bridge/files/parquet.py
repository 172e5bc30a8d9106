"""Parquet files, where pyarrow is installed (the ``parquet`` extra; ``ragas`` brings it too)."""

from __future__ import annotations

import math
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from bridge.files.encodings import MAX_BYTES
from bridge.files.jsonl import unreadable
from bridge.model.errors import InputError

MAX_UNPACKED = 4 * MAX_BYTES
"""Most bytes that a file may say it unpacks to."""


def read_parquet(path: Path) -> list[dict[str, Any]]:
    """Rows as JSON data: NaN as null, dates in ISO 8601.

    Raises:
        InputError: If pyarrow is not installed, or the file is damaged or too large.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        fix = "pip install 'bridge-evals[parquet]'"
        raise InputError("Parquet needs pyarrow", where=path, fix=fix) from None
    try:
        with parquet.ParquetFile(path) as file:
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            if sum(group.total_byte_size for group in groups) > MAX_UNPACKED:
                what = f"unpacks to more than {MAX_UNPACKED >> 20} MiB"
                raise InputError(what, where=path, fix="split it")
            rows = file.read().to_pylist()
    except OSError as error:
        if error.errno is not None:
            raise unreadable(path, error) from None
        raise _damaged(path, error) from None
    except (ArrowException, ValueError, OverflowError) as error:
        raise _damaged(path, error) from None
    return [{str(key): _as_json(value, path) for key, value in row.items()} for row in rows]


def _damaged(path: Path, error: Exception) -> InputError:
    what = f"no Parquet file ({str(error).splitlines()[0][:120]})"
    return InputError(what, where=path, fix="get a complete copy of the file")


def _as_json(value: Any, path: Path) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_as_json(item, path) for item in value]
    if isinstance(value, dict):
        return {str(key): _as_json(item, path) for key, item in value.items()}
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    what = f"a column of {type(value).__name__}, which is no text, number, list or object"
    raise InputError(what, where=path, fix="leave the column out")
