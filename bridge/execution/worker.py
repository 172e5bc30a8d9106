"""One job in one framework: ``python -m bridge.execution.worker FOLDER``.

The framework's switches (telemetry off, caches inside the run) are set before it is imported,
and what would upload anything is taken out of the environment.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback
from pathlib import Path

from bridge.execution.jobs import Ending, read_job, scores_file, write_ending
from bridge.execution.process import end_with_parent
from bridge.files.jsonl import Appender
from bridge.files.scores import score_line
from bridge.model.errors import BridgeError
from bridge.model.job import Job
from bridge.model.values import Json
from bridge.plugin.framework import Framework, FrameworkInfo, version_of
from bridge.plugin.registry import get_framework


def main(folder: Path) -> int:
    """Carry out the job in ``folder``; returns the exit code."""
    end_with_parent()
    version, error, fix, code, route = "", None, "", 0, None
    try:
        job = read_job(folder)
        framework = _prepare(job)
        version = version_of(framework.info)
        _score(framework, job, scores_file(folder))
        route = _route(job.spec.native_dir)
    except BridgeError as broken:
        error, fix, code = broken.what, broken.fix, broken.exit_code
    except (Exception, SystemExit) as broken:  # noqa: BLE001  # whatever users' code raises is data
        traceback.print_exc()
        error, code = f"{type(broken).__name__}: {broken}", 3
        fix = f"see {folder / 'log.txt'}"
    used, peak = _usage()
    ending = Ending(
        error=error, fix=fix, exit_code=code, version=version, route=route, cpu_s=used,
        peak_rss_mb=peak,
    )  # fmt: skip
    write_ending(ending, folder)
    return code


def _prepare(job: Job) -> Framework:
    if job.spec.import_dir is not None:
        sys.path.insert(0, str(job.spec.import_dir))
    framework = get_framework(job.spec.framework)
    job.spec.native_dir.mkdir(parents=True, exist_ok=True)
    set_environment(framework.info, job.spec.native_dir)
    framework.ensure_available()
    return framework


def set_environment(info: FrameworkInfo, native_dir: Path) -> None:
    """Set a framework's switches, and take away what it must not see."""
    for name in info.scrubbed:
        os.environ.pop(name, None)
    for name, value in info.environment:
        os.environ[name] = value.replace("{native_dir}", str(native_dir))


def _score(framework: Framework, job: Job, path: Path) -> None:
    with Appender(path) as rows:
        for score in framework.run(job):
            rows.append(score_line(score))


def _route(native_dir: Path) -> Json:
    path = native_dir / "route.json"
    return json.loads(path.read_bytes()) if path.is_file() else None


def _usage() -> tuple[float, float]:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    return round(cpu, 3), round(max(own.ru_maxrss, children.ru_maxrss) / 1024, 1)


if __name__ == "__main__":
    status = main(Path(sys.argv[1]))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a framework's leftover threads must not keep the worker alive
