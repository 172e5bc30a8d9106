"""Files that are no data, or not the reader's own, for the contract of a format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

NO_DATA: dict[str, bytes] = {
    "nothing": b"",
    "zero bytes": b"\x00" * 4096,
    "a page of HTML": b"<html><body>429 Too Many Requests</body></html>",
    "gzip": b"\x1f\x8b\x08\x00 and more",
    "a pickle": b"cposix\nsystem\n(S'true'\ntR.",
    "a tag of YAML": b"!!python/object/apply:os.system ['true']\n",
    "code": b"__import__('os').system('true')\n",
    "deep": b"[" * 200_000,
    "an archive cut off": b"PK\x03\x04" + b"\x00" * 64,
    "another tool's file": b'{"name": "x", "scripts": {}}',
    "cut off": b'[{"id": "a", "inp',
    "NaN": b"NaN",
}
"""What a reader refuses in one line, whatever the file is called."""

CASE = {"id": "a", "input": "q", "expected": "x"}
OUTPUT = {"system": "default", "case_id": "a", "epoch": 1, "text": "x"}
SCORE = {"framework": "core", "metric": "m", "case_id": "a", "status": "passed", "value": 1.0}
SUITE = (
    "version: 1\nname: s\ngolden_set: cases.jsonl\nsystem: {recorded: o.jsonl}\nchecks: [equals]\n"
)

OURS: dict[str, tuple[str, str]] = {
    "golden_set": ("cases.jsonl", json.dumps(CASE)),
    "outputs": ("v1.outputs.jsonl", json.dumps(OUTPUT)),
    "scores": ("core.jsonl", json.dumps(SCORE)),
    "suite": ("bridge.yaml", SUITE),
}
"""Files of our own formats, by format: no other may be as sure of them."""


def documents_of(path: Path) -> list[Any]:
    """What a file holds, as JSON data, by its ending: the rows of a table, the lines of a JSONL.

    Raises:
        ValueError: If it is of another kind; override ``FormatContract.documents``.
    """
    text = path.read_text("utf-8-sig")
    if path.suffix == ".json":
        return [json.loads(text)]
    if path.suffix == ".jsonl":
        return [[json.loads(line) for line in text.splitlines() if line.strip()]]
    if path.suffix in (".csv", ".tsv"):
        first = text.split("\n", 1)[0]
        mark = max("\t;,", key=first.count)
        return [list(csv.DictReader(io.StringIO(text, newline=""), delimiter=mark))]
    if path.suffix in (".yaml", ".yml"):
        from bridge.files.yaml import load_yaml

        return [load_yaml(path)[0]]
    what = f"{path.name}: what its fields are is not known; override FormatContract.documents"
    raise ValueError(what)
