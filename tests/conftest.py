"""Fixtures for all tests: small suites on disk, and the command as a person runs it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from skips import pytest_make_collect_report, pytest_runtest_makereport

from bridge.model.errors import BridgeError
from bridge.plugin.registry import framework_names, get_framework
from bridge_promptfoo.install import home as promptfoo_home

# The same examples every time; look for new ones with --hypothesis-profile explore.
settings.register_profile(
    "explore", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("steady", settings.get_profile("explore"), derandomize=True)
settings.load_profile("steady")

__all__ = ["pytest_make_collect_report", "pytest_runtest_makereport"]

ROOT = Path(__file__).resolve().parent.parent

# tests give themselves other HOMEs; what was set up once is found from there too
os.environ.setdefault("BRIDGE_PROMPTFOO_DIR", str(promptfoo_home().parent))

Bridge = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session", autouse=True)
def set_up_frameworks() -> None:
    """``bridge setup`` for every framework that has one; tests that need one fail without it."""
    for info in (get_framework(name).info for name in framework_names()):
        if info.setup:
            with contextlib.suppress(BridgeError):
                resolve_name(info.setup)(print)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture
def bridge(tmp_path: Path) -> Bridge:
    """Run ``bridge`` in a process of its own, with a HOME of its own."""

    def call(*arguments: object, cwd: Path | None = None, **env: str) -> Any:
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        return subprocess.run(
            [sys.executable, "-m", "bridge", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=cwd or tmp_path,
            env={**os.environ, "HOME": str(home), **env},
            timeout=240,
            check=False,
        )

    return call


def write_jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_suite(folder: Path, suite: Mapping[str, Any], cases: int = 4, **files: str) -> Path:
    """A suite over ``cases`` small cases, answered rightly but for the last; extra files by name."""
    rows = [{"id": f"c{i}", "input": f"q{i}", "expected": f"a{i}"} for i in range(cases)]
    write_jsonl(folder / "cases.jsonl", rows)
    outputs = [
        {"case_id": f"c{i}", "text": f"a{i}" if i < cases - 1 else "wrong"} for i in range(cases)
    ]
    write_jsonl(folder / "v1.outputs.jsonl", outputs)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    whole = {
        "name": "small",
        "golden_set": "cases.jsonl",
        "system": {"recorded": "v1.outputs.jsonl"},
        "checks": ["equals"],
        **suite,
    }
    path = folder / "bridge.yaml"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


def need_network_namespace() -> None:
    """Skip where no empty network namespace can be made."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare of util-linux")
    if subprocess.run(["unshare", "-rn", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no right to make a network namespace")
