"""In CI a skipped test, or a skipped file of tests, is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

def test_it_is_skipped():
    pytest.skip("no such machine")

@pytest.mark.xfail(strict=True)
def test_it_is_known_to_fail():
    assert False
"""
FILE = """
import pytest

pytest.importorskip("no_such_framework")
"""


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_a_skip_is_a_failure_in_ci(tmp_path: Path, ci: str, code: int) -> None:
    (tmp_path / "test_one.py").write_text(TESTS)
    (tmp_path / "test_other.py").write_text(FILE)
    hooks = "pytest_make_collect_report, pytest_runtest_makereport"
    (tmp_path / "conftest.py").write_text(f"from skips import {hooks}")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--continue-on-collection-errors",
            "-p",
            "no:cacheprovider",
        ],
        cwd=tmp_path,
        env={**os.environ, "CI": ci, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout
    counted = "1 failed, 1 xfailed, 1 error" if ci else "2 skipped, 1 xfailed"
    assert counted in done.stdout
