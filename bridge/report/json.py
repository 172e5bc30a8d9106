"""``eval-report.json``: the verdict as data, for the next step of a pipeline."""

from __future__ import annotations

from pathlib import Path

from bridge.files.jsonl import write_atomically
from bridge.model.verdict import Verdict
from bridge.report.inert import json_text

NAME = "eval-report.json"


def to_json(verdict: Verdict) -> str:
    """The verdict as indented JSON; ``passed`` is true exactly when the gate exits 0."""
    return json_text(verdict.model_dump_json(indent=2)) + "\n"


def write_json(verdict: Verdict, folder: Path) -> Path:
    """Write ``eval-report.json`` into a folder."""
    path = folder / NAME
    write_atomically(path, [to_json(verdict)])
    return path
