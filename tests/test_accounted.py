"""No field goes missing without a line: every format, every file that a framework left."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from fuzz.readers import Bench
from fuzz.seeds import Seed, seeds

from bridge.plugin.accounts.accounting import count_leaves
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import format_names, get_format
from bridge.testing.accounted import assert_accounted
from bridge_inspect.results.archive import is_archive, open_archive

OWN = {"suite", "run", "golden_set", "outputs", "scores", "baseline"}
"""Formats whose files are the neutral form itself."""
XML = {"junit"}
"""Held to account element by element in its own tests."""
FILES = [
    seed
    for seed in seeds()
    if seed.format not in OWN | XML and not seed.beside and b"bridge" not in seed.content
]
"""Every file that stands alone; what we carry in a file of ours is held to account elsewhere."""

READ_INTO: dict[str, tuple[str, ...]] = {
    "deepeval": (
        "conversationalTestCases[].turns[].role",  # a turn of the case, or the answer to it
        "conversationalTestCases[].turns[].order",
        "testCases[].metricsData[].threshold",  # on the native scale, brought to [0, 1]
    ),
    "inspect": ("version", "status", "eval.model", "eval.scorers"),  # scorers: into checks
    "promptfoo": (
        "results.version",
        "results.results[].latencyMs",  # milliseconds into seconds
        "[].latencyMs",
        "results.results[].testIdx",
        "results.results[].promptIdx",
        "[].Status",  # passed or failed
        "[].Named Scores",
        "[].p",  # a verdict with its score before an answer
    ),
    "ragas": ("[].user_input[].type", "[].faithfulness"),
    "lm_eval": ("[].filter",),
    "table": ("cases[].tags",),
}
"""Fields that are read into other values: scales, units, roles."""
CELLS = {
    "context", "contexts", "retrieved_contexts", "reference_contexts", "tools_called", "tags",
    "choices", "metadata", "user_input", "reference_tool_calls", "ground_truths",
}  # fmt: skip
"""Columns whose cells are lists or objects written as text: what is in them is looked for."""


def documents(seed: Seed, folder: Path) -> list[Any]:
    """What a file holds, as JSON data: the members of an archive, the rows of a table."""
    content = seed.content
    if seed.name.endswith((".xlsx", ".parquet")):
        return [binary_rows(seed)]
    if is_archive(content):
        path = folder / seed.name
        path.write_bytes(content)
        with open_archive(path) as archive:
            return [json.loads(archive.read(name)) for name in archive.members]
    text = content.decode("utf-8-sig")
    suffix = Path(seed.name).suffix
    if suffix == ".jsonl":
        return [[json.loads(line) for line in text.splitlines() if line.strip()]]
    if suffix in (".csv", ".tsv"):
        first = text.split("\n", 1)[0]
        mark = max("\t;,", key=first.count)
        return [list(csv.DictReader(io.StringIO(text, newline=""), delimiter=mark))]
    if suffix == ".json":
        return [_by_row(json.loads(text))]
    import yaml

    return [yaml.safe_load(text)]


def binary_rows(seed: Seed) -> list[dict[str, Any]]:
    """The rows of a binary table as the libraries themselves read them; blank cells are none."""
    if seed.name.endswith(".parquet"):
        from pyarrow import BufferReader, parquet

        rows = parquet.read_table(BufferReader(seed.content)).to_pylist()
        return [{name: _as_json(cell) for name, cell in row.items()} for row in rows]
    from openpyxl import load_workbook

    sheet = load_workbook(io.BytesIO(seed.content), data_only=True).active
    assert sheet is not None
    head, *lines = sheet.values
    names = [str(name or f"column {number}") for number, name in enumerate(head, 1)]
    full = (zip(names, line, strict=True) for line in lines if any(line))
    return [{name: _as_json(cell) for name, cell in row if cell is not None} for row in full]


def _as_json(cell: Any) -> Any:
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    return None if cell != cell else cell  # NaN is how tables write a gap


def _by_row(document: Any) -> Any:
    """A table that is written column by column as its rows; any other document as it is."""
    if not isinstance(document, dict) or not all(
        isinstance(column, dict) and all(map(str.isdecimal, column)) for column in document.values()
    ):
        return document
    rows = dict.fromkeys(key for column in document.values() for key in column)
    return [{name: column.get(key) for name, column in document.items()} for key in rows]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("accounted"))


def test_every_format_has_a_file_to_be_held_against() -> None:
    assert {seed.format for seed in FILES} == set(format_names()) - OWN - XML - {"promptfoo_config"}


@pytest.mark.parametrize("seed", FILES, ids=[f"{each.format}-{each.name}" for each in FILES])
def test_every_leaf_is_found_again_or_has_a_line(seed: Seed, tmp_path: Path) -> None:
    held = documents(seed, tmp_path)
    path = tmp_path / seed.name
    path.write_bytes(seed.content)
    bundle, report = get_format(seed.format).read(path, ReadOptions())
    keys = len(held[0].get("test_cases_lookup_map", ())) if isinstance(held[0], dict) else 0
    assert report.total == sum(map(count_leaves, held)) + keys  # keys that are documents
    if len(held) > 1 or keys:
        return
    assert all(line.reason for line in report.lines if line.fate != "native")
    changed = [*READ_INTO.get(seed.format, ())]
    if path.suffix in (".csv", ".tsv"):
        changed += [f"[].{name}" for name in CELLS]
    assert_accounted(held[0], bundle, report, changed=changed)
