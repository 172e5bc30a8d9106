"""CSV tests: promptfoo's column language, as the tests it stands for.

``__expected`` and ``__expected1`` ... are assertions in a language of their own, the other columns
with two underscores are fields of the test, every further column is a variable
(https://www.promptfoo.dev/docs/configuration/test-cases/#csv-format).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.files.foreign.csv_rows import allow_long_cells
from bridge.files.yaml import Loc
from bridge.model.errors import InputError
from bridge_promptfoo.config.kinds import BASE_TYPES
from bridge_promptfoo.config.lists import comma_separated

MAX_ROWS = 500_000
EXPECTED = "__expected"
METADATA = "__metadata:"
CONFIG = "__config:"

_ASSERTION = re.compile(
    rf"(not-)?({'|'.join(map(re.escape, BASE_TYPES))})(?:\((\d+(?:\.\d+)?)\))?(?::(.*))?", re.DOTALL
)
_SCRIPT = re.compile(r"file://.*\.[cm]?[jt]sx?(?::\w+)?", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_LISTS = frozenset({"contains-all", "contains-any", "icontains-all", "icontains-any"})
_GRADED = frozenset(
    {
        "answer-relevance",
        "classifier",
        "context-faithfulness",
        "context-recall",
        "context-relevance",
        "cost",
        "latency",
        "levenshtein",
        "perplexity-score",
        "perplexity",
        "rouge-n",
        "similar",
        "starts-with",
    }
)
"""Types that get a threshold in a cell, whether one is written or not."""


def read_csv(data: bytes, path: Path) -> tuple[list[dict[str, str]], dict[Loc, int]]:
    """Rows by column name, every cell a text, and the line of each row.

    Raises:
        InputError: If a row has more cells than there are columns, or two columns one name.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"not UTF-8 (byte {error.start})"
        raise InputError(what, where=path, fix="save the file as UTF-8") from None
    allow_long_cells()
    reader = csv.reader(io.StringIO(text, newline=""))
    rows: list[dict[str, str]] = []
    lines: dict[Loc, int] = {}
    try:
        head = [name.strip() for name in next(reader, [])]
        _refuse_twins(head, path)
        for cells in reader:
            if cells:
                lines[(len(rows),)] = reader.line_num
                rows.append(_row(head, cells, path, reader.line_num))
            if len(rows) > MAX_ROWS:
                raise InputError(f"more than {MAX_ROWS} rows", where=path, fix="split it")
    except csv.Error as error:
        raise InputError(
            f"not CSV ({error})", where=path, line=reader.line_num, fix="mend the row"
        ) from None
    return rows, lines


def _refuse_twins(head: list[str], path: Path) -> None:
    twin, count = Counter(head).most_common(1)[0] if head else ("", 0)
    if count > 1:
        raise InputError(f"column {twin!r} stands twice", where=path, line=1, fix="rename one")


def _row(head: list[str], cells: list[str], path: Path, line: int) -> dict[str, str]:
    if len(cells) != len(head):
        what = f"{len(cells)} cells under {len(head)} columns"
        raise InputError(what, where=path, line=line, fix="mend the row")
    return dict(zip(head, cells, strict=True))


@dataclass(slots=True)
class RowReading:
    """A row as a test.

    Attributes:
        test: The test, as a config would have it.
        ignored: Columns that promptfoo takes nothing from.
        scripts: Columns with code in them.
    """

    test: dict[str, Any] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)


def read_row(row: Mapping[str, str], number: int) -> RowReading:
    """A row as the test it stands for.

    Args:
        row: Cells by column.
        number: Which row it is, 1-based; its description unless it has one.

    Raises:
        ValueError: If a column of the language is faulty.
    """
    made = RowReading()
    asserts: list[dict[str, Any]] = []
    fields: dict[str, Any] = {"vars": {}, "options": {}, "metadata": {}}
    config: dict[int, float] = {}
    for name, cell in row.items():
        if name.startswith(EXPECTED):
            if cell.strip():
                asserts.append(read_assertion(cell.strip()))
                made.scripts += [name] * (asserts[-1]["type"] in ("javascript", "python"))
        elif name.startswith(CONFIG):
            config[_place(name)] = _number(name, cell)
        elif not _read_field(fields, name, cell):
            made.ignored.append(name)
    _finish(asserts, row.get("__metric"), config, fields["metadata"])
    fields.setdefault("description", f"Row #{number}")
    made.test = {key: value for key, value in fields.items() if value != {} or key == "vars"}
    if asserts:
        made.test["assert"] = asserts
    return made


def _finish(
    asserts: list[dict[str, Any]],
    metric: str | None,
    config: Mapping[int, float],
    metadata: dict[str, Any],
) -> None:
    """Give the assertions of a row what other columns say of them."""
    for index, assertion in enumerate(asserts):
        if metric:
            assertion["metric"] = metric
        if index in config:
            assertion["threshold"] = metadata["threshold"] = config[index]


def _read_field(fields: dict[str, Any], name: str, cell: str) -> bool:
    """Take a cell that is no assertion into a test; whether there was anything to take it for."""
    if name in ("__prefix", "__suffix"):
        fields["options"][name[2:]] = cell
    elif name in ("__description", "__providerOutput"):
        fields.update({name[2:]: cell} if cell else {})
    elif name == "__threshold":
        number = to_number(cell)
        fields.update({"threshold": number} if number is not None else {})
    elif name.startswith(METADATA):
        _read_metadata(fields["metadata"], name.removeprefix(METADATA), cell)
    elif name == "__metadata":
        return False
    elif name == "__metric":
        return True
    else:
        fields["vars"][name] = cell
    return True


def _read_metadata(metadata: dict[str, Any], key: str, cell: str) -> None:
    if not cell.strip():
        return
    if key.endswith("[]"):
        items = re.split(r"(?<!\\),", cell)
        metadata[key[:-2]] = [item.strip().replace("\\,", ",") for item in items]
    else:
        metadata[key] = cell


def _place(name: str) -> int:
    """Which assertion, 0-based, a ``__config`` column is about."""
    match = re.fullmatch(r"__config:__expected(\d*):threshold", name)
    if match is None or match[1] == "0":
        raise ValueError(f"column {name} is no __config:__expected1:threshold")
    return int(match[1] or 1) - 1


def _number(name: str, cell: str) -> float:
    number = to_number(cell)
    if number is None:
        raise ValueError(f"column {name} holds {cell!r}, which is no number")
    return number


def to_number(cell: str) -> float | None:
    """A whole cell as a number; ``None`` where it is none."""
    text = cell.strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def read_assertion(cell: str) -> dict[str, Any]:
    """A cell of the assertion language: ``contains:text``, ``similar(0.9):text``, or plain text."""
    for prefix in ("javascript:", "fn:", "eval:"):
        if cell.startswith(prefix):
            return {"type": "javascript", "value": cell.removeprefix(prefix).strip()}
    if _SCRIPT.fullmatch(cell):
        return {"type": "javascript", "value": cell}
    for prefix in ("grade:", "llm-rubric:"):
        if cell.startswith(prefix):
            return {"type": "llm-rubric", "value": cell.removeprefix(prefix)}
    is_file = cell.startswith("file://") and (cell.endswith(".py") or ".py:" in cell)
    if cell.startswith("python:") or is_file:
        return {"type": "python", "value": cell[len("python:") :].strip()}
    match = _ASSERTION.fullmatch(cell)
    return {"type": "equals", "value": cell} if match is None else _typed(match)


def _typed(match: re.Match[str]) -> dict[str, Any]:
    negation, kind, threshold, value = match.groups()
    made: dict[str, Any] = {"type": f"{negation or ''}{kind}"}
    if kind in _LISTS and value:
        made["value"] = list(comma_separated(value))
    elif value is not None:
        made["value"] = value if kind in ("is-json", "contains-json") else value.strip()
    if kind in _GRADED:
        default = 0.8 if kind == "similar" else 0.75
        made["threshold"] = float(threshold) if threshold else default
    return made
