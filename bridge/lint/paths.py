"""Lint of any path: what a file is, is told by its shape."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from bridge.files.jsonl import explain, parse_object, read_lines, unreadable
from bridge.files.yaml import load_yaml
from bridge.lint.finding import LintFinding
from bridge.lint.golden import lint_golden_set
from bridge.lint.suite import lint_suite
from bridge.model.baseline import Baseline
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.model.values import Model
from bridge.model.verdict import Verdict

SUFFIXES = (".jsonl", ".yaml", ".yml", ".json")


def lint_path(path: Path) -> tuple[int, list[LintFinding]]:
    """Lint a file, or every file of ours below a folder.

    Returns:
        The number of files looked at, and the findings.

    Raises:
        InputError: If the path cannot be read.
    """
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix in SUFFIXES and p.is_file())
        results = [lint_file(file, named=False) for file in files]
        known = [found for found in results if found is not None]
        return len(known), [finding for found in known for finding in found]
    return 1, lint_file(path, named=True) or []


def lint_file(path: Path, *, named: bool) -> list[LintFinding] | None:
    """Lint one file; ``None`` if it is none of ours and was not named by the user."""
    try:
        if path.suffix == ".jsonl":
            return _lint_lines(path, named)
        return _lint_document(path, named)
    except InputError as error:
        place = Path(error.where) if error.where else path
        return [LintFinding("error", "unreadable", place, error.line, error.what)]


def _lint_lines(path: Path, named: bool) -> list[LintFinding] | None:
    first = next(iter(read_lines(path)), None)
    if first is None:
        return [LintFinding("error", "empty", path, None, "holds nothing")]
    try:
        keys = set(parse_object(first[1], path, first[0]))
    except InputError:
        return lint_golden_set(path) if named else None
    if {"metric", "status"} <= keys:
        return _each_line(path, Score)
    if "case_id" in keys:
        return _each_line(path, Output)
    return lint_golden_set(path) if named or {"id", "input"} & keys else None


def _each_line(path: Path, model: type[Model]) -> list[LintFinding]:
    findings = []
    for number, line in read_lines(path):
        try:
            model.model_validate(parse_object(line, path, number))
        except InputError as error:
            findings.append(LintFinding("error", "schema", path, number, error.what))
        except ValidationError as error:
            findings.append(LintFinding("error", "schema", path, number, explain(error)))
    return findings


def _lint_document(path: Path, named: bool) -> list[LintFinding] | None:
    if not path.is_file():
        raise unreadable(path, FileNotFoundError(2, "No such file or directory"))
    data, _ = load_yaml(path)
    keys = set(data) if isinstance(data, dict) else set()
    if {"golden_set", "system"} & keys:
        return lint_suite(path)
    if {"verdict", "metrics"} <= keys:
        return _whole(path, Verdict)
    if {"scores", "cases"} <= keys:
        return _whole(path, Baseline)
    if named:
        return [LintFinding("error", "shape", path, None, "no suite, baseline or report of ours")]
    return None


def _whole(path: Path, model: type[Model]) -> list[LintFinding]:
    try:
        model.model_validate_json(path.read_bytes())
    except ValidationError as error:
        return [LintFinding("error", "schema", path, None, explain(error))]
    return []
