"""Frameworks' own metrics under neutral names: one suite, each framework's classes, one judge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge, write_jsonl
from judge_server import JudgeServer
from native_judge import CASE, CRITERIA, OUTPUT, honest

from bridge.model import Case, Check, Output
from bridge.model.judge import JudgeConfig
from bridge.plugin.metrics import by_name
from bridge.plugin.registry import get_framework
from bridge.plugin.scoring.applicable import known_of
from bridge.scorers import evaluate, validate_check
from bridge.scorers.native import nearest_shared
from bridge.scorers.registry import BUILT_IN, JUDGED, NATIVE, get_scorer

FRAMEWORKS = ["deepeval", "inspect", "ragas", "promptfoo"]
VALUES: dict[str, dict[str, Any]] = {
    "deepeval": {
        "faithfulness": 0.5,
        "answer_relevancy": 0.5,
        "context_recall": 0.5,
        "g_eval": 0.8,
    },
    "inspect": {
        "faithfulness": None,
        "answer_relevancy": None,
        "context_recall": None,
        "g_eval": 1.0,
    },
    "promptfoo": {
        "faithfulness": 0.5,
        "answer_relevancy": pytest.approx(0.74, abs=0.1),
        "context_recall": 0.5,
        "g_eval": 0.8,
    },
    "ragas": {
        "faithfulness": 0.5,
        "answer_relevancy": pytest.approx(0.67, abs=0.1),
        "context_recall": 0.5,
        "g_eval": 0.8,
    },
}
"""What each framework makes of the same answers of the same judge."""


def judged(name: str, **params: Any) -> dict[str, Any]:
    return {name: {"judge": "main", **params}}


CHECKS: list[Any] = [
    "contains",
    judged("faithfulness"),
    judged("answer_relevancy"),
    judged("context_recall"),
    judged("g_eval", criteria=CRITERIA),
]


def write(
    folder: Path,
    server: JudgeServer,
    checks: list[Any],
    frameworks: list[Any],
    *,
    judge: Mapping[str, Any] | None = None,
    cases: list[Any] | None = None,
    outputs: list[Any] | None = None,
    judges: Mapping[str, Mapping[str, Any]] | None = None,
) -> Path:
    """A suite over the one case, or others, with a judge at the server; several if need be."""
    write_jsonl(folder / "cases.jsonl", cases or [CASE])
    write_jsonl(folder / "v1.outputs.jsonl", outputs or [OUTPUT])
    usual = {
        "model": "m",
        "base_url": server.url,
        "retries": 0,
        "embeddings": {"model": "e"},
    }
    named = {"main": judge or {}, **(judges or {})}
    whole = {
        "name": "native",
        "golden_set": "cases.jsonl",
        "system": {"recorded": "v1.outputs.jsonl"},
        "frameworks": frameworks,
        "checks": [{"contains": {"value": "Paris"}} if x == "contains" else x for x in checks],
        "judges": {name: {**usual, **changes} for name, changes in named.items()},
    }
    path = folder / "bridge.yaml"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


def rows_of(run: Path, framework: str) -> list[dict[str, Any]]:
    lines = (run / "scores" / f"{framework}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_one_suite_in_every_framework(bridge: Bridge, tmp_path: Path) -> None:
    """And a second run asks what is new alone: nothing but what follows from other criteria."""
    run = tmp_path / "R"
    with JudgeServer(honest) as server:
        suite = write(tmp_path, server, CHECKS, ["core", *FRAMEWORKS])
        foretold = json.loads(bridge("run", suite, "--dry-run", "--json").stdout)["judges"]["main"]
        done = bridge("run", suite, "--run-dir", run)
        assert done.returncode == 0, done.stdout + done.stderr
        assert_foretold(foretold, server)
        for framework in FRAMEWORKS:
            found = {row["metric"]: row["value"] for row in rows_of(run, framework)}
            assert found == {"contains": 1.0, **VALUES[framework]}, framework
        assert_stamped(run)
        assert_noted(run)
        assert_gated(bridge, suite, run)
        asked = server.calls
        changed = [*CHECKS[:-1], judged("g_eval", criteria="Paris?")]
        other = write(tmp_path, server, changed, ["core", *FRAMEWORKS])
        assert bridge("run", other, "--run-dir", run).returncode == 0
        # Inspect's and RAGAS's verdict, promptfoo's steps and score, and DeepEval's steps, from which
        # the very score follows
        assert server.calls == asked + 5


def assert_foretold(foretold: Mapping[str, int], server: JudgeServer) -> None:
    """The estimate of a dry run is of the size of what the frameworks' real prompts then are."""
    questions = [body["messages"] for body in server.bodies if "messages" in body]
    chars = sum(len(each["content"]) for messages in questions for each in messages)
    assert server.calls <= foretold["calls_at_most"]
    assert 0.7 <= foretold["input_tokens_about"] / (chars / 4) <= 1.5
    assert foretold["output_tokens_at_most"] >= len(questions) * 1024


def assert_noted(run: Path) -> None:
    """The ledger says for which metric the judge was asked."""
    lines = (run / "judge" / "ledger.jsonl").read_text("utf-8").splitlines()
    tags = [json.loads(line)["tag"] for line in lines]
    noted = {tag["metric"] for tag in tags if tag["framework"] == "promptfoo"}
    assert noted == VALUES["promptfoo"].keys()


def assert_stamped(run: Path) -> None:
    """Rows say whose metric they are; where there is none, who has it."""
    for framework in FRAMEWORKS:
        own = by_name(get_framework(framework).info.native_metrics)
        for row in rows_of(run, framework):
            if row["metric"] != "contains" and row["metric"] in own:
                assert row["scorer"] == row["metric"]
                assert row["scorer_version"] == f"{framework} {row['framework_version']}"
                assert row["judge"] == "main"
                assert row["details"]["native"] == own[row["metric"]].own
    lacking = [row for row in rows_of(run, "core") if row["metric"] != "contains"]
    assert {row["status"] for row in lacking} == {"unsupported"}
    assert all("DeepEval" in row["reason"] for row in lacking)


def assert_gated(bridge: Bridge, suite: Path, run: Path) -> None:
    """The gate keeps frameworks apart and holds none to parity."""
    verdict = json.loads(bridge("gate", run, "--suite", suite, "--json").stdout)
    assert verdict["verdict"] == "passed", verdict
    assert {"contains", "deepeval/faithfulness", "ragas/faithfulness"} <= set(verdict["metrics"])
    assert "faithfulness" not in verdict["metrics"]


def test_a_dry_run_counts_what_every_framework_asks(bridge: Bridge, tmp_path: Path) -> None:
    """Shared checks once, native ones in each framework that has them and only where they apply."""
    bare = {"id": "bare", "input": "q", "expected": ""}
    with JudgeServer(honest) as server:
        rubric = {"rubric": {"judge": "main", "criteria": {"a": "x"}}}
        suite = write(
            tmp_path,
            server,
            [*CHECKS, rubric],
            ["core", *FRAMEWORKS],
            judge={"price": {"input": 1.0, "output": 2.0}},
            cases=[CASE, bare],
            outputs=[OUTPUT, {"case_id": "bare", "text": "a"}],
        )
        done = bridge("run", suite, "--dry-run", "--json")
        said = bridge("run", suite, "--dry-run")
        assert server.calls == 0
    facts = json.loads(done.stdout)
    paris = (4 + 3 + 2 + 2) + 1 + ((2 + 3 + 1 + 2) + 4) + ((2 + 3 + 1 + 1) + 2)
    without = (3 + 2) + 1 + ((3 + 2) + 4) + ((3 + 1) + 2)
    assert facts["judge_calls"] == paris + without + 2
    main = facts["judges"]["main"]
    tokens = main["input_tokens_about"] * 1.0 + main["output_tokens_about"] * 2.0
    assert main["cost_usd_about"] == pytest.approx(tokens / 1e6)
    assert f"judge main: at most {facts['judge_calls']} calls, about " in said.stdout
    assert "US dollars (an estimate)" in said.stdout


def test_a_check_with_nothing_to_score_ends_the_run_before_a_judge_is_asked(
    bridge: Bridge, tmp_path: Path
) -> None:
    bare = [{**CASE, "expected": ""}]
    with JudgeServer(honest) as server:
        suite = write(tmp_path, server, CHECKS, ["core", *FRAMEWORKS], cases=bare)
        done = bridge("run", suite, "--run-dir", tmp_path / "R")
        assert server.calls == 0
    assert done.returncode == 2
    what = "check context_recall has nothing to score: no case or output has reference"
    assert done.stderr == f"bridge: {suite}: {what}; add them, or take the check away\n"


CALLS = {"expected_calls": {"calls": [{"name": "f", "arguments": {"x": {"$approx": 1.0}}}]}}


@pytest.mark.parametrize(
    ("framework", "check", "judge", "changes", "status", "said"),
    [
        ("ragas", judged("faithfulness"), {}, {}, None, ""),
        (
            "ragas",
            judged("faithfulness"),
            {},
            {"retrieved_contexts": []},
            "skipped",
            "no retrieved",
        ),
        ("ragas", judged("faithfulness"), {}, {"text": " "}, "error", "the answer is empty"),
        ("ragas", judged("answer_relevancy"), {}, {}, "unsupported", "judge main has none"),
        ("ragas", judged("answer_relevancy"), {"embeddings": {"model": "e"}}, {}, None, ""),
        ("ragas", judged("g_eval", steps=["a"]), {}, {}, "unsupported", "takes criteria"),
        ("deepeval", judged("g_eval", steps=["a"]), {}, {}, None, ""),
        ("deepeval", judged("role_adherence", role="clerk"), {}, {}, "skipped", "no turns"),
        ("deepeval", "tool_correctness", {}, {}, "skipped", "no expected calls"),
        ("deepeval", "tool_correctness", {}, CALLS, "unsupported", "hold matchers"),
        ("inspect", judged("bias"), {}, {}, "unsupported", "DeepEval can; the nearest shared"),
    ],
)
def test_what_is_known_without_asking(
    framework: str,
    check: Any,
    judge: dict[str, Any],
    changes: dict[str, Any],
    status: str | None,
    said: str,
) -> None:
    case = {**CASE, **{key: changes[key] for key in changes if key == "expected_calls"}}
    output = {**OUTPUT, **{key: changes[key] for key in changes if key != "expected_calls"}}
    found = known_of(
        get_framework(framework).info,
        {"main": JudgeConfig.model_validate({"model": "m", **judge})},
        Check.model_validate(check),
        Case.model_validate(case),
        Output.model_validate(output),
    )
    assert (found and found.status) == status
    assert found is None or said in found.reason


def test_every_name_has_a_scorer_and_a_near_one() -> None:
    for name in NATIVE:
        scorer = get_scorer(name)
        assert scorer.name == name
        assert scorer.native
        assert scorer.summary
        assert nearest_shared(name) in {**BUILT_IN, **JUDGED}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_framework_accounts_for_every_name(framework: str) -> None:
    metrics = get_framework(framework).info.native_metrics
    assert [each.name for each in metrics] == list(NATIVE)
    for each in metrics:
        assert bool(each.own) != bool(each.why_not), each.name
        judged = bool(each.calls or each.more)
        assert not each.own or judged == get_scorer(each.name).judged, each.name


def test_nothing_is_scored_outside_a_framework() -> None:
    case, output = Case.model_validate(CASE), Output.model_validate(OUTPUT)
    found = evaluate(Check.model_validate(judged("faithfulness")), case, output)
    assert (found.status, found.value) == ("unsupported", None)


def test_a_group_with_an_unsupported_member_is_unsupported() -> None:
    """Its other members alone would be another metric."""
    case, output = Case.model_validate(CASE), Output.model_validate(OUTPUT)
    group = {"all": [{"contains": {"value": "Paris"}}, judged("faithfulness")], "metric": "both"}
    found = evaluate(Check.model_validate(group), case, output)
    assert (found.status, found.value) == ("unsupported", None)
    assert found.reason.startswith("faithfulness: ")


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ("faithfulness", "asks a judge and names none"),
        (judged("faithfulness", strict=True), "strict"),
        (judged("g_eval"), "give criteria, or steps"),
        (judged("g_eval", criteria="a", steps=["b"]), "give criteria, or steps"),
        (judged("g_eval", steps=[" "]), "an empty step"),
        (judged("role_adherence"), "role"),
        (judged("topic_adherence", topics=[]), "topics"),
    ],
)
def test_bad_checks(check: Any, said: str) -> None:
    with pytest.raises(Exception, match=said):
        validate_check(Check.model_validate(check))
