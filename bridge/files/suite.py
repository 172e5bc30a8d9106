"""Suites: ``bridge.yaml`` (or JSON)."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from bridge.files.golden import GoldenSet, read_golden_set
from bridge.files.jsonl import explain
from bridge.files.yaml import line_of, load_yaml
from bridge.model.errors import InputError
from bridge.model.suite import Suite


def read_suite(path: Path) -> Suite:
    """Read a suite.

    Raises:
        InputError: With the line of the first fault.
    """
    data, lines = load_yaml(path)
    if not isinstance(data, dict):
        raise InputError("not a suite (no mapping)", where=path, fix="see docs/suite.md")
    try:
        return Suite.model_validate(data)
    except ValidationError as error:
        line = line_of(error.errors()[0]["loc"], lines)
        fix = "see docs/schemas/suite.schema.json"
        raise InputError(explain(error), where=path, line=line, fix=fix) from None


def resolve(suite_path: Path, name: str) -> Path:
    """A path in a suite, which is relative to the suite's own folder."""
    return suite_path.parent / Path(name).expanduser()


def read_suite_cases(suite: Suite, suite_path: Path) -> GoldenSet:
    """The golden sets a suite names, read into one."""
    return read_golden_set(*(resolve(suite_path, ref.path) for ref in suite.golden_set))
