"""Another interpreter for one framework: used, checked, and refused in one line."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

import pytest
from conftest import ROOT, Bridge, write_suite


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment of its own that sees this one's packages."""
    folder = tmp_path_factory.mktemp("other") / "venv"
    venv.create(folder, with_pip=False)
    site = next(folder.glob("lib/python*/site-packages"))
    mine = [path for path in sys.path if path.endswith("site-packages")]
    (site / "mine.pth").write_text("\n".join([*mine, str(ROOT), str(ROOT / "adapters")]), "utf-8")
    return folder / "bin" / "python"


def test_a_framework_runs_with_the_interpreter_the_suite_names(
    bridge: Bridge, tmp_path: Path, other: Path
) -> None:
    code = (
        "import sys\n"
        "from bridge.model import Measurement\n"
        "from bridge.scorers import Scorer\n"
        "def who(case, output, params):\n"
        "    return [Measurement(value=1.0, reason=sys.prefix)]\n"
        "WHO = Scorer('who', '1', who)\n"
    )
    suite = write_suite(
        tmp_path,
        {"frameworks": [{"core": {"python": str(other)}}], "checks": [{"who:WHO": {}}]},
        who=code,
    )
    done = bridge("run", suite, "--run-dir", tmp_path / "R")
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(other.parent.parent) in (tmp_path / "R" / "scores" / "core.jsonl").read_text("utf-8")
    doctor = bridge("doctor", suite)
    assert doctor.returncode == 0, doctor.stdout


@pytest.mark.parametrize(
    ("python", "said"),
    [
        ("/nowhere/python", "cannot be started"),
        ("bin/sh-like", "has no usable bridge-evals"),
    ],
)
def test_a_wrong_interpreter_is_refused_before_anything_runs(
    bridge: Bridge, tmp_path: Path, python: str, said: str
) -> None:
    fake = tmp_path / "bin" / "sh-like"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho no module >&2; exit 1\n", "utf-8")
    fake.chmod(0o755)
    suite = write_suite(tmp_path, {"frameworks": [{"core": {"python": python}}]})
    done = bridge("run", suite, "--run-dir", tmp_path / "R")
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "R").exists()
    doctor = bridge("doctor", suite)
    assert doctor.returncode == 2
    assert said in doctor.stdout


def test_a_framework_that_is_not_installed_is_exit_2(bridge: Bridge, tmp_path: Path) -> None:
    code = (
        "from bridge.plugin.core import CoreFramework\n"
        "from bridge.plugin.framework import FrameworkInfo, require\n"
        "class Absent(CoreFramework):\n"
        "    info = FrameworkInfo(name='absent:it', title='Absent', distribution='no-such-thing',\n"
        "                         install='pip install no-such-thing')\n"
        "    def ensure_available(self): require(self.info)\n"
        "it = Absent()\n"
    )
    suite = write_suite(tmp_path, {"frameworks": ["core", "absent:it"]}, absent=code)
    done = bridge("run", suite, "--run-dir", tmp_path / "R")
    assert done.returncode == 2
    assert "Absent is not installed; run: pip install no-such-thing" in done.stderr
    assert not (tmp_path / "R").exists()
    unknown = bridge("run", suite, "--frameworks", "core,nix", "--run-dir", tmp_path / "R")
    assert unknown.returncode == 2
    assert "no framework 'nix'" in unknown.stderr


NEEDY = """
from bridge.model import Measurement
from bridge.scorers import Scorer
def score(case, output, params):
    return [Measurement(value=1.0, reason="")]
SCORER = Scorer("needy", "1", score, needs=("no_such_module",))
"""


@pytest.mark.parametrize("group", [False, True])
def test_what_a_check_needs_and_lacks_is_exit_2(
    bridge: Bridge, tmp_path: Path, group: bool
) -> None:
    check = {"needy:SCORER": {"metric": "needy"}}
    checks = [{"all": [check], "metric": "g"}] if group else [check]
    suite = write_suite(tmp_path, {"checks": checks}, needy=NEEDY)
    done = bridge("run", suite, "--run-dir", tmp_path / "R")
    assert done.returncode == 2
    said = "check needy needs no_such_module, which is not installed; run: pip install"
    assert f"{said} 'bridge-evals[text]'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "R").exists()


def test_what_a_check_needs_is_looked_for_where_it_runs(
    bridge: Bridge, tmp_path: Path, other: Path
) -> None:
    (tmp_path / "no_such_module.py").write_text("", "utf-8")  # here, and not there
    suite = write_suite(
        tmp_path,
        {
            "frameworks": [{"core": {"python": str(other)}}],
            "checks": [{"needy:SCORER": {"metric": "needy"}}],
        },
        needy=NEEDY,
    )
    done = bridge("run", suite, "--run-dir", tmp_path / "R")
    assert done.returncode == 2
    assert f"core with {other}: its checks need no_such_module" in done.stderr
    assert f"run: {other} -m pip install 'bridge-evals[text]'" in done.stderr
