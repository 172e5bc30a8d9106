"""Suites: ``bridge.yaml`` (or JSON)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bridge.files.digest import case_digest, set_digest
from bridge.files.golden import GoldenSet
from bridge.files.jsonl import read_object, write_atomically
from bridge.files.yaml import Loc, dump_yaml, line_of, load_yaml
from bridge.model.case import Case
from bridge.model.errors import InputError
from bridge.model.explain import explain, location
from bridge.model.suite import Suite

DIGEST = "sha256:"
SHORTEST = 8
"""Fewest hexadecimal digits that name a version."""


def read_suite(path: Path) -> Suite:
    """Read a suite.

    Raises:
        InputError: With the line of the first fault.
    """
    data, lines = load_document(path)
    if not isinstance(data, dict):
        raise InputError("not a suite (no mapping)", where=path, fix="see docs/suite.md")
    try:
        return Suite.model_validate(data)
    except ValidationError as error:
        line = line_of(location(error), lines)
        fix = "see docs/schemas/suite.schema.json"
        raise InputError(explain(error), where=path, line=line, fix=fix) from None


def line_of_check(path: Path, index: int) -> int | None:
    """The line of a suite's check, 0-based among its checks; ``None`` in JSON."""
    _, lines = load_document(path)
    return line_of(("checks", index), lines)


def load_document(path: Path) -> tuple[Any, dict[Loc, int]]:
    """A YAML or JSON file, and the line of each value where it is YAML.

    Raises:
        InputError: If it cannot be read or is neither.
    """
    return (read_object(path), {}) if path.suffix == ".json" else load_yaml(path)


def write_suite(suite: Suite, path: Path) -> None:
    """Write a suite as YAML, atomically, in its short forms."""
    data = suite.model_dump(mode="json", exclude_defaults=True)
    sets = [each["path"] if len(each) == 1 else each for each in data["golden_set"]]
    system = data["system"]
    if len(system.get("recorded", ())) == 1:
        system = {**system, "recorded": system["recorded"][0]}
    whole = {
        "version": suite.version,
        "name": suite.name,
        "golden_set": sets[0] if len(sets) == 1 else sets,
        "system": system,
        "frameworks": [_short(each) for each in data.get("frameworks", [])] or None,
    }
    rest = {key: value for key, value in data.items() if key not in whole}
    written = {key: value for key, value in whole.items() if value is not None}
    write_atomically(path, [dump_yaml({**written, **rest})])


def _short(framework: dict[str, Any]) -> Any:
    return framework["name"] if len(framework) == 1 else framework


def resolve(suite_path: Path, name: str) -> Path:
    """A path in a suite, which is relative to the suite's own folder; without needless ``..``."""
    path = suite_path.parent / Path(name).expanduser()
    short = Path(os.path.normpath(path))
    return short if short.resolve() == path.resolve() else path


def read_suite_cases(suite: Suite, suite_path: Path) -> GoldenSet:
    """The golden sets a suite names, read into one.

    Raises:
        InputError: On a faulty golden set, or one that is not the version the suite asks for.
    """
    golden = GoldenSet()
    for ref in suite.golden_set:
        path = resolve(suite_path, ref.path)
        before = len(golden.cases)
        golden.add(path)
        if ref.version is not None:
            _refuse_other_version(ref.version, golden.cases[before:], path)
    return golden


def _refuse_other_version(version: str, cases: Sequence[Case], path: Path) -> None:
    found = set_digest(map(case_digest, cases))
    wanted = version.removeprefix(DIGEST)
    if len(wanted) < SHORTEST or not found.removeprefix(DIGEST).startswith(wanted):
        fix = f"take the old file, or write version: {found[: len(DIGEST) + 12]}"
        raise InputError(f"not version {version}, which the suite asks for", where=path, fix=fix)
