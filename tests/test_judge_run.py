"""Runs with a judge: asked once, the same in every framework, and every failure an error row."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge, write_jsonl, write_suite
from judge_server import Act, JudgeServer
from test_judge_client import FAULTS, KEY

from bridge.judge import kind_of
from bridge.judge.errors import LASTING
from bridge.plugin.registry import framework_names

FRAMEWORKS = [name for name in framework_names() if name != "core"]
OUT_OF_RANGE = {"right": {"rationale": "x", "score": 11}}
CHECK = {"criteria": {"right": "It says what the reference says."}, "judge": "main"}


def mark(body: dict[str, Any]) -> Act:
    """Marks an answer by its content: it is right if it is the reference."""
    text = body["messages"][-1]["content"]
    parts = {
        name: found[0]
        for name in ("REFERENCE", "ANSWER")
        if (found := re.findall(rf"\[data-\w+ {name}\]\n(.*?)\n\[/data", text, re.DOTALL))
    }
    score = 9 if parts["ANSWER"] == parts["REFERENCE"] else 2
    return Act({"right": {"rationale": "compared", "score": score}})


def checked_by(server: JudgeServer, judge: dict[str, Any] | None = None) -> dict[str, Any]:
    given = {"model": "m", "base_url": server.url, "retries": 0, **(judge or {})}
    return {"checks": ["equals", {"rubric": CHECK}], "judges": {"main": given}}


def suite_with(
    folder: Path, server: JudgeServer, judge: dict[str, Any] | None = None, **fields: Any
) -> Path:
    return write_suite(folder, {**checked_by(server, judge), **fields})


def rows_of(run: Path, framework: str, metric: str = "rubric") -> list[dict[str, Any]]:
    lines = (run / "scores" / f"{framework}.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["metric"] == metric]


def record_of(run: Path) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads((run / "run.json").read_text("utf-8"))
    return whole


def test_a_run_in_core(bridge: Bridge, tmp_path: Path) -> None:
    with JudgeServer(mark) as server:
        suite = suite_with(tmp_path, server, {"price": {"input": 1, "output": 2}})
        done = bridge("run", suite, "--run-dir", tmp_path / "R")
        assert done.returncode == 0, done.stderr
        assert server.calls == 4
    rows = rows_of(tmp_path / "R", "core")
    assert [row["value"] for row in rows] == [0.9, 0.9, 0.9, 0.2]
    assert [row["status"] for row in rows] == ["passed"] * 3 + ["failed"]
    assert {row["judge"] for row in rows} == {"main"}
    assert [row["cost_usd"] for row in rows] == [pytest.approx(0.00014)] * 4
    assert (rows[0]["usage"]["input_tokens"], rows[0]["usage"]["output_tokens"]) == (100, 20)
    took = record_of(tmp_path / "R")["judges"]["main"]
    assert took == {
        "model": "m", "calls": 4, "cached": 0, "errors": 0,
        "input_tokens": 400, "output_tokens": 80, "cost_usd": pytest.approx(0.00056),
    }  # fmt: skip
    assert "judge main: 4 calls, 0 from the cache, 0 without an answer, 480 tokens" in done.stdout


def test_a_second_run_makes_no_call_and_a_changed_one_does(bridge: Bridge, tmp_path: Path) -> None:
    with JudgeServer(mark) as server:
        calls = []

        def again(**fields: Any) -> None:
            suite = suite_with(tmp_path, server, **fields)
            assert bridge("run", suite, "--run-dir", tmp_path / "R").returncode == 0
            calls.append(server.calls)

        again()
        again()
        assert record_of(tmp_path / "R")["judges"]["main"]["cached"] == 4
        again(judge={"model": "other"})
        again(checks=[{"rubric": {**CHECK, "criteria": {"right": "Other words."}}}])
        rows = [{"case_id": f"c{i}", "text": f"a{i}"} for i in range(4)]
        outputs = write_jsonl(tmp_path / "v2.outputs.jsonl", rows)
        again(system={"recorded": outputs.name})  # one answer of four is another one
    assert calls == [4, 4, 8, 12, 13]


def test_every_framework_is_given_the_same_replies(bridge: Bridge, tmp_path: Path) -> None:
    """By a judge that never says the same twice."""
    scores = iter(range(100))

    def moody(_: dict[str, Any]) -> Act:
        return Act({name: {"rationale": "hm", "score": next(scores) % 11} for name in "zay"})

    check = {**CHECK, "criteria": {"z": "last first", "a": "then a", "y": "then y"}}
    with JudgeServer(moody) as server:
        fields = {"frameworks": ["core", *FRAMEWORKS], "checks": [{"rubric": check}]}
        suite = suite_with(tmp_path, server, {"cache": False}, **fields)
        done = bridge("run", suite, "--run-dir", tmp_path / "R")
        assert done.returncode == 0, done.stdout + done.stderr
        assert server.calls == 4
    kept = ("value", "status", "reason", "details", "judge", "label")
    core = [{name: row[name] for name in kept} for row in rows_of(tmp_path / "R", "core")]
    for framework in FRAMEWORKS:
        own = rows_of(tmp_path / "R", framework)
        assert [{name: row[name] for name in kept} for row in own] == core, framework
    gated = bridge("gate", tmp_path / "R", "--json")
    assert "parity" not in gated.stdout


def test_every_failure_is_an_error_row_with_its_kind(bridge: Bridge, tmp_path: Path) -> None:
    """Each case is met with another one; what would stay for all is tested in the client."""
    kinds = [kind for kind in FAULTS if kind not in LASTING]
    slow = {"timeout": Act(delay_s=9), "range": Act(OUT_OF_RANGE)}
    faults = {**{kind: FAULTS[kind][0] for kind in kinds}, **slow}

    def fail(body: dict[str, Any]) -> Act:
        found = re.search(r"\bq(\d+)\n", body["messages"][-1]["content"])
        assert found is not None
        return faults[kinds[int(found[1])]]

    with JudgeServer(fail) as server:
        judge = {"timeout_s": 5, "api_key_env": "JUDGE_KEY"}
        suite = write_suite(tmp_path, checked_by(server, judge), cases=len(kinds))
        done = bridge("run", suite, "--run-dir", tmp_path / "R", "--gate", JUDGE_KEY=KEY)
    assert done.returncode == 3
    rows = rows_of(tmp_path / "R", "core")
    assert [row["status"] for row in rows] == ["error"] * len(kinds)
    assert [kind_of(row["error"]) for row in rows] == kinds
    equal = rows_of(tmp_path / "R", "core", "equals")
    assert [row["status"] for row in equal] == ["passed"] * (len(kinds) - 1) + ["failed"]
    for path in (tmp_path / "R").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_failures_in_every_framework(bridge: Bridge, tmp_path: Path) -> None:
    with JudgeServer(FAULTS["auth"]) as server:
        suite = suite_with(tmp_path, server, frameworks=["core", *FRAMEWORKS])
        done = bridge("run", suite, "--run-dir", tmp_path / "R")
        assert done.returncode == 3
        assert server.calls <= 4  # what was on its way when the first was refused
    for framework in ("core", *FRAMEWORKS):
        rows = rows_of(tmp_path / "R", framework)
        assert [kind_of(row["error"] or "") for row in rows] == ["auth"] * 4, framework


def test_no_key(bridge: Bridge, tmp_path: Path) -> None:
    with JudgeServer(mark) as server:
        suite = suite_with(tmp_path, server, {"api_key_env": "NO_SUCH_KEY"})
        assert bridge("run", suite, "--run-dir", tmp_path / "R").returncode == 3
        assert server.calls == 0
    assert {kind_of(row["error"]) for row in rows_of(tmp_path / "R", "core")} == {"no_key"}


def test_a_budget_stops_cleanly_and_a_larger_one_goes_on(bridge: Bridge, tmp_path: Path) -> None:
    with JudgeServer(mark) as server:
        suite = suite_with(tmp_path, server, {"budget": {"calls": 2}})
        assert bridge("run", suite, "--run-dir", tmp_path / "R").returncode == 3
        errors = [row["error"] for row in rows_of(tmp_path / "R", "core")]
        assert sum(error is None for error in errors) == 2
        assert {kind_of(error) for error in errors if error} == {"budget"}
        suite = suite_with(tmp_path, server)
        assert bridge("run", suite, "--run-dir", tmp_path / "R", "--resume").returncode == 0
        assert server.calls == 4


def test_going_on_asks_again_where_the_judge_failed(bridge: Bridge, tmp_path: Path) -> None:
    with JudgeServer(lambda body: Act("") if server.calls <= 4 else mark(body)) as server:
        suite = suite_with(tmp_path, server)
        assert bridge("run", suite, "--run-dir", tmp_path / "R").returncode == 3
        for _ in range(2):
            assert bridge("run", suite, "--run-dir", tmp_path / "R", "--resume").returncode == 0
            assert server.calls == 8


def test_going_on_leaves_scores_that_quote_an_error(bridge: Bridge, tmp_path: Path) -> None:
    """A judge may quote an answer that speaks of errors: its row is none."""
    quoting = Act({"right": {"rationale": "it says judge_error[timeout]: x", "score": 9}})
    with JudgeServer([quoting]) as server:
        suite = suite_with(tmp_path, server, {"cache": False})
        assert bridge("run", suite, "--run-dir", tmp_path / "R").returncode == 0
        assert bridge("run", suite, "--run-dir", tmp_path / "R", "--resume").returncode == 0
        assert server.calls == 4


def test_the_gate_counts_what_judges_took_once(bridge: Bridge, tmp_path: Path) -> None:
    """Every framework's rows say what they cost to find; it was paid once."""
    with JudgeServer(mark) as server:
        fields = {"frameworks": ["core", "inspect"], "gate": {"metrics": {"equals": {"min": 0}}}}
        suite = suite_with(tmp_path, server, {"price": {"input": 1, "output": 2}}, **fields)
        done = bridge("run", suite, "--run-dir", tmp_path / "R", "--gate")
        totals = json.loads((tmp_path / "R" / "eval-report.json").read_text("utf-8"))["totals"]
        assert (totals["judge_calls"], totals["judge_tokens"]) == (4, 480)
        assert totals["judge_cost_usd"] == totals["cost_usd"] == pytest.approx(0.00056)
        assert "judges 4 calls, 0.0006 USD, 480 tokens" in done.stdout
        costs = [row["cost_usd"] for row in rows_of(tmp_path / "R", "inspect")]
        assert costs == [pytest.approx(0.00014)] * 4


def test_a_dry_run_says_what_would_be_asked(bridge: Bridge, tmp_path: Path) -> None:
    with JudgeServer(mark) as server:
        check = {**CHECK, "criteria": {"a": "x", "b": "y"}, "calls": "each", "samples": 3}
        group = {"all": ["equals", {"rubric": CHECK}], "metric": "group"}
        suite = suite_with(tmp_path, server, checks=[{"rubric": check}, group], epochs=2)
        done = bridge("run", suite, "--dry-run", "--json")
        assert json.loads(done.stdout)["judge_calls"] == 2 * 4 * (6 + 1)
        assert server.calls == 0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"checks": [{"rubric": {"criteria": {"a": "x"}}}]}, "asks a judge and names none"),
        ({"checks": [{"rubric": {**CHECK, "judge": "other"}}]}, "names judge other, not in judges"),
        ({"judges": {"main": {"model": "m", "base_url": "http://u:p@h/v1"}}}, "holds no user"),
        ({"judges": {"main": {"model": "m", "budget": {"usd": 1}}}}, "needs the judge's price"),
        ({"judges": {"main": {"model": "m", "options": {"api_key": "x"}}}}, "options hold api_key"),
    ],
)
def test_bad_suites(bridge: Bridge, tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    with JudgeServer(mark) as server:
        done = bridge("run", suite_with(tmp_path, server, **fields), "--run-dir", tmp_path / "R")
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_case_that_names_an_unknown_judge(bridge: Bridge, tmp_path: Path) -> None:
    with JudgeServer(mark) as server:
        suite = suite_with(tmp_path, server)
    own = {"rubric": {**CHECK, "judge": "nobody", "metric": "own"}}
    rows = [{"id": "c0", "input": "q", "expected": "a", "checks": [own]}]
    write_jsonl(tmp_path / "cases.jsonl", rows)
    done = bridge("run", suite, "--run-dir", tmp_path / "R")
    assert done.returncode == 2
    assert "cases.jsonl:1: check own names judge nobody" in done.stderr
