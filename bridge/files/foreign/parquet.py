"""Parquet files, where pyarrow is installed (the ``parquet`` extra; ``ragas`` brings it too)."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from datetime import date, datetime, time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bridge.files.foreign.apart import (
    MAX_UNPACKED,
    SPLIT,
    Row,
    answer,
    columns_of,
    fault,
    read_apart,
    row_number,
)
from bridge.model.errors import InputError

_BATCH = 256
"""Rows that are unpacked at once."""


def read_parquet(path: Path) -> list[Row]:
    """Rows as JSON data with their numbers: NaN as null, dates in ISO 8601.

    Raises:
        InputError: If pyarrow is not installed, or the file is damaged or too large.
    """
    if find_spec("pyarrow") is None:
        fix = "pip install 'bridge-evals[parquet]'"
        raise InputError("Parquet needs pyarrow", where=path, fix=fix)
    rows, _ = read_apart("bridge.files.foreign.parquet", path)
    return rows


def _rows(path: Path) -> Iterator[Row]:
    """In the process that reads."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        about, names = file.metadata, [str(name) for name in file.schema_arrow.names]
        columns_of(names)
        row_number(about.num_rows)
        sizes = (about.row_group(number).total_byte_size for number in range(about.num_row_groups))
        if sum(sizes) > MAX_UNPACKED:
            raise fault(f"unpacks to more than {MAX_UNPACKED >> 20} MiB", SPLIT)
        number = 0
        for batch in file.iter_batches(_BATCH, use_threads=False):
            columns = [column.to_pylist() for column in batch.columns]
            for cells in zip(*columns, strict=True):
                number = row_number(number + 1)
                pairs = zip(names, cells, strict=True)
                yield number, {name: _as_json(cell) for name, cell in pairs}
        if number != about.num_rows:  # pyarrow's batches stop without a word where a page is short
            what = f"damaged: {about.num_rows} rows are announced, and {number} can be read"
            raise fault(what, "get a complete copy of the file")


def _as_json(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    what = f"a column of {type(value).__name__}, which is no text, number, list or object"
    raise fault(what, "leave the column out")


if __name__ == "__main__":
    answer(_rows(Path(sys.argv[1])), "Parquet file")
