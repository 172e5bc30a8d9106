"""docs/pytest.md: its commands run as printed, one after the other, and its test passes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Bridge

PAGE = (ROOT / "docs" / "pytest.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
UNASKED = ("-p", "no:deepeval", "-p", "no:asyncio")


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", *UNASKED, *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_commands_run_as_printed(bridge: Bridge, tmp_path: Path) -> None:
    lines = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]
    assert lines[0].startswith("bridge init ")
    assert bridge(*shlex.split(lines[0])[1:]).returncode == 0
    passed = []
    for line in lines[1:]:
        if line == "pytest":
            (ini,) = (text for kind, text in BLOCKS if kind == "ini")
            (tmp_path / "pytest.ini").write_text(ini, "utf-8")
        done = run_pytest(tmp_path, *shlex.split(line)[1:])
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        passed += re.findall(r"(\d+) passed", done.stdout)
    assert passed == ["15", "2", "1", "15", "15"]
    assert (tmp_path / "report.xml").is_file()


def test_the_ids_are_as_printed(bridge: Bridge, tmp_path: Path) -> None:
    assert bridge("init", ".").returncode == 0
    listed = run_pytest(tmp_path, "--bridge", "--collect-only", "-q").stdout.splitlines()
    (ids,) = (text.splitlines() for kind, text in BLOCKS if not kind)
    assert set(ids[:2]) <= set(listed)


def test_the_python_test_passes(bridge: Bridge, tmp_path: Path) -> None:
    assert bridge("init", ".").returncode == 0
    (text,) = (text for kind, text in BLOCKS if kind == "python")
    (tmp_path / "test_bot.py").write_text(text, "utf-8")
    done = run_pytest(tmp_path, "-v")
    assert "test_bot.py::test_the_bot[hours-001] PASSED" in done.stdout, done.stdout
    (tmp_path / "test_bot.py").write_text(text.replace("10:00", "ten"), "utf-8")
    failed = run_pytest(tmp_path)
    assert failed.returncode == pytest.ExitCode.TESTS_FAILED
    assert "CheckError: contains: 0, needs 1: " in failed.stdout
