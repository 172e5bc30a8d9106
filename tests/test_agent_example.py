"""The agent example runs as its README says."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import ROOT, Bridge

EXAMPLE = ROOT / "examples" / "parcel_agent"


def test_the_agent_passes_its_gate(bridge: Bridge, tmp_path: Path) -> None:
    done = bridge("run", EXAMPLE / "bridge.yaml", "--run-dir", tmp_path / "R", "--gate")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (tmp_path / "R" / "outputs.jsonl").read_text("utf-8").splitlines()
    first, _, third = map(json.loads, lines)
    assert [len(turn["tool_calls"]) for turn in first["turns"]] == [0, 1, 0]
    assert first["turns"][1]["tool_calls"][0]["result"]["city"] == "Lille"
    assert [turn["prefilter"]["blocked"] for turn in third["turns"]] == [False, True, False]


def test_its_golden_set_has_no_fault(bridge: Bridge) -> None:
    done = bridge("check", EXAMPLE / "bridge.yaml", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["errors"]) == (0, 0), report
