"""``eval-report.json``: the fields that other steps of a pipeline read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gate_rows import binary, compare, graded, row, verdict, write_run, write_scores

from bridge.model.verdict import Verdict
from bridge.report.json import read_verdict, to_json
from bridge.report.kinds import write_reports


def report(found: Verdict) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(to_json(found))
    return document


def test_of_a_failure(tmp_path: Path) -> None:
    before = [*binary([1.0] * 30), *(graded(f"c{i:03d}", 0.8) for i in range(30))]
    now = [*binary([0.0] * 9 + [1.0] * 21), *(graded(f"c{i:03d}", 0.8) for i in range(30))]
    entries = {"equals": {"min": 0.9, "weight": 0.5}, "faithfulness": {"weight": 0.5}}
    found = report(compare(tmp_path, before, now, metrics=entries))
    assert (found["passed"], found["verdict"]) == (False, "failed")
    assert set(found["metrics"]) == {"equals", "ragas/faithfulness"}
    equals = found["metrics"]["equals"]
    assert (equals["mean"], equals["n"], equals["n_paired"]) == (0.7, 30, 30)
    assert equals["ci_low"] < 0.7 < equals["ci_high"]
    assert (equals["baseline"], equals["delta"]) == (1.0, pytest.approx(-0.3))
    assert equals["delta_low"] < -0.3 < equals["delta_high"] < 0
    assert (equals["p_raw"], equals["p"]) == (1 / 512, 2 / 512)
    assert (equals["status"], equals["weight"], equals["pass_rate"]) == ("failed", 0.5, 0.7)
    assert 0 < equals["min_detectable"] < 1
    assert equals["n_needed"] > 1
    assert len(equals["reasons"]) == 2
    (regressed,) = found["regressed"]
    assert (regressed["metric"], regressed["baseline"], regressed["now"]) == ("equals", 1.0, 0.7)
    assert regressed["ci_high"] == equals["delta_high"]
    assert found["weighted_score"] == pytest.approx(0.5 * 0.7 + 0.5 * 0.8)
    assert found["metrics"]["ragas/faithfulness"]["status"] == "passed"
    assert [each["case_id"] for each in found["failures"]] == [f"c{i:03d}" for i in range(9)]
    assert found["failures"][0]["reason"] == "c000 is 0.0"


def test_totals(tmp_path: Path) -> None:
    run = write_run(tmp_path, {"core": [*binary([1.0] * 3), row("c000", cost_usd=0.5, metric="m")]})
    usage = {"input_tokens": 7, "output_tokens": 2}
    spent = {"case_id": "c000", "latency_s": 0.5, "cost_usd": 0.25, "usage": usage}
    write_scores(run / "outputs.jsonl", [spent, {**spent, "case_id": "c001"}])
    assert report(verdict(run))["totals"] == {
        "cases": 3,
        "rows": 4,
        "errors": 0,
        "latency_s": 1.0,
        "cost_usd": 1.0,
        "input_tokens": 14,
        "output_tokens": 4,
        "judge_calls": 0,
        "judge_tokens": 0,
        "judge_cost_usd": 0.0,
    }


def test_of_rows_without_a_baseline(tmp_path: Path) -> None:
    found = report(verdict(write_scores(tmp_path / "s.jsonl", binary([1.0, 1.0]))))
    assert found["passed"] is True
    equals = found["metrics"]["equals"]
    assert [equals[key] for key in ("baseline", "delta", "p", "n_paired")] == [None, None, None, 0]
    assert found["regressed"] == []
    assert found["weighted_score"] is None


def test_written_to_a_folder(tmp_path: Path) -> None:
    found = verdict(write_scores(tmp_path / "s.jsonl", binary([1.0])))
    (path,) = write_reports(found, ["json"], tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "eval-report.json"
    assert read_verdict(path) == found
