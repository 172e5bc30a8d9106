"""The example does what its README says: version 1 passes, the planted regressions fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Bridge

pytestmark = pytest.mark.xdist_group("examples")

EXAMPLE = ROOT / "examples" / "support_bot"


def report_of(folder: Path) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads((folder / "eval-report.json").read_text("utf-8"))
    return whole


def test_version_1_passes_its_gate(bridge: Bridge, tmp_path: Path) -> None:
    command = ("run", EXAMPLE / "bridge.yaml", "--run-dir", tmp_path / "R", "--gate")
    done = bridge(*command, "--frameworks", "core")
    assert done.returncode == 0, done.stdout + done.stderr
    report = report_of(tmp_path / "R")
    assert report["passed"] is True
    assert report["verdict"] == "passed"
    assert report["totals"]["cases"] >= 200
    assert all(metric["n_paired"] == metric["n"] for metric in report["metrics"].values())


def test_version_2_fails_and_the_report_says_where(bridge: Bridge, tmp_path: Path) -> None:
    command = ("run", EXAMPLE / "regressed.yaml", "--run-dir", tmp_path / "R", "--gate")
    done = bridge(*command, "--frameworks", "core")
    assert done.returncode == 1, done.stdout + done.stderr
    report = report_of(tmp_path / "R")
    assert report["verdict"] == "failed"
    regressed = {each["metric"]: each for each in report["regressed"]}
    assert set(regressed) >= {"avoids", "tool_use"}
    assert (
        max(regressed["avoids"]["failure_modes"].items(), key=lambda m: m[1])[0] == "stale_policy"
    )
    modes = regressed["tool_use"]["failure_modes"]
    assert max(modes.items(), key=lambda mode: mode[1])[0] == "wrong_tool_argument"
    for metric, mode, case in (("avoids", "stale_policy", "loyalty-001"),):
        assert metric in done.stdout
        assert mode in done.stdout
        assert case in regressed[metric]["cases"]
    assert report["metrics"]["latency"]["status"] == "passed"


@pytest.mark.parametrize(("function", "recorded"), [("answer", "v1"), ("answer_v2", "v2")])
def test_the_recorded_outputs_are_what_the_bot_answers(
    bridge: Bridge, tmp_path: Path, function: str, recorded: str
) -> None:
    suite = json.dumps(
        {
            "name": "live",
            "golden_set": [
                str(ROOT / "cases" / name / "cases.jsonl")
                for name in ("support_rag", "conversations", "tool_agent", "injection")
            ],
            "system": {"python": f"live:{function}", "name": "support-bot"},
            "checks": ["tool_use", {"cost": {"max": 1}}],
        }
    )
    (tmp_path / "bridge.yaml").write_text(suite, "utf-8")
    code = f"import sys\nsys.path.insert(0, {str(EXAMPLE)!r})\nfrom bot import {function}\n"
    (tmp_path / "live.py").write_text(code, "utf-8")
    done = bridge("run", tmp_path / "bridge.yaml", "--run-dir", tmp_path / "R")
    assert done.returncode == 0, done.stdout + done.stderr
    live = answers(tmp_path / "R" / "outputs.jsonl")
    assert live == answers(EXAMPLE / f"{recorded}.outputs.jsonl")


def answers(path: Path) -> dict[str, Any]:
    """What was answered, without the times."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {line["case_id"]: untimed(line) for line in lines}


def untimed(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: untimed(item)
            for key, item in value.items()
            if key != "latency_s" and item not in (None, [], {})
        }
    if isinstance(value, list):
        return [untimed(item) for item in value]
    return round(value, 9) if isinstance(value, float) else value


def test_the_golden_sets_have_no_fault(bridge: Bridge) -> None:
    done = bridge("check", ROOT / "cases", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0, report
    assert report["files"] == 5
    assert report["errors"] == 0
