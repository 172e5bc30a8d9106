"""Collecting outputs: ``python -m bridge.execution.collector FOLDER``.

The user's system runs in a process of its own, so that a crash, an exit or a hang of it costs
the answers it still owed and nothing else.
"""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from bridge.execution.calls import System, ask, load_system
from bridge.execution.jobs import Ending, write_ending
from bridge.execution.process import end_with_parent
from bridge.files.jsonl import Appender, read_lines, write_atomically
from bridge.files.outputs import output_line
from bridge.model.case import Case
from bridge.model.errors import BridgeError
from bridge.model.suite import SystemConfig
from bridge.model.values import Model


class Question(Model):
    """One line of ``questions.jsonl``: a case in an epoch."""

    epoch: int
    case: Case


class CollectSpec(Model):
    """``collect.json``: the system and the folder it is imported from."""

    system: SystemConfig
    import_dir: Path


def write_collection(
    system: SystemConfig, import_dir: Path, questions: list[Question], folder: Path
) -> None:
    """Lay out what the collector is fed."""
    spec = CollectSpec(system=system, import_dir=import_dir)
    write_atomically(folder / "collect.json", [spec.model_dump_json(indent=2), "\n"])
    lines = (f"{each.model_dump_json(exclude_defaults=True)}\n" for each in questions)
    write_atomically(folder / "questions.jsonl", lines)


def main(folder: Path) -> int:
    """Answer every question in ``folder``; returns the exit code."""
    end_with_parent()
    ending = Ending()
    try:
        spec = CollectSpec.model_validate_json((folder / "collect.json").read_bytes())
        sys.path.insert(0, str(spec.import_dir))
        system = load_system(spec.system.python or "", spec.import_dir)
        loop = asyncio.new_event_loop()  # asyncio.run would wait for calls that timed out
        loop.run_until_complete(_collect(system, spec.system, folder))
    except BridgeError as broken:
        ending = Ending(error=broken.what, fix=broken.fix, exit_code=broken.exit_code)
    except (Exception, SystemExit) as broken:  # noqa: BLE001  # whatever users' code raises is data
        traceback.print_exc()
        fix = f"see {folder / 'log.txt'}"
        ending = Ending(error=f"{type(broken).__name__}: {broken}", fix=fix, exit_code=3)
    write_ending(ending, folder)
    return ending.exit_code


async def _collect(system: System, config: SystemConfig, folder: Path) -> None:
    """A fixed number of askers share one stream of questions."""
    questions = _questions(folder)
    with Appender(folder / "outputs.jsonl") as answers:

        async def asker() -> None:
            for question in questions:
                output = await ask(
                    system, question.case, question.epoch, config.name, config.timeout_s
                )
                answers.append(output_line(output))

        await asyncio.gather(*(asker() for _ in range(config.concurrency)))


def _questions(folder: Path) -> Iterator[Question]:
    for _, line in read_lines(folder / "questions.jsonl"):
        yield Question.model_validate_json(line)


if __name__ == "__main__":
    status = main(Path(sys.argv[1]))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # threads of calls that timed out must not keep the process alive
