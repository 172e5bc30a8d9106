"""Scorers, Node and promptfoo break in the middle: what was scored stays, the rest says why."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge, write_suite
from promptfoo_runs import make_job, read_back, run_job

from bridge.model.errors import InfrastructureError
from bridge_promptfoo.launch import Evaluation, what_it_said

pytestmark = pytest.mark.xdist_group("promptfoo")

DEADLY = """
import os, signal, time
from bridge.scorers.registry import Scorer, binary

def deadly(case, output, params):
    if output.text == "die":
        os._exit(7)
    if output.text == "hang":
        time.sleep(600)
    if output.text == "kill node":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
    if output.text == "shout":
        os.write(1, b"not an answer")
        os.system("echo nor is this")
    return [binary(True, "alive")]

DEADLY = Scorer("deadly", "1", deadly)
"""


def answered(folder: Path, texts: list[str], **options: Any) -> tuple[dict[str, Any], str]:
    """The row of each text by its place, and how the run broke."""
    job = make_job(
        folder,
        [{"id": f"c{index:02d}", "input": "q", "expected": ""} for index in range(len(texts))],
        [{"case_id": f"c{index:02d}", "text": text} for index, text in enumerate(texts)],
        [{"deadly:DEADLY": {"metric": "alive"}}],
        deadly=DEADLY,
    )
    spec = job.spec.model_copy(update={"options": options})
    rows, broke = run_job(job.model_copy(update={"spec": spec}))
    return {case_id: row for (_, case_id, _, _, _), row in rows.items()}, broke


def test_a_scorer_process_that_dies_costs_what_it_had_in_hand_and_is_restarted_once(
    tmp_path: Path,
) -> None:
    texts = ["ok"] * 60
    texts[10] = texts[35] = "die"
    rows, broke = answered(tmp_path, texts)
    assert broke == ""
    assert len(rows) == 60
    assert rows["c00"]["status"] == "passed"
    for place in ("c10", "c35", "c59"):
        assert rows[place]["status"] == "error"
        assert "the scorer process ended (exit code 7)" in rows[place]["reason"]
    between = [rows[f"c{index}"]["status"] for index in range(20, 34)]
    assert "passed" in between
    found, _, notes = read_back(tmp_path / "native" / "s-0.json")
    assert {row["case_id"]: row["status"] for row in found.values()} == {
        name: row["status"] for name, row in rows.items()
    }
    assert notes == ()


def test_a_check_that_hangs_is_ended(tmp_path: Path) -> None:
    rows, broke = answered(tmp_path, ["ok", "hang"], check_timeout_s=1.5)
    assert broke == ""
    assert rows["c01"]["status"] == "error"
    assert "a check took longer than 1500 ms" in rows["c01"]["reason"]


def test_what_a_scorer_prints_is_no_answer(tmp_path: Path) -> None:
    rows, broke = answered(tmp_path, ["shout", "ok"])
    assert broke == ""
    assert [row["status"] for row in rows.values()] == ["passed", "passed"]
    assert "not an answer" in (tmp_path / "native" / "s-0.log").read_text("utf-8")


def test_node_that_is_killed_leaves_the_rows_it_wrote(tmp_path: Path) -> None:
    rows, broke = answered(tmp_path, [*["ok"] * 30, "kill node"])
    assert "promptfoo ended with exit code 137 and no results" in broke
    assert "s-0.log" in broke
    assert "c30" not in rows
    assert len(rows) >= 10
    assert {row["status"] for row in rows.values()} == {"passed"}


def test_the_driver_fills_what_is_missing_with_the_reason(tmp_path: Path, bridge: Bridge) -> None:
    suite = write_suite(
        tmp_path,
        {"checks": [{"deadly:DEADLY": {"metric": "alive"}}], "frameworks": ["promptfoo"]},
        deadly=DEADLY.replace('"kill node"', '"wrong"'),
    )
    done = bridge("run", suite, "--run-dir", tmp_path / "R", "--gate")
    assert done.returncode == 3, done.stdout + done.stderr
    scores = (tmp_path / "R" / "scores" / "promptfoo.jsonl").read_text("utf-8").splitlines()
    assert len(scores) == 4
    assert "promptfoo ended with exit code 137" in scores[3]


def test_no_results_file_is_no_success(tmp_path: Path) -> None:
    """promptfoo exits 13 with nothing written when a promise is never settled (issue 10928)."""
    run = Evaluation(tmp_path / "s.yaml", {})
    run.log.write_text("Warning: Detected unsettled top-level await\n", "utf-8")
    run.exit_code = 13
    with pytest.raises(
        InfrastructureError, match=r"exit code 13 and no results \(Warning: Detected"
    ):
        run.finish(keep=True)
    run.exit_code = 0
    with pytest.raises(InfrastructureError, match="exit code 0 and no results"):
        run.finish(keep=True)


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ("", "no word"),
        ("Starting\n\nRunning 3 tests\n", "Running 3 tests"),
        ("a\nError: no such file\n  at x\n\nNode.js v24.19.0\n", "Error: no such file"),
    ],
)
def test_the_log_is_asked_why(log: str, told: str) -> None:
    assert what_it_said(log) == told


def test_a_wrong_option_is_named(tmp_path: Path) -> None:
    job = make_job(tmp_path, [{"id": "a", "input": "q", "expected": ""}],
                   [{"case_id": "a", "text": "x"}], ["equals"])  # fmt: skip
    spec = job.spec.model_copy(update={"options": {"check_timeout_s": "soon"}})
    rows, broke = run_job(job.model_copy(update={"spec": spec}))
    assert rows == {}
    assert "check_timeout_s is 'soon'; give a number of seconds" in broke


def test_no_process_is_left_behind(tmp_path: Path) -> None:
    if not Path("/proc").is_dir():
        pytest.skip("needs /proc")
    answered(tmp_path, ["ok", "hang"], check_timeout_s=1)
    answered(tmp_path, ["ok", "kill node"])
    place = f"{tmp_path / 'native'}/.promptfoo".encode()
    deadline = time.monotonic() + 20
    while left := [path for path in Path("/proc").glob("[0-9]*/environ") if _holds(path, place)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


def _holds(path: Path, text: bytes) -> bool:
    try:
        return text in path.read_bytes()
    except OSError:
        return False
