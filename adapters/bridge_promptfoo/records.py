"""The records of a promptfoo results file, as far as they are read; everything else is skipped."""

from __future__ import annotations

from typing import Any

import msgspec

ERROR = 2
"""``failureReason`` of a row that could not be scored."""
VERSION = 3
"""Version of the results that are read."""


class Component(msgspec.Struct):
    """What one assertion found. An assert-set has no assertion of its own."""

    passed: bool | None = msgspec.field(name="pass", default=None)
    score: Any = None
    reason: str | None = None
    assertion: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None


class Grading(msgspec.Struct, rename="camel"):
    """What all assertions of a row found."""

    component_results: list[Component | None] | None = None
    metadata: dict[str, Any] | None = None


class TestCase(msgspec.Struct):
    """The test behind a row."""

    __test__ = False  # no test class for pytest

    description: str | None = None
    vars: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    assertions: list[dict[str, Any]] | None = msgspec.field(name="assert", default=None)


class Prompt(msgspec.Struct):
    """The prompt of a row, rendered."""

    raw: Any = None


class Row(msgspec.Struct, rename="camel"):
    """One test in one column. ``error`` is also set where an assertion just failed."""

    test_idx: int = -1
    prompt_idx: int = 0
    success: bool | None = None
    error: str | None = None
    failure_reason: int | None = None
    latency_ms: Any = None
    response: dict[str, Any] | None = None
    grading_result: Grading | None = None
    test_case: TestCase = msgspec.field(default_factory=TestCase)
    prompt: Prompt = msgspec.field(default_factory=Prompt)
    provider: Any = None


class Column(msgspec.Struct):
    """A prompt with a provider."""

    label: Any = None
    raw: Any = None
    provider: Any = None


class Stats(msgspec.Struct):
    """How many rows the head speaks of."""

    successes: int = 0
    failures: int = 0
    errors: int = 0


class Results(msgspec.Struct):
    """All rows, in the order they were finished."""

    version: int = 0
    prompts: list[Column] = msgspec.field(default_factory=list)
    results: list[Row] = msgspec.field(default_factory=list)
    stats: Stats | None = None


class Origin(msgspec.Struct, rename="camel"):
    """What wrote the file."""

    promptfoo_version: str = ""


class File(msgspec.Struct):
    """A results file."""

    results: Results
    metadata: Origin = msgspec.field(default_factory=Origin)


class _Version(msgspec.Struct):
    version: int = 0


class _Head(msgspec.Struct):
    results: _Version


_HEAD = msgspec.json.Decoder(_Head)
_FILE = msgspec.json.Decoder(File)
_ROW = msgspec.json.Decoder(Row)


def decode(content: bytes) -> File:
    """A results file as a record.

    Raises:
        ValueError: If it is no JSON, holds no results, or those of another version.
        RecursionError: If it is nested too deeply.
    """
    version = _HEAD.decode(content).results.version
    if version != VERSION:
        raise ValueError(f"results of version {version}, and only version {VERSION} can be read")
    return _FILE.decode(content)


def decode_row(line: bytes) -> Row | None:
    """A line of a JSONL export; ``None`` where it is none, as while the file is written anew."""
    try:
        return _ROW.decode(line)
    except msgspec.MsgspecError:
        return None
