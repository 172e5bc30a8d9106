"""The native objects as public API: each docstring's example is run as it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = ("bridge_deepeval", "bridge_inspect", "bridge_promptfoo")
"""RAGAS's is run by its own tests."""


@pytest.mark.parametrize("package", EXAMPLES)
def test_the_example_in_the_docstring_is_true(package: str, tmp_path: Path) -> None:
    code = (
        "import doctest, sys\n"
        f"import {package}.framework as module\n"
        "done = doctest.testmod(module)\n"
        "assert done.attempted >= 7, done\n"
        "sys.exit(done.failed)\n"
    )
    env = {**os.environ, "HOME": str(tmp_path), "DEEPEVAL_TELEMETRY_OPT_OUT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
