"""promptfoo as a process: through its PyPI launcher, apart from the user's settings, offline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bridge.model.errors import InfrastructureError
from bridge_promptfoo.install import search_path

LAUNCHER = "from promptfoo.cli import main; main()"
FLAGS = (
    "--no-cache",
    "--no-write",
    "--no-table",
    "--no-progress-bar",
    "--no-share",
    "--max-concurrency=8",
)
OFFLINE = (
    f"--require {json.dumps(str(Path(__file__).with_name('offline.cjs')), ensure_ascii=False)}"
)
"""Option of Node that keeps promptfoo from calling home."""
LEAN = "--stack-trace-limit=0 --max-semi-space-size=8"
"""Log calls that are thrown away take a stack trace each (a third of the CPU), and the default
young generation takes 100 MB more than it saves time."""
FAILED_TESTS = 100
"""Exit code of a run in which a test failed."""
POLL_S = 0.02


class Evaluation:
    """A ``promptfoo eval`` on its way; results and log go beside its config.

    Args:
        config: The config file: YAML, of which JSON is a part.
        env: What :func:`environment` made.
    """

    def __init__(self, config: Path, env: Mapping[str, str]) -> None:
        self.config = config
        self.results = config.with_suffix(".json")
        self.rows = config.with_suffix(".jsonl")
        self.log = config.with_suffix(".log")
        self._env = env
        self.exit_code: int | None = None

    def lines(self) -> Iterator[bytes]:
        """Run to the end; each row's JSON as soon as it is written.

        Raises:
            InfrastructureError: If promptfoo cannot be started.
        """
        outputs = [f"--output={path.name}" for path in (self.results, self.rows)]
        command = [sys.executable, "-P", "-c", LAUNCHER, "eval", f"--config={self.config.name}"]
        for path in (self.results, self.rows):
            path.unlink(missing_ok=True)
        try:
            with self.log.open("wb") as log:
                process = subprocess.Popen(  # noqa: S603
                    [*command, *outputs, *FLAGS],
                    cwd=self.config.parent,
                    env=self._env,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
        except OSError as error:
            raise InfrastructureError(f"promptfoo cannot be started ({error.strerror})") from None
        try:
            yield from follow(self.rows, process)
        finally:
            process.kill()
            self.exit_code = process.wait()

    def finish(self, keep: bool) -> None:
        """Make sure that the run came to its end.

        Raises:
            InfrastructureError: If it did not.
        """
        self.rows.unlink(missing_ok=True)  # the results file holds the same
        if self.exit_code not in (0, FAILED_TESTS) or not self.results.is_file():
            said = what_it_said(self.log.read_text(encoding="utf-8", errors="replace"))
            raise InfrastructureError(
                f"promptfoo ended with exit code {self.exit_code} and no results ({said})",
                fix=f"see {self.log}",
            )
        if not keep:
            self.results.unlink()


def what_it_said(log: str) -> str:
    """The line of a log that says most of why a run broke: its last error, else its last line."""
    lines = [line.strip() for line in log.split("\n") if line.strip()]
    telling = [line for line in lines if "Error" in line] or lines
    return telling[-1][:200] if telling else "no word"


def follow(path: Path, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """The finished lines of a file that a process is writing.

    promptfoo appends row by row and at the end writes the whole file anew: lines then come again,
    and one may start in the middle.
    """
    offset = 0
    while True:
        ended = process.poll() is not None
        if ended or not path.is_file() or path.stat().st_size < offset:
            offset = 0
        if path.is_file():
            with path.open("rb") as file:
                file.seek(offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    offset += len(line)
                    yield line
        if ended:
            return
        time.sleep(POLL_S)


def environment(
    folder: Path, import_dir: Path | None, switches: Iterable[tuple[str, str]]
) -> dict[str, str]:
    """The environment of a run: a HOME inside ``folder``, no promptfoo variable but ours.

    Args:
        folder: Where the run leaves everything.
        import_dir: Folder from which the suite's own scorers are imported.
        switches: promptfoo's variables; ``{native_dir}`` is filled in.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROMPTFOO_")}
    ours = {
        "PATH": search_path(),
        "HOME": str(folder / ".promptfoo"),
        "PROMPTFOO_PYTHON": sys.executable,
        "NODE_OPTIONS": f"{kept.get('NODE_OPTIONS', '')} {OFFLINE} {LEAN}".strip(),
        "NO_COLOR": "1",
    }
    if import_dir:
        ours["BRIDGE_PROMPTFOO_IMPORT_DIR"] = str(import_dir)
    filled = {name: value.replace("{native_dir}", str(folder)) for name, value in switches}
    return {**kept, **filled, **ours}
