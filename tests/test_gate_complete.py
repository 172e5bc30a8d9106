"""Completeness: what a run owes, held against what is there. Absent is never a pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from gate_rows import (
    Row,
    binary,
    reasons,
    relabelled,
    row,
    verdict,
    write_run,
    write_scores,
)

from bridge.files.golden import read_golden_set
from bridge.gate.decide import decide
from bridge.gate.intake.gather import gather, with_golden_set
from bridge.model import InputError
from bridge.model.policy import GatePolicy

CASES = binary([1.0] * 6)
ERRED: Row = {"value": None, "status": "error", "error": "timed out", "reason": "timed out"}


def test_a_complete_run_passes(tmp_path: Path) -> None:
    found = verdict(write_run(tmp_path, {"core": CASES, "inspect": relabelled("inspect", CASES)}))
    assert (found.verdict, found.passed, found.reasons) == ("passed", True, ())
    assert found.totals.rows == 12
    assert found.totals.cases == 6


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (CASES[:4], "core: 2 owed rows missing, such as equals of case 'c004', equals of"),
        ([*CASES, row("c999")], "core: 1 row that the run does not expect, such as equals of"),
        ([*CASES, row("c001", metric="extra")], "such as extra of case 'c001'"),
        ([*CASES, CASES[2]], "1 row twice, such as core/equals of case 'c002'"),
        ([*CASES[:5], {**CASES[5], "epoch": 2}], "1 owed row missing"),
        ([*CASES[:5], {**CASES[5], "turn": 0}], "1 owed row missing"),
        ([*CASES[:5], {**CASES[5], "framework": "inspect"}], "1 owed row missing"),
        ([*CASES[:5], {**CASES[5], **ERRED}], "1 row could not be scored, such as core/equals of"),
    ],
)
def test_rows_that_are_not_as_owed(tmp_path: Path, rows: list[Row], reason: str) -> None:
    found = verdict(write_run(tmp_path, {"core": rows}, owed=CASES))
    assert (found.verdict, found.passed) == ("error", False)
    assert reason in reasons(found)


def test_the_reason_of_an_error_is_told(tmp_path: Path) -> None:
    found = verdict(write_run(tmp_path, {"core": [*CASES[:5], {**CASES[5], **ERRED}]}))
    assert "core/equals of case 'c005': timed out" in reasons(found)
    assert found.metrics["equals"].status == "error"
    assert found.metrics["equals"].errors == 1
    assert found.metrics["equals"].n == 5
    assert found.totals.errors == 1
    assert found.failures[0].status == "error"
    assert found.failures[0].reason == "timed out"


def test_a_missing_scores_file(tmp_path: Path) -> None:
    run = write_run(tmp_path, {"core": CASES, "inspect": []}, owed=CASES)
    (run / "scores" / "inspect.jsonl").unlink()
    found = verdict(run)
    assert found.verdict == "error"
    assert "inspect: 6 owed rows missing" in reasons(found)


def test_a_copied_scores_file(tmp_path: Path) -> None:
    found = verdict(write_run(tmp_path, {"core": CASES, "inspect": CASES}))
    assert "6 rows twice" in reasons(found)
    assert "inspect: 6 owed rows missing" in reasons(found)


def test_a_framework_by_import_string_names_itself(tmp_path: Path) -> None:
    run = write_run(tmp_path, {"my.module:FRAMEWORK": []}, owed=CASES)
    write_scores(run / "scores" / "my.module_FRAMEWORK.jsonl", relabelled("mine", CASES))
    assert verdict(run).verdict == "passed"
    write_scores(run / "scores" / "my.module_FRAMEWORK.jsonl", relabelled("mine", CASES[:3]))
    assert "mine: 3 owed rows missing" in reasons(verdict(run))


@pytest.mark.parametrize("status", ["running", "interrupted"])
def test_an_unfinished_run(tmp_path: Path, status: str) -> None:
    found = verdict(write_run(tmp_path, {"core": CASES}, status=status))
    assert found.verdict == "error"
    assert f"the run of small is {status}, not complete" in found.reasons


def test_what_a_framework_says_went_wrong(tmp_path: Path) -> None:
    frameworks = [{"name": "core", "notes": ["the worker was killed by signal 9"]}]
    found = verdict(write_run(tmp_path, {"core": CASES}, frameworks=frameworks))
    assert found.verdict == "error"
    assert "core: the worker was killed by signal 9" in found.reasons


SKIPPED: Row = {"value": None, "status": "skipped", "reason": "no reference"}
UNSUPPORTED: Row = {"value": None, "status": "unsupported", "reason": "no turns"}


@pytest.mark.parametrize("idle", [SKIPPED, UNSUPPORTED])
def test_a_case_on_which_nothing_is_scored(tmp_path: Path, idle: Row) -> None:
    rows = [*CASES[:5], {**CASES[5], **idle}]
    found = verdict(write_run(tmp_path / "a", {"core": rows}))
    assert found.verdict == "error"
    assert "on 1 case nothing was scored, such as core/equals of case 'c005'" in reasons(found)
    more = [*rows, row("c005", metric="contains")]
    assert verdict(write_run(tmp_path / "b", {"core": more})).verdict == "passed"


def test_unsupported_rows_never_count_as_missing(tmp_path: Path) -> None:
    unable = [{**each, **UNSUPPORTED} for each in relabelled("ragas", CASES)]
    found = verdict(write_run(tmp_path, {"ragas": unable, "core": CASES}))
    assert found.verdict == "passed"
    assert found.metrics["equals"].framework == "core"
    assert found.metrics["equals"].n == 6


def test_conflicting_runs(tmp_path: Path) -> None:
    first = write_run(tmp_path / "a", {"core": CASES[:3]})
    same = write_run(tmp_path / "b", {"core": CASES[3:]})
    assert verdict(first, same).verdict == "passed"
    other_metric = {"equals": {"scorer": "equals", "version": "1", "params_digest": "q"}}
    other = write_run(tmp_path / "c", {"core": CASES[3:]}, metrics=other_metric)
    assert "metric 'equals' is not the same in all runs" in reasons(verdict(first, other))
    small, large = (
        write_run(tmp_path / model, {"core": rows}, judges={"main": {"model": model}})
        for model, rows in (("small", CASES[:3]), ("large", CASES[3:]))
    )
    assert "judge 'main' is not the same in all runs" in reasons(verdict(small, large))


def test_one_case_with_two_contents(tmp_path: Path) -> None:
    first = write_run(tmp_path / "a", {"core": CASES[:3]})
    changed = {"c000": {"digest": "sha256:other"}}
    second = write_run(tmp_path / "b", {"core": [row("c000", metric="contains")]}, cases=changed)
    assert "case 'c000' is not the same in all runs" in reasons(verdict(first, second))


def test_several_systems_are_refused_unless_one_is_named(tmp_path: Path) -> None:
    other = [{**each, "system": "new"} for each in binary([0.0] * 6)]
    broken = [*other[:5], {**other[5], **ERRED}]
    run = write_run(tmp_path / "run", {"core": [*CASES, *broken]})
    with pytest.raises(InputError, match="several systems in one result: 'default', 'new'"):
        verdict(run)
    with pytest.raises(InputError, match="no row of system 'old'"):
        verdict(run, system="old")
    found = verdict(run, system="default")
    assert (found.verdict, found.system, found.totals.rows) == ("passed", "default", 6)
    assert verdict(run, system="new").verdict == "error"


def test_a_system_without_any_row_is_not_forgotten(tmp_path: Path) -> None:
    owed = [*CASES, *({**each, "system": "new"} for each in CASES)]
    run = write_run(tmp_path / "run", {"core": CASES}, owed=owed)
    with pytest.raises(InputError, match="several systems"):
        verdict(run)
    with pytest.raises(InputError, match="no row of system 'new'"):
        verdict(run, system="new")


def test_costs_are_those_of_the_system(tmp_path: Path) -> None:
    rows = [*CASES, *({**each, "system": "new", "cost_usd": 0.5} for each in CASES)]
    run = write_run(tmp_path / "run", {"core": rows})
    usage = {"input_tokens": 10, "output_tokens": 3}
    outputs: list[Row] = [
        {"case_id": "c000", "latency_s": 2.5, "cost_usd": 0.25, "usage": usage},
        {"case_id": "c000", "system": "new", "latency_s": 40.0, "cost_usd": 4.0},
        {"case_id": "c001", "latency_s": None, "usage": None},
    ]
    write_scores(run / "outputs.jsonl", outputs)
    totals = verdict(run, system="default").totals
    assert (totals.latency_s, totals.cost_usd) == (2.5, 0.25)
    assert (totals.input_tokens, totals.output_tokens) == (10, 3)
    assert verdict(run, system="new").totals.cost_usd == 4.0 + 6 * 0.5


class TestLooseFiles:
    """Files without a run to say what they owe."""

    def test_uneven_epochs(self, tmp_path: Path) -> None:
        rows = [{**each, "epoch": epoch} for each in CASES for epoch in (1, 2, 3)]
        whole = write_scores(tmp_path / "whole.jsonl", rows)
        assert verdict(whole).verdict == "passed"
        found = verdict(write_scores(tmp_path / "cut.jsonl", rows[:-2]))
        assert found.verdict == "error"
        assert "core: 1 result of fewer than 3 epochs, such as core/equals of case 'c005'" in (
            reasons(found)
        )

    def test_frameworks_that_hold_different_cases(self, tmp_path: Path) -> None:
        core = write_scores(tmp_path / "core.jsonl", CASES)
        inspect = write_scores(tmp_path / "inspect.jsonl", relabelled("inspect", CASES[:4]))
        found = verdict(core, inspect)
        assert found.verdict == "error"
        assert "inspect: 2 rows of equals missing that core has" in reasons(found)

    def test_the_golden_set_says_what_they_owe(self, tmp_path: Path) -> None:
        ids = ("c000", "c001", "c002", "c007")
        golden = [
            {"id": i, "input": "?", "expected": "!", "tags": ["t"], "failure_mode": "m"}
            for i in ids
        ]
        path = write_scores(tmp_path / "cases.jsonl", golden)
        loose = gather([write_scores(tmp_path / "scores.jsonl", binary([1.0, 1.0, 0.0]))])
        evidence = with_golden_set(loose, read_golden_set(path))
        found = decide(evidence, GatePolicy(must_pass=("tag:t",)))
        assert found.verdict == "error"
        assert "core: no row of 1 case of the suite, such as 'c007'" in reasons(found)
        assert "must-pass case 'c002' failed equals" in reasons(found)
        assert found.failures[0].failure_mode == "m"
        assert found.failures[0].where == f"{path}:3"
