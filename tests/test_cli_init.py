"""``bridge init``: what it writes works as it is, and nothing is written over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT, Bridge

from bridge.cli.init import FILES
from bridge.files.suite import read_suite


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def started(bridge: Bridge, tmp_path: Path) -> Path:
    done = bridge("init", tmp_path / "repo")
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout.splitlines()[-1] == f"next: bridge run {tmp_path}/repo/evals/bridge.yaml --gate"
    )
    return tmp_path / "repo"


def test_the_gate_passes_at_once_in_every_row(bridge: Bridge, started: Path) -> None:
    run = started / "R"
    done = bridge("run", started / "evals" / "bridge.yaml", "--run-dir", run, "--gate")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((run / "eval-report.json").read_text("utf-8"))
    assert (report["passed"], report["verdict"]) == (True, "passed")
    statuses = {row["status"] for row in lines(run / "scores" / "core.jsonl")}
    assert statuses == {"passed", "skipped"}


def test_a_wrong_answer_fails_it(bridge: Bridge, started: Path) -> None:
    path = started / "evals" / "v1.outputs.jsonl"
    path.write_text(path.read_text("utf-8").replace("10:00 to 16:00", "8:00 to 12:00"), "utf-8")
    done = bridge("run", started / "evals" / "bridge.yaml", "--run-dir", started / "R", "--gate")
    assert done.returncode == 1, done.stdout + done.stderr


def test_it_is_clean(bridge: Bridge, started: Path) -> None:
    done = bridge("check", started / "evals", "--json")
    findings = json.loads(done.stdout)["findings"]
    assert [each["rule"] for each in findings] == ["no-baseline"]


def test_a_judge_that_is_not_calibrated_is_not_believed(started: Path) -> None:
    assert read_suite(started / "evals" / "bridge.yaml").gate.calibration.treat == "require"


def test_what_is_commented_out_is_a_suite_too(bridge: Bridge, started: Path) -> None:
    """The judge and the baseline that the comments offer."""
    path = started / "evals" / "bridge.yaml"
    text = path.read_text("utf-8")
    for mark in ("- rubric", "    judge:", "    criteria", "judges:", "  main:", "baseline: b"):
        assert f"# {mark}" in text
        text = text.replace(f"# {mark}", mark)
    path.write_text(text, "utf-8")
    suite = read_suite(path)
    assert suite.checks[-1].judge == "main"
    assert suite.gate.baseline == "baseline.json"
    assert bridge("run", path, "--dry-run").returncode == 0


def test_the_workflow_uses_the_action(started: Path) -> None:
    workflow = yaml.safe_load((started / FILES["workflow.yml"]).read_text("utf-8"))
    (step,) = (each for each in workflow["jobs"]["gate"]["steps"] if "with" in each)
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert step["with"].keys() <= action["inputs"].keys()
    assert (started / step["with"]["suite"]).is_file()


@pytest.mark.parametrize("there", list(FILES.values()))
def test_nothing_is_written_over(bridge: Bridge, tmp_path: Path, there: str) -> None:
    path = tmp_path / there
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    done = bridge("init", tmp_path)
    assert done.returncode == 2
    assert f"{path}: is there already" in done.stderr
    assert path.read_text() == "mine"
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]


def test_a_file_in_the_way(bridge: Bridge, tmp_path: Path) -> None:
    (tmp_path / "evals").write_text("mine")
    done = bridge("init", tmp_path)
    assert done.returncode in (2, 3)
    assert done.stderr.count("\n") == 1
