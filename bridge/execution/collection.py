"""Where a run's outputs come from: recorded ones, or a system asked in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bridge.execution.collector import Question, write_collection
from bridge.execution.jobs import read_ending
from bridge.execution.plan import Plan, rows_of
from bridge.execution.process import Child, start
from bridge.files.digest import case_digest
from bridge.files.jsonl import read_lines
from bridge.files.outputs import read_outputs, write_outputs
from bridge.files.store import RunStore
from bridge.files.suite import resolve
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.model.system import SystemConfig
from bridge.scorers.evaluate import failure_of

Tick = Callable[[int, int], None]
"""Called with (answers so far, answers owed)."""


def recorded_outputs(plan: Plan) -> tuple[list[Output], list[str]]:
    """The recorded outputs to the plan's cases, and notes on those that fit none.

    An answer that should be there and is not becomes an output with an error.
    """
    paths = [resolve(plan.path, name) for name in plan.suite.system.recorded]
    recorded = read_outputs(*paths)
    if not recorded:
        raise InputError("holds no output", where=paths[0], fix="record outputs first")
    known = {case.id for case in plan.golden.cases}
    strangers = [output.case_id for output in recorded if output.case_id not in known]
    notes = []
    if strangers:
        notes.append(
            f"{len(strangers)} recorded outputs fit no case of the golden set "
            f"(first: {strangers[0]!r})"
        )
    systems = list(dict.fromkeys(output.system for output in recorded))
    epochs = max(plan.suite.epochs, *(output.epoch for output in recorded))
    by_key = {output.key: output for output in recorded}
    return _complete(plan, systems, epochs, by_key, "no output was recorded for it"), notes


def _complete(
    plan: Plan,
    systems: Iterable[str],
    epochs: int,
    by_key: dict[tuple[str, str, int], Output],
    why_missing: str,
) -> list[Output]:
    return [
        by_key.get((system, case.id, epoch))
        or Output(system=system, case_id=case.id, epoch=epoch, error=why_missing)
        for system in systems
        for case in plan.cases
        for epoch in range(1, epochs + 1)
    ]


def kept_answers(plan: Plan, store: RunStore) -> list[Output]:
    """Answers of an earlier run in this directory, of the same system to the same cases.

    Those that a run broken off while it asked left in its job are among them.
    """
    if not (store.exists() and store.rows_path.is_file()):
        return []
    if _identity(store.read_record().suite.system) != _identity(plan.suite.system):
        return []
    then = {row.case_id: row.digest for row in store.read_rows()}
    same = {case.id for case in plan.cases if then.get(case.id) == case_digest(case)}
    written = read_outputs(store.outputs_path) if store.outputs_path.is_file() else []
    return [each for each in (*written, *_answers(_folder(store))) if each.case_id in same]


def forget_job(store: RunStore) -> None:
    """Remove what an earlier run's job left; its answers are kept by now, or are no good."""
    for stale in ("outputs.jsonl", "ending.json"):
        (_folder(store) / stale).unlink(missing_ok=True)


def _folder(store: RunStore) -> Path:
    return store.root / "jobs" / "system"


def _identity(system: SystemConfig) -> dict[str, object]:
    """What answers depend on: all but how quickly they are asked for."""
    return system.model_dump(exclude={"concurrency", "timeout_s"})


def collect_outputs(
    plan: Plan, store: RunStore, kept: Sequence[Output], tick: Tick
) -> tuple[list[Output], list[str]]:
    """Ask the system for every answer that an earlier run did not get, or got with an error.

    Raises:
        InputError: If the system cannot be imported.
        KeyboardInterrupt: After ending the system's process; answers so far are on disk.
    """
    name = plan.suite.system.name
    cases = {case.id: case for case in plan.cases}
    by_key = {each.key: each for each in kept if failure_of(cases[each.case_id], each) is None}
    questions = [
        Question(epoch=epoch, case=case)
        for case in plan.cases
        for epoch in range(1, plan.suite.epochs + 1)
        if (name, case.id, epoch) not in by_key
    ]
    why = "the system gave no answer"
    folder = _folder(store)
    if questions:
        # what was asked, so that answers of a run broken off here can be told to be to these cases
        store.write_rows(rows_of(plan, _complete(plan, [name], plan.suite.epochs, by_key, why)))
        write_collection(plan.suite.system, plan.path.parent.absolute(), questions, folder)
        why = _drain(plan, folder, len(questions), tick) or why
        by_key.update((output.key, output) for output in _answers(folder))
    outputs = _complete(plan, [name], plan.suite.epochs, by_key, why)
    write_outputs(outputs, store.outputs_path)
    failed = sum(failure_of(cases[each.case_id], each) is not None for each in outputs)
    return outputs, [f"{failed} of {len(outputs)} answers failed"] if failed else []


def _drain(plan: Plan, folder: Path, owed: int, tick: Tick) -> str:
    """Wait for the collector; returns why answers may be missing."""
    watched = folder / "outputs.jsonl"
    timeout_s = _longest_s(plan)
    child = start("bridge.execution.collector", folder, watched, timeout_s=timeout_s)
    try:
        while not child.poll():
            tick(child.lines, owed)
            time.sleep(0.05)
    finally:
        child.kill()
    tick(child.lines, owed)
    return _why(plan, child, folder)


def _longest_s(plan: Plan) -> float:
    """Seconds after which a collector that wrote nothing is stuck: its own time-outs failed."""
    system = plan.suite.system
    turns = max(1, *(len(case.turns) for case in plan.cases))
    steps = 1 if system.tools is None else 2 * system.max_steps  # an answer and its tools each
    return system.timeout_s * turns * steps + 30


def _why(plan: Plan, child: Child, folder: Path) -> str:
    ending = read_ending(folder)
    if ending is not None and ending.error is not None:
        if ending.exit_code == InputError.exit_code:
            raise InputError(ending.error, where=plan.path, fix=ending.fix)
        return f"the system broke: {ending.error}"
    ended = child.how_it_ended()
    return f"the system's process {ended}" if ended else ""


def _answers(folder: Path) -> list[Output]:
    """Answers on disk; a last line cut off by a crash does not count."""
    path = folder / "outputs.jsonl"
    if not path.is_file():
        return []
    answers = []
    for _, line in read_lines(path):
        try:
            answers.append(Output.model_validate_json(line))
        except ValueError:
            continue
    return answers
