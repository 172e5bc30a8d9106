"""The run directory: ``run.json``, ``rows.jsonl``, ``outputs.jsonl``, ``scores/``, ``native/``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from bridge.files.jsonl import read_models, read_object, write_atomically
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.run import ExpectedRows, RunRecord


@dataclass(frozen=True, slots=True)
class RunStore:
    """The files of one run."""

    root: Path

    @property
    def record_path(self) -> Path:
        """``run.json``."""
        return self.root / "run.json"

    @property
    def rows_path(self) -> Path:
        """``rows.jsonl``: the expected rows."""
        return self.root / "rows.jsonl"

    @property
    def outputs_path(self) -> Path:
        """``outputs.jsonl``."""
        return self.root / "outputs.jsonl"

    @property
    def judge_cache_path(self) -> Path:
        """``judge/replies.sqlite``: what judges answered, kept from run to run."""
        return self.root / "judge" / "replies.sqlite"

    @property
    def judge_ledger_path(self) -> Path:
        """``judge/ledger.jsonl``: what judges were asked and what it took."""
        return self.root / "judge" / "ledger.jsonl"

    def scores_path(self, framework: str) -> Path:
        """``scores/<framework>.jsonl``."""
        return self.root / "scores" / f"{safe_name(framework)}.jsonl"

    def native_dir(self, framework: str) -> Path:
        """``native/<framework>/``."""
        return self.root / "native" / safe_name(framework)

    def job_dir(self, framework: str, shard: int) -> Path:
        """``jobs/<framework>-<shard>/``: what a worker is fed and drained by."""
        return self.root / "jobs" / f"{safe_name(framework)}-{shard:03d}"

    def exists(self) -> bool:
        """Whether this is a run directory."""
        return self.record_path.is_file()

    def write_record(self, record: RunRecord) -> None:
        """Write ``run.json``."""
        write_atomically(self.record_path, [record.model_dump_json(indent=2), "\n"])

    def read_record(self) -> RunRecord:
        """Read ``run.json``.

        Raises:
            InputError: If it is not there or not one of ours.
        """
        try:
            return RunRecord.model_validate(read_object(self.record_path))
        except ValidationError as error:
            fix = "name a run directory made by bridge run"
            raise InputError(explain(error), where=self.record_path, fix=fix) from None

    def write_rows(self, rows: Iterable[ExpectedRows]) -> None:
        """Write the expected rows."""
        write_atomically(self.rows_path, (f"{each.model_dump_json()}\n" for each in rows))

    def read_rows(self) -> Iterator[ExpectedRows]:
        """Stream the expected rows.

        Raises:
            InputError: If the run was broken off before they were known.
        """
        if not self.rows_path.is_file():
            what, fix = "the run was broken off before anything was scored", "run it again"
            raise InputError(what, where=self.root, fix=fix)
        return (row for _, row in read_models(self.rows_path, ExpectedRows))


MOST_NAME = 120
"""UTF-8 bytes of a name that a file name keeps; file systems take 255 with all that is added."""


def safe_name(name: str) -> str:
    """A name as a file name: everything but letters, digits, ``.``, ``_`` and ``-`` replaced.

    Of a name that is too long for a file system, the beginning and a digest of the whole.
    """
    kept = "".join(char if char.isalnum() or char in "._-" else "_" for char in name)
    kept = kept.lstrip(".") or "_"
    if len(kept.encode()) <= MOST_NAME:
        return kept
    beginning = kept.encode()[:MOST_NAME].decode(errors="ignore")
    return f"{beginning}-{sha256(kept.encode()).hexdigest()[:12]}"
