"""Collecting outputs: ``python -m bridge.execution.collector FOLDER``.

The user's system runs in a process of its own, so that a crash, an exit or a hang of it costs
the answers it still owed and nothing else.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bridge.execution.asking import ask
from bridge.execution.jobs import Ending, write_ending
from bridge.execution.process import end_with_parent
from bridge.execution.systems import System, load_system, secrets_of
from bridge.execution.systems.tools import ToolRunner
from bridge.files.jsonl import Appender, read_lines, write_atomically
from bridge.files.outputs import output_line
from bridge.model.case import Case
from bridge.model.errors import BridgeError
from bridge.model.system import SystemConfig
from bridge.model.values import Model

REDACTED = "[redacted]"
MOST_THREADS = 1000


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
    secrets: tuple[str, ...] = ()
    try:
        spec = CollectSpec.model_validate_json((folder / "collect.json").read_bytes())
        secrets = secrets_of(spec.system)
        sys.path.insert(0, str(spec.import_dir))
        system = load_system(spec.system, spec.import_dir)
        tools = _tools(spec)
        loop = asyncio.new_event_loop()  # asyncio.run would wait for calls that timed out
        # calls that timed out keep their threads: there must always be another one
        loop.set_default_executor(ThreadPoolExecutor(MOST_THREADS))
        loop.run_until_complete(_collect(system, tools, spec.system, folder, secrets))
    except BridgeError as broken:
        ending = Ending(error=broken.what, fix=broken.fix, exit_code=broken.exit_code)
    except (Exception, SystemExit) as broken:  # noqa: BLE001  # whatever users' code raises is data
        traceback.print_exc()
        fix = f"see {folder / 'log.txt'}"
        said = redact(f"{type(broken).__name__}: {broken}", secrets)
        ending = Ending(error=said, fix=fix, exit_code=3)
    write_ending(ending, folder)
    return ending.exit_code


def _tools(spec: CollectSpec) -> ToolRunner | None:
    if spec.system.tools is None:
        return None
    return ToolRunner.load(spec.system.tools, spec.import_dir, spec.system.timeout_s)


async def _collect(
    system: System,
    tools: ToolRunner | None,
    config: SystemConfig,
    folder: Path,
    secrets: Sequence[str],
) -> None:
    """A fixed number of askers share one stream of questions."""
    questions = _questions(folder)
    with Appender(folder / "outputs.jsonl") as answers:

        async def asker() -> None:
            for question in questions:
                output = await ask(system, question.case, question.epoch, config, tools)
                answers.append(redact(output_line(output), secrets))

        await asyncio.gather(*(asker() for _ in range(config.concurrency)))


def redact(line: str, secrets: Sequence[str]) -> str:
    """JSON text without the secrets, which a system may echo."""
    for secret in secrets:
        for spelled in {secret, json.dumps(secret, ensure_ascii=False)[1:-1]}:
            line = line.replace(spelled, REDACTED)
    return line


def _questions(folder: Path) -> Iterator[Question]:
    for _, line in read_lines(folder / "questions.jsonl"):
        yield Question.model_validate_json(line)


if __name__ == "__main__":
    status = main(Path(sys.argv[1]))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # threads of calls that timed out must not keep the process alive
