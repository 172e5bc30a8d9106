"""``bridge`` itself: what ends it other than a command, said in one line or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Bridge, write_suite


@pytest.mark.parametrize("arguments", [["--help"], ["scan", "one", "two"]])
def test_a_reader_that_has_had_enough_is_no_error(arguments: list[str], tmp_path: Path) -> None:
    """``bridge ... | head``: no message, and the exit code of a closed pipe."""
    command = [sys.executable, "-m", "bridge", *arguments]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        said = child.stderr.read()
    assert (child.returncode, said) == (141, b"")


def test_a_path_that_does_not_fit_is_the_users(bridge: Bridge, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    done = bridge("run", suite, "--run-dir", suite)
    assert done.returncode == 2, done.stderr
    assert done.stderr == f"bridge: {suite}: Not a directory; check the path and its permissions\n"
