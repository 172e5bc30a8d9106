"""Samples of the LM Evaluation Harness (``samples_<task>_<time>.jsonl``, ``--log_samples``).

A row is a document under one filter; a document has as many rows as its task has filters. Metrics
go by the harness's own names: ``acc``, and ``exact_match,strict-match`` where the filter is not
``none``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bridge.files.shape import leading_keys
from bridge.plugin.accounts.accounting import NATIVE, Claims, carried, dropped
from bridge.plugin.format import FormatInfo
from bridge.plugin.formats.sample_rows import Parts, Row, SampleFormat, SampleRows, sample_document
from bridge.plugin.results.imported import Scales

INFO = FormatInfo(
    name="lm_eval",
    title="LM Evaluation Harness samples",
    patterns=("samples_*.jsonl", "*.jsonl"),
    reads=frozenset({"cases", "outputs", "scores"}),
)
BOOKKEEPING = frozenset(
    {
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
        "task_name",
    }
)
"""Keys of a row that are no metric."""
CLAIMS = Claims(
    {
        **dict.fromkeys(("doc_id", "target", "filtered_resps", "filter", "metrics", "*"), NATIVE),
        "doc": carried("kept as the case's metadata"),
        "arguments": NATIVE,
        "resps": dropped("the answers before they were filtered"),
        **dict.fromkeys(("doc_hash", "prompt_hash", "target_hash"), dropped("a digest")),
    }
)


def _sure(head: bytes, path: Path) -> float:
    keys = set(leading_keys(head.removeprefix(b"[").lstrip()))
    if {"doc_id", "doc"} <= keys or {"doc_id", "filtered_resps"} <= keys:
        return 0.95
    if b'"doc_id"' in head[:4096] and path.name.startswith("samples_"):
        return 0.8  # its first document is longer than what is shown
    return 0.9 if {"results", "configs", "n-shot"} <= keys or _is_results(head, path) else 0.0


def _is_results(head: bytes, path: Path) -> bool:
    named = path.name.startswith("results") and path.suffix == ".json"
    return named and head.startswith(b"{") and b"_stderr," in head


def _open(source: Path, scales: Scales) -> SampleRows:
    document = sample_document(
        source, "name the samples_<task>_<time>.jsonl file that --log_samples writes"
    )
    return SampleRows(INFO.name, document, CLAIMS, scales, _Documents())


class _Documents:
    """Reads rows; remembers which documents it has seen."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def __call__(self, row: Row) -> Parts:
        if "doc_id" not in row:
            raise ValueError("it has no doc_id")
        number = row["doc_id"]
        if not isinstance(number, int | str) or isinstance(number, bool):
            raise ValueError(f"doc_id is {number!r}")
        name = str(number)
        again = hash(name) in self._seen
        self._seen.add(hash(name))
        key = {"system": "default", "case_id": name, "epoch": 1}
        return Parts(key, dict(_values(row)), None, _case(row), {"text": _answer(row)}, again)


def _values(row: Row) -> Iterator[tuple[str, Any]]:
    given = row.get("metrics")
    names = given if isinstance(given, list) else [key for key in row if key not in BOOKKEEPING]
    chosen = row.get("filter")
    suffix = f",{chosen}" if isinstance(chosen, str) and chosen not in ("", "none") else ""
    for name in names:
        yield f"{name}{suffix}", row.get(str(name))


def _case(row: Row) -> dict[str, Any]:
    doc, target = row.get("doc"), row.get("target")
    case: dict[str, Any] = {"input": _asked(row), "expected": "" if target is None else target}
    if isinstance(target, int | float):
        case["expected"] = str(target)
    if isinstance(doc, dict):
        case["metadata"] = doc
    return case


def _asked(row: Row) -> str:
    """What the model was sent: the first argument, in each of the shapes it had over the years."""
    given = row.get("arguments")
    while isinstance(given, list | dict) and given:
        given = given[0] if isinstance(given, list) else next(iter(given.values()))
    return given if isinstance(given, str) else ""


def _answer(row: Row) -> Any:
    given = row.get("filtered_resps")
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    return given if isinstance(given, str) else json.dumps(given)


LM_EVAL = SampleFormat(INFO, _sure, _open)
