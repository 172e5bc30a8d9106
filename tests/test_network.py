"""No network: nothing that is run looks a name up or connects anywhere but to this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, need_network_namespace

from bridge.plugin.registry import framework_names

GUARD = ROOT / "tests" / "network_guard"
LOCAL = re.compile(r"'127\.0\.0\.1'|'localhost'|'::1'|^\S+ socket\.connect '/|b'/")


def guarded(log: Path, command: list[str], **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the guard in every Python process it starts."""
    paths = [str(GUARD), *filter(None, [os.environ.get("PYTHONPATH")])]
    whole = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "NETWORK_GUARD_LOG": str(log),
        **env,
    }
    return subprocess.run(
        command, capture_output=True, text=True, env=whole, timeout=280, check=False
    )


def strangers(log: Path) -> list[str]:
    """Addresses off this machine."""
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return [line for line in lines if not LOCAL.search(line)]


def test_the_guard_sees_an_attempt(tmp_path: Path) -> None:
    code = (
        "import socket\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.connect(('192.0.2.1', 9))\n"  # reserved for documentation; a datagram sends nothing
    )
    guarded(tmp_path / "log", [sys.executable, "-c", code])
    assert "192.0.2.1" in strangers(tmp_path / "log")[0]


@pytest.mark.parametrize("framework", framework_names())
def test_a_run_goes_nowhere(tmp_path: Path, framework: str) -> None:
    """Telemetry, update checks and uploads are off, whatever the user's environment says."""
    suite = ROOT / "examples" / "support_bot" / "bridge.yaml"
    command = [sys.executable, "-m", "bridge", "run", str(suite), "--frameworks", framework]
    command += ["--run-dir", str(tmp_path / "R"), "--limit", "30"]
    (tmp_path / "home").mkdir()
    keys = {"CONFIDENT_API_KEY": "secret", "OPENAI_API_KEY": "secret"}
    done = guarded(tmp_path / "log", command, HOME=str(tmp_path / "home"), **keys)
    assert done.returncode == 0, done.stdout + done.stderr
    assert strangers(tmp_path / "log") == []
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == []


def test_a_run_needs_no_network(tmp_path: Path) -> None:
    """In an empty network namespace, where not even a name can be looked up."""
    need_network_namespace()
    suite = ROOT / "examples" / "support_bot" / "bridge.yaml"
    command = ["unshare", "-rn", sys.executable, "-m", "bridge", "run", str(suite)]
    command += ["--run-dir", str(tmp_path / "R"), "--limit", "30"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
