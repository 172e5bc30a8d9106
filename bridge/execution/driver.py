"""The driver: outputs once, then every framework in workers of its own, then complete rows."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bridge.execution.assemble import assemble, read_found
from bridge.execution.collection import (
    collect_outputs,
    forget_job,
    kept_answers,
    recorded_outputs,
)
from bridge.execution.estimate import refuse_unscorable
from bridge.execution.interpreter import interpreter_of
from bridge.execution.jobs import (
    SHARD,
    Ending,
    is_done,
    read_ending,
    scores_file,
    shards,
    write_job,
)
from bridge.execution.judging import Judges, open_judges
from bridge.execution.plan import Plan, rows_of
from bridge.execution.process import Child, start
from bridge.execution.record import framework_record, known, opening
from bridge.files.outputs import write_outputs
from bridge.files.store import RunStore
from bridge.model.errors import InputError
from bridge.model.job import Job, JobSpec
from bridge.model.output import Output
from bridge.model.run import ExpectedRows, FrameworkRecord, RunRecord
from bridge.model.suite import FrameworkConfig

Progress = Callable[[str, int, int], None]
"""Called with (what, done, owed): ``outputs``, ``judge``, or a framework's name."""

POLL_S = 0.05


@dataclass(slots=True)
class _Work:
    """One job of one framework, on its way."""

    config: FrameworkConfig
    folder: Path
    native_dir: Path
    owed: int
    child: Child | None = None
    started: float = 0.0
    ended: float = 0.0

    @property
    def lines(self) -> int:
        return self.child.lines if self.child is not None else 0


@dataclass(slots=True)
class Drive:
    """A run under way.

    Attributes:
        plan: What to run.
        store: Where it goes.
        workers: Most worker processes at a time.
        resume: Keep outputs and complete scores that are there already.
        progress: Told how far each part is.
        shard: Most cases in one job.
    """

    plan: Plan
    store: RunStore
    workers: int = max(1, os.cpu_count() or 1)
    resume: bool = False
    progress: Progress = lambda _what, _done, _owed: None
    shard: int = SHARD
    _notes: list[str] = field(default_factory=list)

    def run(self) -> RunRecord:
        """Drive the plan to a complete run directory.

        Returns:
            The record, with status ``complete``.

        Raises:
            InputError: If the directory holds something else, the system cannot be imported, or a
                check has nothing to score.
            InfrastructureError: If the disk does not take a file.
            KeyboardInterrupt: Once everything scored so far is on disk.
        """
        recorded = self._recorded()
        self._claim_directory()
        kept = self._kept()
        record = opening(self.plan)
        self.store.write_record(record)
        outputs = self._outputs(kept, recorded)
        expected = rows_of(self.plan, outputs)
        self.store.write_rows(expected)
        record = known(record, self.plan, outputs, expected, self._notes)
        self.store.write_record(record)
        works = self._lay_out(outputs, expected)
        interrupted = False
        with open_judges(self.plan, self.store) as judges:
            try:
                self._ask_ahead(judges, works, outputs)
                self._work_off(works, judges)
            except KeyboardInterrupt:
                interrupted = True
            record = record.model_copy(update={"judges": judges.records()})
        record = self._close(record, works, expected, interrupted)
        if interrupted:
            raise KeyboardInterrupt
        return record

    def _claim_directory(self) -> None:
        root = self.store.root
        if not root.exists() or not any(root.iterdir()):
            return
        if not self.store.exists():
            raise InputError("not empty and no run", where=root, fix="name another --run-dir")
        if not self.resume:
            for name in ("scores", "native", "jobs"):
                shutil.rmtree(root / name, ignore_errors=True)
            reports = root.glob("eval-report.*")
            for path in (self.store.outputs_path, self.store.rows_path, *reports):
                path.unlink(missing_ok=True)

    def _recorded(self) -> list[Output] | None:
        """Recorded outputs, read before an earlier run is cleared; ``None`` for other systems."""
        if not self.plan.suite.system.recorded:
            return None
        outputs, notes = recorded_outputs(self.plan)
        refuse_unscorable(self.plan, outputs)
        self._notes.extend(notes)
        return outputs

    def _kept(self) -> list[Output]:
        """Answers to go on with; the others are gone before the record speaks of this run."""
        if not self.resume or self.plan.suite.system.recorded:
            return []
        kept = kept_answers(self.plan, self.store)
        write_outputs(kept, self.store.outputs_path)
        forget_job(self.store)
        return kept

    def _outputs(self, kept: Sequence[Output], recorded: list[Output] | None) -> list[Output]:
        if recorded is not None:
            write_outputs(recorded, self.store.outputs_path)
            return recorded
        outputs, notes = collect_outputs(
            self.plan, self.store, kept, lambda n, of: self.progress("outputs", n, of)
        )
        self._notes.extend(notes)
        refuse_unscorable(self.plan, outputs)
        return outputs

    def _lay_out(self, outputs: Sequence[Output], expected: Sequence[ExpectedRows]) -> list[_Work]:
        """Write every job that is still owed."""
        rows = {(each.system, each.case_id, each.epoch): len(each.rows) for each in expected}
        groups = list(shards(self.plan.cases, outputs, self.shard))
        works = []
        for config in self.plan.suite.frameworks:
            native = self.store.native_dir(config.name)
            for index, (cases, answers) in enumerate(groups):
                folder = self.store.job_dir(config.name, index)
                work = _Work(
                    config=config,
                    folder=folder,
                    native_dir=native if len(groups) == 1 else native / f"{index:03d}",
                    owed=sum(rows[output.key] for output in answers),
                )
                works.append(work)
                job = Job(spec=self._spec(work, index), cases=cases, outputs=answers)
                if not (self.resume and is_done(job, folder, self.plan.versions[config.name])):
                    write_job(job, folder)
        return works

    def _spec(self, work: _Work, index: int) -> JobSpec:
        suite = self.plan.suite
        return JobSpec(
            framework=work.config.name,
            suite=suite.name,
            shard=index,
            options=work.config.options,
            checks=suite.checks,
            judges=suite.judges,
            native_dir=work.native_dir.absolute(),
            import_dir=self.plan.path.parent.absolute(),
        )

    def _ask_ahead(self, judges: Judges, works: Sequence[_Work], outputs: Sequence[Output]) -> None:
        if any(read_ending(work.folder) is None for work in works):
            judges.ask_ahead(self.plan, outputs, lambda n, of: self.progress("judge", n, of))

    def _work_off(self, works: Sequence[_Work], judges: Judges) -> None:
        """Run the jobs, ``workers`` at a time; while a judge is waited for, none is hung."""
        waiting = [work for work in works if read_ending(work.folder) is None]
        running: list[_Work] = []
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    running.append(self._start(waiting.pop(0), judges.environment))
                excused = judges.busy()
                for work in [w for w in running if w.child and w.child.poll(excused=excused)]:
                    work.ended = time.monotonic()
                    running.remove(work)
                self._tell(works)
                time.sleep(POLL_S)
        finally:
            for work in running:
                if work.child is not None:
                    work.child.kill()

    def _start(self, work: _Work, environment: Mapping[str, str]) -> _Work:
        work.started = time.monotonic()
        work.child = start(
            "bridge.execution.worker",
            work.folder,
            scores_file(work.folder),
            timeout_s=work.config.timeout_s,
            python=interpreter_of(work.config, self.plan.path.parent),
            environment=environment,
        )
        return work

    def _tell(self, works: Sequence[_Work]) -> None:
        for config in self.plan.suite.frameworks:
            own = [work for work in works if work.config is config]
            self.progress(config.name, sum(w.lines for w in own), sum(w.owed for w in own))

    def _close(
        self,
        record: RunRecord,
        works: Sequence[_Work],
        expected: Sequence[ExpectedRows],
        interrupted: bool,
    ) -> RunRecord:
        frameworks = []
        for config in self.plan.suite.frameworks:
            own = [work for work in works if work.config is config]
            frameworks.append(self._finish(config, own, expected, interrupted))
        status = "interrupted" if interrupted else "complete"
        record = record.model_copy(update={"frameworks": tuple(frameworks), "status": status})
        self.store.write_record(record)
        return record

    def _finish(
        self,
        config: FrameworkConfig,
        works: Sequence[_Work],
        expected: Sequence[ExpectedRows],
        interrupted: bool,
    ) -> FrameworkRecord:
        endings = [read_ending(work.folder) for work in works]
        problems = [_problem(work, end) for work, end in zip(works, endings, strict=True)]
        notes = [note for note in problems if note]
        why = "interrupted" if interrupted else "; ".join(notes) or "the framework gave no row"
        assembly = assemble(
            config.name,
            read_found([scores_file(work.folder) for work in works]),
            expected,
            self.plan.suite.checks,
            {case.id: case for case in self.plan.cases},
            f"{config.name}: {why}",
            self.store.scores_path(config.name),
        )
        return framework_record(
            config.name,
            [(work.started, work.ended) for work in works],
            [end or Ending() for end in endings],
            notes,
            assembly,
        )


def _problem(work: _Work, ending: Ending | None) -> str:
    """What went wrong with a job, in one line; "" if nothing did."""
    if ending is not None and ending.error is not None:
        return f"{ending.error}; {ending.fix}" if ending.fix else ending.error
    ended = work.child.how_it_ended() if work.child is not None else ""
    if ended:
        return f"the worker {ended}"
    return "" if ending is not None else "the worker did not finish"
