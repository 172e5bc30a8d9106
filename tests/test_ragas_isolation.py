"""RAGAS in a process of its own: what it does by default, and what the worker takes from it.

That a whole run goes nowhere and leaves HOME alone is shown in ``test_network.py``; here is what
it would do without the switches. No address is reached: every attempt is noted and refused.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge.model import MissingDependency
from bridge_ragas import FRAMEWORK
from bridge_ragas.info import INFO, LANGCHAIN

pytestmark = pytest.mark.xdist_group("ragas_processes")

PROGRAM = """
import json, os, sys, warnings
from pathlib import Path

asked = []
def refuse(event, args):
    if event in ("socket.getaddrinfo", "socket.connect"):
        asked.append(str(args[0] if event == "socket.getaddrinfo" else args[1]))
        raise OSError("refused by the test")
sys.addaudithook(refuse)
if sys.argv[1] == "ours":
    from bridge.execution.worker import set_environment
    from bridge_ragas.info import INFO
    set_environment(INFO, Path(sys.argv[2]))
warnings.simplefilter("ignore")
from ragas import EvaluationDataset, SingleTurnSample, evaluate
from bridge_ragas.scorers import SCORERS
dataset = EvaluationDataset(samples=[SingleTurnSample(response="a", reference="a")])
result = evaluate(dataset, [SCORERS["equals"]()], show_progress=False)
assert result["equals"] == [1.0]
from langchain_core.tracers.langchain import wait_for_all_tracers
wait_for_all_tracers()
print(json.dumps(asked))
"""


def run(way: str, home: Path, native: Path) -> list[str]:
    home.mkdir()
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
        "HOME": str(home),
        "RAGAS_DO_NOT_TRACK": "1",  # not what RAGAS wants to see
        "LANGCHAIN_TRACING_V2": "true",
        "LANGCHAIN_API_KEY": "secret",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, way, str(native)],
        capture_output=True,
        text=True,
        env=env,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_by_default_it_reports_uploads_and_writes_into_home(tmp_path: Path) -> None:
    asked = run("default", tmp_path / "home", tmp_path / "native")
    assert "t.explodinggradients.com" in asked
    assert "api.smith.langchain.com" in asked
    assert list((tmp_path / "home").rglob("uuid.json"))


def test_in_a_worker_it_does_none_of_that(tmp_path: Path) -> None:
    assert run("ours", tmp_path / "home", tmp_path / "native") == []
    assert list((tmp_path / "home").iterdir()) == []
    assert list((tmp_path / "native" / ".ragas").rglob("uuid.json"))


@pytest.mark.parametrize(
    ("versions", "said", "mends"),
    [
        ({"ragas": ""}, "RAGAS is not installed", "bridge-evals[ragas]"),
        ({"ragas": "0.2.15"}, "RAGAS 0.2.15 is installed", "bridge-evals[ragas]"),
        ({"ragas": "0.5.0"}, "needs >=0.4.3,<0.5", "bridge-evals[ragas]"),
        ({"langchain-community": "0.4.2"}, "langchain-community 0.4.2 is installed", "<0.4.2"),
    ],
)
def test_what_is_missing_is_said_with_the_line_that_mends_it(
    monkeypatch: pytest.MonkeyPatch, versions: dict[str, str], said: str, mends: str
) -> None:
    from importlib import metadata

    real = metadata.version

    def version(name: str) -> str:
        found = versions.get(name)
        if found == "":
            raise metadata.PackageNotFoundError(name)
        return real(name) if found is None else found

    monkeypatch.setattr(metadata, "version", version)
    with pytest.raises(MissingDependency, match="run: pip install") as caught:
        FRAMEWORK.ensure_available()
    assert said in str(caught.value)
    assert mends in str(caught.value)


def test_every_switch_stays_inside_the_run() -> None:
    inside: dict[str, Any] = dict(INFO.environment)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "RAGAS_CACHE_HOME", "HF_HOME"):
        assert inside[name].startswith("{native_dir}/")
    assert inside["RAGAS_DO_NOT_TRACK"] == "true"
    assert LANGCHAIN.requires[1] == "0.4.2"
