"""Jobs on disk: what a worker is fed (spec, cases, outputs) and drained by (scores, ending)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from bridge.files.jsonl import read_lines, write_atomically
from bridge.files.outputs import output_line
from bridge.judge.errors import kind_of
from bridge.model.case import Case
from bridge.model.job import Job, JobSpec
from bridge.model.output import Output
from bridge.model.values import EMPTY, Json, Model, Text

SHARD = 2000
"""Cases in one job."""


class Ending(Model):
    """What a worker says at its end: ``ending.json``.

    Attributes:
        error: One line, where the job broke.
        fix: What to do about it.
        exit_code: 0, or the exit code that the error asks for.
        version: The framework's version.
        route: The native route taken, as the adapter recorded it.
        cpu_s: CPU seconds of the worker and its children.
        peak_rss_mb: Largest memory of the worker, in MB.
    """

    error: Text | None = None
    fix: Text = ""
    exit_code: int = 0
    version: Text = ""
    route: Json = EMPTY
    cpu_s: float = 0.0
    peak_rss_mb: float = 0.0


def shards(
    cases: Sequence[Case], outputs: Sequence[Output], size: int = SHARD
) -> Iterator[tuple[tuple[Case, ...], tuple[Output, ...]]]:
    """Cases in groups of at most ``size``, each with all outputs to them."""
    by_case: dict[str, list[Output]] = {}
    for output in outputs:
        by_case.setdefault(output.case_id, []).append(output)
    for start in range(0, len(cases), size):
        group = tuple(cases[start : start + size])
        yield group, tuple(each for case in group for each in by_case.get(case.id, ()))


def write_job(job: Job, folder: Path) -> None:
    """Lay a job out in a folder of its own, emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    write_atomically(folder / "job.json", [job.spec.model_dump_json(indent=2), "\n"])
    cases = (f"{case.model_dump_json(exclude_defaults=True)}\n" for case in job.cases)
    write_atomically(folder / "cases.jsonl", cases)
    write_atomically(folder / "outputs.jsonl", (f"{output_line(each)}\n" for each in job.outputs))


def read_job(folder: Path) -> Job:
    """Read what :func:`write_job` laid out."""
    return Job(
        spec=JobSpec.model_validate_json((folder / "job.json").read_bytes()),
        cases=tuple(
            Case.model_validate_json(line) for _, line in read_lines(folder / "cases.jsonl")
        ),
        outputs=tuple(
            Output.model_validate_json(line) for _, line in read_lines(folder / "outputs.jsonl")
        ),
    )


def is_done(job: Job, folder: Path, version: str) -> bool:
    """Whether an earlier run finished this very job with this version of the framework.

    One of whose rows a judge failed on is not finished: the judge may answer now.
    """
    ending = read_ending(folder)
    if ending is None or ending.error is not None or _judge_failed(folder):
        return False
    return ending.version == version and read_job(folder) == job


class _Fault(msgspec.Struct, frozen=True, gc=False):
    error: str | None = None


_FAULTS = msgspec.json.Decoder(_Fault)


def _judge_failed(folder: Path) -> bool:
    path = scores_file(folder)
    if not path.is_file() or b"judge_error[" not in path.read_bytes():
        return False
    rows = (_FAULTS.decode(line) for _, line in read_lines(path))
    return any(row.error is not None and kind_of(row.error) is not None for row in rows)


def scores_file(folder: Path) -> Path:
    """Where the worker appends its score rows."""
    return folder / "scores.jsonl"


def read_ending(folder: Path) -> Ending | None:
    """What the worker said at its end; ``None`` if it did not get to it."""
    path = folder / "ending.json"
    return Ending.model_validate_json(path.read_bytes()) if path.is_file() else None


def write_ending(ending: Ending, folder: Path) -> None:
    """Say how the job ended."""
    write_atomically(folder / "ending.json", [ending.model_dump_json(indent=2), "\n"])
