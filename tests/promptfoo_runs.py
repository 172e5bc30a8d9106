"""Runs of the real promptfoo: ours, and other people's configs as promptfoo takes them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bridge.files.scores import score_line
from bridge.model import Bundle, Job
from bridge.model.errors import BridgeError
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import get_framework
from bridge_promptfoo.format import FORMAT
from bridge_promptfoo.info import INFO
from bridge_promptfoo.launch import Evaluation, environment

Rows = dict[tuple[Any, ...], dict[str, Any]]
"""Score rows as plain data by (system, case, epoch, turn, metric), the framework left out."""

PRIVACY = [(name, value) for name, value in INFO.environment if "DISABLE_TELEMETRY" in name]
"""What other people's configs are run with: their own defaults, but no telemetry."""


def make_job(
    folder: Path,
    cases: Iterable[Mapping[str, Any]],
    outputs: Iterable[Mapping[str, Any]],
    checks: Iterable[Any],
    **files: str,
) -> Job:
    """A job in ``folder``, with the Python files it may import scorers from."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return Job.model_validate(
        {
            "spec": {
                "framework": "promptfoo",
                "suite": "s",
                "checks": list(checks),
                "native_dir": folder / "native",
                "import_dir": folder,
            },
            "cases": list(cases),
            "outputs": list(outputs),
        }
    )


def run_job(job: Job, framework: str = "promptfoo") -> tuple[Rows, str]:
    """The rows of a job, and how it broke ("" if it did not)."""
    job.spec.native_dir.mkdir(parents=True, exist_ok=True)
    rows: Rows = {}
    try:
        with importable(job.spec.import_dir):
            for score in get_framework(framework).run(job):
                assert tuple(score.key[1:]) not in rows
                rows[tuple(score.key[1:])] = plain(score)
    except BridgeError as error:
        return rows, str(error)
    return rows, ""


@contextmanager
def importable(folder: Path | None) -> Iterator[None]:
    """A folder on the import path, as a worker has the suite's."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def plain(score: Any) -> dict[str, Any]:
    """A score row without its framework, as its file holds it."""
    row: dict[str, Any] = json.loads(score_line(score))
    return {name: value for name, value in row.items() if not name.startswith("framework")}


def read_back(path: Path) -> tuple[Rows, Bundle, tuple[str, ...]]:
    """Rows, bundle and notes of a results file."""
    bundle, report = FORMAT.read(path, ReadOptions())
    return {tuple(s.key[1:]): plain(s) for s in bundle.scores}, bundle, report.notes


def evaluate(folder: Path, config: Mapping[str, Any], **env: str) -> tuple[Any, int | None]:
    """Someone else's config through ``promptfoo eval``: results file and exit code."""
    path = folder / "own.yaml"
    path.write_text(json.dumps(config), encoding="utf-8")
    (folder / ".promptfoo").mkdir(exist_ok=True)
    switches = [*PRIVACY, ("PROMPTFOO_CONFIG_DIR", "{native_dir}/.promptfoo"), *env.items()]
    run = Evaluation(path, environment(folder, None, switches))
    for _ in run.lines():
        pass
    return json.loads(run.results.read_bytes()), run.exit_code


def native_rows(results: Any) -> list[Any]:
    """promptfoo's own rows in the order of its tests."""
    rows: list[Any] = results["results"]["results"]
    return sorted(rows, key=lambda row: (row["testIdx"], row["promptIdx"]))
