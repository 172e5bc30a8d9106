"""A run of the real promptfoo: parity, what promptfoo itself shows of it, and what it leaves."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from promptfoo_runs import Rows, make_job, native_rows, read_back, run_job

from bridge_promptfoo.install import VERSION, search_path
from bridge_promptfoo.seal import PREFIX

pytestmark = pytest.mark.xdist_group("promptfoo")

SCORERS = """
from bridge.model import Measurement
from bridge.scorers.registry import Scorer

def half(case, output, params):
    print("a scorer may print")
    return [Measurement(value=0.5, reason="half", label="middling", details={"token": "kept"})]

def never(case, output, params):
    return [Measurement(status="unsupported", reason="not by this framework")]

def breaks(case, output, params):
    raise RuntimeError("boom")

HALF = Scorer("half", "3", half, threshold=None)
NEVER = Scorer("never", "1", never)
BREAKS = Scorer("breaks", "2", breaks)
"""

CHECKS: list[Any] = [
    {"equals": {"weight": 3}},
    {"contains": {"value": "yes", "metric": "says_yes"}},
    {"run_scorers:HALF": {"metric": "half", "gate": False}},
    {"all": ["equals", {"contains": {"value": "y"}}], "metric": "group", "threshold": 0.5},
]
CASES: list[dict[str, Any]] = [
    {"id": "good", "input": "q", "expected": "yes"},
    {"id": "bad", "input": "q", "expected": "yes", "checks": [{"equals": {"weight": 0}}]},
    {"id": "none", "input": "q", "expected": ""},
    {
        "id": "odd",
        "input": "q",
        "expected": "yes",
        "checks": [
            {"run_scorers:BREAKS": {"metric": "breaks"}},
            {"run_scorers:NEVER": {"metric": "never"}},
        ],
    },
    {
        "id": "talk",
        "input": "s",
        "expected": "",
        "turns": [{"user": "a", "expected": "yes"}, {"user": "b", "expected": "no"}],
    },
    {"id": "down", "input": "q", "expected": "yes"},
]
OUTPUTS: list[dict[str, Any]] = [
    {"case_id": "good", "text": "yes", "cost_usd": 0.25, "latency_s": 0.1,
     "usage": {"input_tokens": 3, "output_tokens": 4}},
    {"case_id": "good", "epoch": 2, "text": ""},
    {"case_id": "bad", "text": "no"},
    {"case_id": "none", "text": "yes"},
    {"case_id": "odd", "text": "yes"},
    {"case_id": "talk", "turns": [{"text": "yes"}, {"text": "yes"}]},
    {"case_id": "down", "error": "HTTP 429: rate limit, retry after 600"},
    {"case_id": "good", "system": "other", "text": "yes"},
]  # fmt: skip


@dataclass(frozen=True)
class Run:
    rows: Rows
    core: Rows
    folder: Path
    native: list[Any]
    results: Any


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    job = make_job(folder, CASES, OUTPUTS, CHECKS, run_scorers=SCORERS)
    rows, broke = run_job(job)
    assert broke == ""
    core, _ = run_job(job, "core")
    results = json.loads((folder / "native" / "s-0-default.json").read_bytes())
    return Run(rows, core, folder / "native", native_rows(results), results)


def test_rows_are_those_of_core(run: Run) -> None:
    assert run.rows == run.core
    statuses = {row["status"] for row in run.rows.values()}
    assert statuses == {"passed", "failed", "scored", "error", "skipped", "unsupported"}


def test_the_artefact_reads_back_into_the_rows(run: Run) -> None:
    found: Rows = {}
    for name in ("s-0-default.json", "s-0-other.json"):
        rows, bundle, notes = read_back(run.folder / name)
        found |= rows
        assert notes == ()
        assert {case.id for case in bundle.cases} <= {case["id"] for case in CASES}
    assert found == run.rows


def test_every_check_is_a_component_under_its_metric(run: Run) -> None:
    good = run.native[0]["gradingResult"]
    shown = {each["assertion"]["metric"]: each for each in good["componentResults"]}
    assert list(shown) == ["equals", "says_yes", "half", "group"]
    assert shown["equals"]["pass"] is True
    assert shown["equals"]["reason"] == run.rows["default", "good", 1, None, "equals"]["reason"]
    assert shown["half"]["score"] == 0.5
    assert good["namedScores"] == {"equals": 1, "says_yes": 1, "half": 0.5, "group": 1}
    assert run.native[0]["testCase"]["description"] == "good: q"


def test_weights_count_in_promptfoos_own_score(run: Run) -> None:
    assert run.native[0]["score"] == pytest.approx((3 + 1 + 0.5 + 1) / 6)
    assert run.native[2]["score"] == pytest.approx(0.5 / 3)  # equals weighs nothing here


def test_skipped_and_unsupported_are_neither_passed_nor_failed(run: Run) -> None:
    none, odd = run.native[3], run.native[4]
    assert [each["assertion"]["metric"] for each in none["gradingResult"]["componentResults"]] == [
        "says_yes",
        "half",
        "group",
    ]
    assert "equals" not in none["namedScores"]
    assert none["gradingResult"]["metadata"]["bridge"][0]["metric"] == "equals"
    assert "never" not in odd["namedScores"]
    counted = run.results["results"]["prompts"][0]["metrics"]
    assert counted["namedScoresCount"]["equals"] == 5
    components = [
        each
        for row in run.native
        for each in (row["gradingResult"] or {"componentResults": []})["componentResults"]
    ]
    assert counted["assertPassCount"] + counted["assertFailCount"] == len(components)


def test_an_error_is_a_failure_in_promptfoos_view_and_says_so(run: Run) -> None:
    odd = run.native[4]
    assert odd["success"] is False
    assert "[error] RuntimeError: boom" in odd["error"]
    assert run.rows["default", "odd", 1, None, "breaks"]["status"] == "error"
    assert run.rows["default", "odd", 1, None, "equals"]["status"] == "passed"


def test_a_failed_system_is_an_error_in_promptfoos_view(run: Run) -> None:
    down = run.native[6]
    assert down["failureReason"] == 2
    assert down["error"] == "HTTP 429: rate limit, retry after 600"  # which is not waited for
    row = run.rows["default", "down", 1, None, "equals"]
    assert row["error"] == "the system failed: HTTP 429: rate limit, retry after 600"


def test_promptfoo_holds_text_cost_time_and_tokens(run: Run) -> None:
    good = run.native[0]
    assert (good["response"]["output"], good["cost"], good["latencyMs"]) == ("yes", 0.25, 100)
    assert good["response"]["tokenUsage"]["prompt"] == 3
    assert run.native[1]["response"]["output"] == ""  # an empty answer is an answer


def test_a_conversation_has_a_row_a_turn(run: Run) -> None:
    turns = [run.rows["default", "talk", 1, turn, "equals"]["status"] for turn in (0, 1)]
    assert turns == ["passed", "failed"]
    talk = run.native[5]["gradingResult"]
    assert talk["namedScores"]["equals"] == 0.5
    assert "turn 1: " in talk["reason"]


def test_everything_that_is_left_is_in_the_native_folder(run: Run) -> None:
    names = {path.name for path in run.folder.iterdir()}
    kinds = ("json", "log", "yaml")
    artefacts = {f"s-0-{system}.{kind}" for system in ("default", "other") for kind in kinds}
    assert names == {*artefacts, "route.json", ".promptfoo"}
    route = json.loads((run.folder / "route.json").read_text())
    assert (route["version"], route["route"]) == (VERSION, "eval")


def test_the_config_holds_nothing_that_promptfoo_would_touch(run: Run) -> None:
    config = json.loads((run.folder / "s-0-default.yaml").read_text())
    first = config["tests"][0]
    assert first["metadata"]["bridge"].startswith(PREFIX)
    assert "vars" not in first
    assert "providerOutput" not in first
    assert first["options"] == {"disableVarExpansion": True}


def test_promptfoos_own_reader_takes_the_results(run: Run, tmp_path: Path) -> None:
    env = {
        "PATH": search_path(),
        "HOME": str(tmp_path),
        "PROMPTFOO_CONFIG_DIR": str(tmp_path),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
    }
    command = ["promptfoo", "import", str(run.folder / "s-0-default.json")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "has been successfully imported" in done.stdout
