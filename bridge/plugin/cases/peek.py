"""The fields of a table's first row, told by the first bytes of its file."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from bridge.files.foreign.delimited import likely_delimiter
from bridge.files.foreign.encodings import decoded_head
from bridge.files.foreign.tables import WRAPPERS
from bridge.files.shape import leading_keys

_ROWS = re.compile(rb'"(?:' + "|".join(WRAPPERS).encode() + rb')"\s*:\s*\[\s*(?=\{)')
_BY_COLUMN = re.compile(rb'\s*\{\s*"[^"\\]{1,80}"\s*:\s*\{\s*"\d+"\s*:')
_KEY = re.compile(rb'"((?:[^"\\]|\\.){1,80})"\s*:\s*[\{\["]')


def first_keys(head: bytes, path: Path) -> list[str]:
    """The columns of a CSV file, or the keys of the first object, as far as they are there.

    Args:
        head: The first bytes of the file.
        path: Its name, whose suffix decides how it is looked at.
    """
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return _header(head)
    if suffix not in (".json", ".jsonl", ".ndjson"):
        return []
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if suffix == ".json" and _BY_COLUMN.match(text):
        return [key.decode("utf-8", "replace") for key in _KEY.findall(text)]
    if text.startswith(b"["):
        return leading_keys(text[1:].lstrip())
    wrapped = _ROWS.search(text) if suffix == ".json" else None
    return leading_keys(text if wrapped is None else text[wrapped.end() :])


def _header(head: bytes) -> list[str]:
    line = decoded_head(head)
    try:
        reader = csv.reader(io.StringIO(line, newline=""), delimiter=likely_delimiter(line))
        return [name.strip() for name in next(reader, [])]
    except csv.Error:
        return []
