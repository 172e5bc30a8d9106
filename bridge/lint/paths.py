"""Lint of any path: what a file is, is told by its shape."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from bridge.files.jsonl import parse_object, read_lines, read_object, unreadable
from bridge.files.shape import DOCUMENTS, LINES, Shape, document_shape, line_shape
from bridge.lint.finding import LintFinding
from bridge.lint.golden import lint_golden_set
from bridge.lint.labels import lint_labels
from bridge.lint.suite import lint_suite
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.values import Model

SUFFIXES = (".jsonl", ".yaml", ".yml", ".json")
HEAD = 64 * 1024
"""Bytes of a file by which its shape is told."""
OURS = 0.35
"""How sure it must be that a file in a folder is ours where its keys are everybody's."""
EVERYBODYS = ("baseline", "case", "label", "output")


def lint_path(path: Path) -> tuple[int, list[LintFinding]]:
    """Lint a file, or every file of ours below a folder.

    Hidden folders, ``node_modules`` and what a run keeps of its workers are left out.

    Returns:
        The number of files looked at, and the findings.
    """
    if path.is_dir():
        results = [lint_file(file, named=False) for file in sorted(_files(path))]
        known = [found for found in results if found is not None]
        return len(known), [finding for found in known for finding in found]
    return 1, lint_file(path, named=True) or []


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        kept_of_run = {"jobs", "native"} if "run.json" in names else set()
        folders[:] = [
            name
            for name in folders
            if not name.startswith((".", "__")) and name not in {"node_modules", *kept_of_run}
        ]
        yield from (Path(folder, name) for name in names if name.endswith(SUFFIXES))


def lint_file(path: Path, *, named: bool) -> list[LintFinding] | None:
    """Lint one file; ``None`` if it is none of ours and was not named by the user."""
    try:
        head = _head(path)
        if path.suffix == ".jsonl":
            return _lint_lines(path, head, named)
        return _lint_document(path, head, named)
    except InputError as error:
        place = Path(error.where) if error.where else path
        return [LintFinding("error", "unreadable", place, error.line, error.what)]


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError as error:
        raise unreadable(path, error) from None


def _is_ours(shape: Shape | None) -> bool:
    return shape is not None and (shape.kind not in EVERYBODYS or shape.certainty >= OURS)


def _lint_lines(path: Path, head: bytes, named: bool) -> list[LintFinding] | None:
    if not head.strip():
        return [LintFinding("error", "empty", path, None, "holds nothing")]
    shape = line_shape(head)
    if not named and not _is_ours(shape):
        return None
    if shape is None or shape.kind == "case":
        return lint_golden_set(path)
    if shape.kind == "label":
        return lint_labels(path)
    return _each_line(path, next(model for kind, model in LINES.items() if kind == shape.kind))


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


def _lint_document(path: Path, head: bytes, named: bool) -> list[LintFinding] | None:
    shape = document_shape(head)
    if shape is None or (not named and not _is_ours(shape)):
        message = "no suite, run, baseline or report of ours"
        return [LintFinding("error", "shape", path, None, message)] if named else None
    if shape.kind == "suite":
        return lint_suite(path)
    model = next(model for kind, model in DOCUMENTS.items() if kind == shape.kind)
    try:
        model.model_validate(read_object(path))
    except ValidationError as error:
        return [LintFinding("error", "schema", path, None, explain(error))]
    return []
