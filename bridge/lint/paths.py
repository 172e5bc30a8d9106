"""Lint of any path: what a file is, is told by its shape."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from bridge.files.jsonl import read_object, unreadable
from bridge.files.shape import DOCUMENTS, LINES, Shape, document_shape, line_shape
from bridge.files.suite import load_document
from bridge.lint.finding import LintFinding
from bridge.lint.golden import lint_golden_set
from bridge.lint.labels import lint_labels
from bridge.lint.lines import read_on
from bridge.lint.suite import lint_suite
from bridge.model.errors import InputError
from bridge.model.values import Model

SUFFIXES = (".jsonl", ".yaml", ".yml", ".json")
HEAD = 64 * 1024
"""Bytes of a file by which its shape is told."""
SURE = 0.35
"""How sure it must be that a file in a folder is ours, if it is of a kind in ``AMBIGUOUS``."""
AMBIGUOUS = ("baseline", "case", "label", "output")
"""Kinds of file whose keys other tools' files have too; the keys of all other kinds are ours."""


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
        return [LintFinding.of(error, "unreadable", path)]


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError as error:
        raise unreadable(path, error) from None


def _is_ours(shape: Shape | None) -> bool:
    return shape is not None and (shape.kind not in AMBIGUOUS or shape.certainty >= SURE)


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
    findings: list[LintFinding] = []
    for _ in read_on(path, model, findings):
        pass
    return findings


def _lint_document(path: Path, head: bytes, named: bool) -> list[LintFinding] | None:
    shape = document_shape(head)
    if shape is None or (not named and not _is_ours(shape)):
        return _unknown(path) if named else None
    if shape.kind == "suite":
        return lint_suite(path)
    model = next(model for kind, model in DOCUMENTS.items() if kind == shape.kind)
    try:
        model.model_validate(read_object(path))
    except ValidationError as error:
        return [LintFinding.of(error, "schema", path)]
    return []


def _unknown(path: Path) -> list[LintFinding]:
    """What is said of a file that the user named and that is nothing we know.

    Raises:
        InputError: If it is not even YAML or JSON.
    """
    if path.suffix in SUFFIXES:
        load_document(path)
    message = "no golden set, suite, run, baseline or report; name one, or convert it first"
    return [LintFinding("error", "shape", path, None, message)]
