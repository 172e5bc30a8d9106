"""``eval-report.json``: the verdict as data, for the next step of a pipeline."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import ValidationError

from bridge.files.jsonl import read_whole
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.verdict import Verdict
from bridge.report.inert import json_text

MAX_BYTES = 256 * 1024**2
"""Largest report read, in bytes."""

_HEAD = re.compile(rb'\s*\{\s*"passed"\s*:\s*(true|false)\s*,\s*"verdict"\s*:')


def to_json(verdict: Verdict) -> str:
    """The verdict as indented JSON; ``passed`` is true exactly when the gate exits 0."""
    return json_text(verdict.model_dump_json(indent=2)) + "\n"


def read_verdict(path: Path) -> Verdict | None:
    """The verdict in an ``eval-report.json``; ``None`` if the file is something else.

    Raises:
        InputError: If it is a report, but damaged.
    """
    text = read_whole(path, MAX_BYTES, "name the run instead")
    if not _HEAD.match(text):
        return None
    try:
        return Verdict.model_validate_json(text)
    except ValidationError as error:
        raise InputError(explain(error), where=path, fix="make it anew: bridge gate") from None
