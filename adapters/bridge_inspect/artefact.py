"""The native artefact: an Inspect log (``.eval``), written sample by sample.

Inspect's own recorder rebuilds its list of pending summaries for each sample and makes a new
compressor for each member; writing the same members in one pass costs a tenth. The layout is that
of Inspect's log format version 2.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bridge.files.jsonl import unwritable
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.plugin.carry import KEY, held_metadata
from bridge.plugin.scoring.shared import SharedMetric

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample, EvalSpec

SOLVER = "recorded_outputs"

MAX_MEMBER_NAME = 60_000
"""Longest name of a zip member, in bytes."""


def now() -> str:
    """The time as Inspect writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def to_spec(
    task: str, outputs: Sequence[Output], metrics: Iterable[SharedMetric], system: str
) -> EvalSpec:
    """The head of a log: the task, its samples, its scorers with their checks."""
    from inspect_ai.log import EvalSpec

    ids = list(dict.fromkeys(output.case_id for output in outputs))
    mean = {"name": "inspect_ai/mean", "options": {}}
    scorers = [
        {
            "name": each.metric,
            "options": {} if each.check is None else {"check": each.check.model_dump(mode="json")},
            "metrics": [mean],
            "metadata": {},
        }
        for each in metrics
    ]
    return EvalSpec.model_validate(
        {
            "created": now(),
            "task": task,
            "task_display_name": task,
            "task_id": uuid4().hex,
            "run_id": uuid4().hex,
            "dataset": {"name": task, "samples": len(ids), "sample_ids": ids},
            "model": "none/none",
            "config": {"epochs": max(output.epoch for output in outputs)},
            "solver": SOLVER,
            "tags": [KEY],
            "metadata": {KEY: {"system": system, "version": metadata.version("bridge-evals")}},
            "packages": {"inspect_ai": metadata.version("inspect-ai")},
            "scorers": scorers,
        }
    )


def to_log(spec: EvalSpec, samples: list[EvalSample], started: str) -> EvalLog:
    """A finished log of these samples, its results not yet computed."""
    from inspect_ai.log import EvalLog, EvalPlan, EvalPlanStep, EvalStats

    return EvalLog(
        status="success",
        eval=spec,
        plan=EvalPlan(steps=[EvalPlanStep(solver=SOLVER)]),
        stats=EvalStats(started_at=started, completed_at=now()),
        samples=samples,
    )


class LogFile:
    """A log being written; it appears under its name once :meth:`finish` has been called.

    Raises:
        InfrastructureError: From every method, if the disk does not take it.
    """

    def __init__(self, path: Path, spec: EvalSpec) -> None:
        self._path = path
        self._partial = path.with_name(f".{path.name}.partial")
        self._spec = spec
        self._started = now()
        self._summaries: list[Any] = []
        self._light: list[EvalSample] = []
        self._seen: set[tuple[int | str, int]] = set()
        head = to_log(spec, [], self._started)
        start = {"version": head.version, "eval": head.eval, "plan": head.plan}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._zip = zipfile.ZipFile(
                self._partial, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=1
            )
        except OSError as error:
            raise unwritable(path, error) from None
        self._write("_journal/start.json", start)

    def add(self, sample: EvalSample) -> None:
        """Write one scored sample.

        Raises:
            InputError: If the sample and epoch are there already.
        """
        from inspect_ai.log import EvalSample

        if (sample.id, sample.epoch) in self._seen:
            raise InputError(f"sample {sample.id!r} stands twice in epoch {sample.epoch}")
        self._seen.add((sample.id, sample.epoch))
        self._write(_member(sample), sample)
        scores = {
            name: score.model_copy(update={"metadata": None})
            for name, score in (sample.scores or {}).items()
        }
        thin = {"scores": scores, "metadata": held_metadata(sample.metadata)}
        self._summaries.append(sample.model_copy(update=thin).summary())
        self._light.append(
            EvalSample(id=sample.id, epoch=sample.epoch, input="", target="", scores=scores)
        )

    def finish(self) -> None:
        """Compute the results, write the head, and put the file in its place."""
        from inspect_ai.log import recompute_metrics

        log = to_log(self._spec, self._light, self._started)
        recompute_metrics(log)
        self._write("_journal/summaries/1.json", self._summaries)
        self._write("summaries.json", self._summaries)
        self._write("reductions.json", log.reductions or [])
        self._write("header.json", log.model_copy(update={"samples": None, "reductions": None}))
        try:
            self._zip.close()
            self._partial.replace(self._path)
        except OSError as error:
            raise unwritable(self._path, error) from None

    def discard(self) -> None:
        """Take away what was written, if it was not finished."""
        with suppress(OSError, ValueError):
            self._zip.close()
        self._partial.unlink(missing_ok=True)

    def _write(self, member: str, value: Any) -> None:
        from pydantic_core import to_json

        try:
            self._zip.writestr(member, to_json(value, exclude_none=True, fallback=lambda _: None))
        except OSError as error:
            raise unwritable(self._path, error) from None


def _member(sample: EvalSample) -> str:
    """Inspect's name for a sample's member, unless a zip archive cannot hold that."""
    name = f"samples/{sample.id}_epoch_{sample.epoch}.json"
    if "\x00" in name or len(name.encode()) > MAX_MEMBER_NAME:
        return f"samples/{sample.uuid}_epoch_{sample.epoch}.json"
    return name
