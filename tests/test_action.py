"""The GitHub Action: its own script, run as the runner would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT, write_suite
from gate_rows import binary, write_scores

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
REPORTS = {"json", "md", "html", "junit.xml", "sarif"}


def step(name: str) -> dict[str, Any]:
    """A step of the action."""
    steps: list[dict[str, Any]] = ACTION["runs"]["steps"]
    return next(each for each in steps if each.get("name") == name)


def act(folder: Path, **inputs: str) -> tuple[int, dict[str, str], str, str]:
    """Exit code, outputs, job summary and log of the gate step with these inputs."""
    script = step("Gate")
    given = {key: each["default"] for key, each in ACTION["inputs"].items()} | inputs
    env = {
        name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in script["env"].items()
    }
    files = {"GITHUB_OUTPUT": folder / "output", "GITHUB_STEP_SUMMARY": folder / "summary"}
    for path in files.values():
        path.write_text("")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script["run"]],
        cwd=folder,
        env={
            **os.environ,
            **env,
            **{name: str(path) for name, path in files.items()},
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    lines = files["GITHUB_OUTPUT"].read_text().splitlines()
    outputs = dict(line.split("=", 1) for line in lines)
    return done.returncode, outputs, files["GITHUB_STEP_SUMMARY"].read_text(), done.stdout


def test_a_suite_is_run_and_gated(tmp_path: Path) -> None:
    write_suite(tmp_path, {"gate": {"metrics": {"equals": {"min": 0.5}}}})
    code, outputs, summary, log = act(tmp_path, frameworks="core")
    assert (code, outputs) == (0, {"passed": "true", "verdict": "passed"})
    assert "PASSED" in summary
    assert "::notice title=bridge gate::PASSED" in log
    made = {path.name for path in (tmp_path / "bridge-run").glob("eval-report.*")}
    assert made == {f"eval-report.{each}" for each in REPORTS}


@pytest.mark.parametrize(("value", "code", "verdict"), [(1.0, 0, "passed"), (0.0, 1, "failed")])
def test_results_are_gated(tmp_path: Path, value: float, code: int, verdict: str) -> None:
    write_scores(tmp_path / "a.jsonl", binary([value] * 5))
    write_scores(tmp_path / "b.jsonl", binary([1.0] * 5, metric="other"))
    found, outputs, summary, _ = act(tmp_path, results="a.jsonl  b.jsonl", suite="none.yaml")
    assert (found, outputs) == (code, {"passed": str(code == 0).lower(), "verdict": verdict})
    assert verdict.upper() in summary


def test_a_broken_run_says_nothing_of_an_earlier_one(tmp_path: Path) -> None:
    scores = write_scores(tmp_path / "a.jsonl", binary([1.0] * 5))
    assert act(tmp_path, results="a.jsonl")[0] == 0
    scores.write_text("{broken\n")
    code, outputs, summary, _ = act(tmp_path, results="a.jsonl")
    assert (code, outputs, summary) == (2, {"passed": "false", "verdict": ""}, "")


def test_what_is_left_is_uploaded_even_when_the_gate_failed() -> None:
    assert step("Upload")["if"].startswith("always()")
