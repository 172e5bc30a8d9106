"""Folders whose names hold a colon, which promptfoo and search paths take for a separator."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from promptfoo_runs import Rows, evaluate, make_job, native_rows, read_back, run_job

from bridge_promptfoo import replay, scorers, to_config
from bridge_promptfoo.scorers import SCORERS, to_script

pytestmark = pytest.mark.xdist_group("promptfoo")

TWICE = """
import os
from bridge.scorers.registry import Scorer, binary

def twice(case, output, params):
    if output.text == "die":
        os._exit(7)
    return [binary(output.text == "ok", "said so")]

TWICE = Scorer("twice", "1", twice)
"""
TALK = {
    "id": "talk",
    "input": "twice",
    "expected": "",
    "turns": [{"user": "1?", "expected": "1"}, {"user": "2?", "expected": "2"}],
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The adapter's scripts in a folder with a colon, and braces that could be a template."""
    folder = tmp_path / "in:stalled {{x}} 'here'"
    folder.mkdir()
    for script in scorers.SCRIPT.parent.glob("*.cjs"):
        shutil.copy(script, folder)
    checks = folder / scorers.SCRIPT.name
    monkeypatch.setattr(scorers, "CHECKS", to_script(checks))
    monkeypatch.setattr(replay, "SUMMARY", f"file://{checks}:summary")
    monkeypatch.setattr(replay, "REPLAY", f"file://{folder / 'replay.cjs'}")


def run(folder: Path, *texts: str) -> Rows:
    cases: list[Any] = [{"id": text, "input": "q", "expected": ""} for text in texts]
    outputs: list[Any] = [{"case_id": text, "text": text} for text in texts]
    talk = {"case_id": "talk", "turns": [{"text": "1"}, {"text": "no"}]}
    checks = ["equals", {"twice:TWICE": {"metric": "twice"}}]
    job = make_job(folder, [*cases, TALK], [*outputs, talk], checks, twice=TWICE)
    rows, broke = run_job(job)
    assert broke == ""
    core, _ = run_job(job, "core") if "die" not in texts else ({}, "")
    assert not core or rows == core
    return rows


def of_case(rows: Rows, case_id: str) -> list[dict[str, Any]]:
    return [row for row in rows.values() if row["case_id"] == case_id]


@pytest.mark.usefixtures("installed")
def test_everything_lies_in_folders_with_a_colon(tmp_path: Path) -> None:
    folder = tmp_path / "10:30"
    folder.mkdir()
    rows = run(folder, "ok", "no")
    assert {row["status"] for row in rows.values()} == {"passed", "failed", "skipped"}
    assert read_back(folder / "native" / "s-0.json")[0] == rows


@pytest.mark.usefixtures("installed")
def test_a_scorer_process_that_dies_is_an_error_there_too(tmp_path: Path) -> None:
    """promptfoo has what a function throws as an ordinary failure, and a file's throw as an error."""
    rows = run(tmp_path, "ok", "die")
    assert [row["status"] for row in of_case(rows, "die")] == ["error", "error"]
    assert all("process ended (exit code 7)" in row["reason"] for row in of_case(rows, "die"))
    found, _, notes = read_back(tmp_path / "native" / "s-0.json")
    assert found == rows
    assert notes == ()


@pytest.mark.usefixtures("installed")
def test_other_peoples_tests_may_call_the_checks_from_there(tmp_path: Path) -> None:
    test = {"providerOutput": "refund", "assert": [SCORERS["contains"](value="refund")]}
    results, code = evaluate(tmp_path, {"prompts": ["p"], "providers": ["echo"], "tests": [test]})
    assert code == 0
    (row,) = native_rows(results)
    assert row["gradingResult"]["componentResults"][0]["reason"] == 'contains ["refund"]'


@pytest.mark.usefixtures("installed")
def test_to_config_too(tmp_path: Path) -> None:
    job = make_job(tmp_path, [{"id": "a", "input": "q", "expected": "a", "checks": ["equals"]}],
                   [{"case_id": "a", "text": "a"}], [])  # fmt: skip
    _, code = evaluate(tmp_path, to_config(job.bundle))
    assert code == 0
    rows, _, _ = read_back(tmp_path / "own.json")
    assert [row["status"] for row in rows.values()] == ["passed"]


def test_the_ordinary_way_is_a_file() -> None:
    assert to_script(Path("/opt/checks.cjs")) == "file:///opt/checks.cjs"
