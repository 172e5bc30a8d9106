"""A framework that breaks costs its own rows, never the run, and never in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge, write_suite

BROKEN = '''
import os, signal, sys, time
from bridge.plugin.core import CoreFramework
from bridge.plugin.framework import FrameworkInfo

class Broken(CoreFramework):
    """Scores two rows as core does, then breaks in the way its name says."""
    def __init__(self, how):
        self.info = FrameworkInfo(name=f"broken:{how}", title=how)
        self.how = how
    def run(self, job):
        for index, score in enumerate(super().run(job)):
            if index == 2:
                yield from getattr(self, self.how)(score)
                if self.how in ("sigkill", "system_exit", "raises", "hangs", "disk_full"):
                    return
            yield score
    def sigkill(self, score):
        time.sleep(1.5)  # longer than the time between two syncs
        yield score
        os.kill(os.getpid(), signal.SIGKILL)
    def system_exit(self, score):
        raise SystemExit(0)
        yield
    def raises(self, score):
        raise RuntimeError("boom\\nwith a second line")
        yield
    def hangs(self, score):
        time.sleep(600)
        yield score
    def duplicates(self, score):
        yield score
    def invents(self, score):
        yield score.model_copy(update={"metric": "invented"})
    def garbage(self, score):
        print("on stdout"); print("on stderr", file=sys.stderr)
        yield from ()
    def forgets(self, score):
        raise GeneratorExit
        yield
    def disk_full(self, score):
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        while True:
            yield score.model_copy(update={"reason": "x" * 10000})

for how in ("sigkill", "system_exit", "raises", "hangs", "duplicates", "invents", "garbage", "disk_full"):
    globals()[how] = Broken(how)
'''


def rows_of(run: Path, framework: str) -> list[dict[str, Any]]:
    path = run / "scores" / f"{framework.replace(':', '_')}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def run_broken(bridge: Bridge, folder: Path, how: str, **options: Any) -> Any:
    suite = write_suite(
        folder,
        {"frameworks": ["core", {f"broken:{how}": options}], "gate": {"metrics": {"equals": 0.5}}},
        broken=BROKEN,
    )
    return bridge("run", suite, "--run-dir", folder / "R", "--gate")


@pytest.mark.parametrize(
    ("how", "kept", "said"),
    [
        ("sigkill", 2, "was killed by SIGKILL"),
        ("system_exit", 2, "SystemExit"),
        ("raises", 2, "RuntimeError: boom with a second line"),
        ("disk_full", 0, "worker"),
    ],
)
def test_a_broken_framework_costs_its_own_rows(
    bridge: Bridge, tmp_path: Path, how: str, kept: int, said: str
) -> None:
    done = run_broken(bridge, tmp_path, how)
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("ERROR")
    assert said in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    core, broken = rows_of(tmp_path / "R", "core"), rows_of(tmp_path / "R", f"broken:{how}")
    assert [row["status"] for row in core] == ["passed", "passed", "passed", "failed"]
    assert len(broken) == len(core)
    assert sum(row["status"] != "error" for row in broken) >= kept
    assert broken[-1]["status"] == "error"
    assert broken[-1]["value"] is None


def test_a_hang_is_ended_and_said(bridge: Bridge, tmp_path: Path) -> None:
    done = run_broken(bridge, tmp_path, "hangs", timeout_s=2)
    assert done.returncode == 3
    assert "hung (no progress for 2 s) and was killed" in done.stdout
    assert [r["status"] for r in rows_of(tmp_path / "R", "broken:hangs")][-1] == "error"


def test_a_row_scored_twice_is_an_error(bridge: Bridge, tmp_path: Path) -> None:
    done = run_broken(bridge, tmp_path, "duplicates")
    assert done.returncode == 3
    assert [r["error"] for r in rows_of(tmp_path / "R", "broken:duplicates")][2] == "scored twice"


def test_a_row_nobody_asked_for_is_said(bridge: Bridge, tmp_path: Path) -> None:
    done = run_broken(bridge, tmp_path, "invents")
    assert done.returncode == 3
    assert "1 rows that nobody asked for" in done.stdout


def test_what_a_framework_prints_stays_in_its_log(bridge: Bridge, tmp_path: Path) -> None:
    done = run_broken(bridge, tmp_path, "garbage")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on std" not in done.stdout + done.stderr
    log = next((tmp_path / "R" / "jobs").glob("broken*/log.txt")).read_text("utf-8")
    assert "on stdout" in log
    assert "on stderr" in log


def test_resume_does_again_only_what_broke(bridge: Bridge, tmp_path: Path) -> None:
    run_broken(bridge, tmp_path, "raises")
    core_job = tmp_path / "R" / "jobs" / "core-000" / "ending.json"
    before = core_job.stat().st_mtime_ns
    text = (tmp_path / "broken.py").read_text("utf-8").replace("if index == 2:", "if False:")
    (tmp_path / "broken.py").write_text(text, "utf-8")
    done = bridge(
        "run", tmp_path / "bridge.yaml", "--run-dir", tmp_path / "R", "--resume", "--gate"
    )
    assert done.returncode == 0, done.stdout
    assert core_job.stat().st_mtime_ns == before
    assert all(r["status"] != "error" for r in rows_of(tmp_path / "R", "broken:raises"))


def test_resume_with_other_checks_scores_again(bridge: Bridge, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    bridge("run", suite, "--run-dir", tmp_path / "R")
    write_suite(tmp_path, {"checks": [{"equals": {"ignore_case": True}}, {"contains": "a"}]})
    done = bridge("run", suite, "--run-dir", tmp_path / "R", "--resume")
    assert done.returncode == 0
    assert [r["metric"] for r in rows_of(tmp_path / "R", "core")][:2] == ["equals", "contains"]
