"""The frameworks' own metrics attached to native objects, run by the frameworks themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from judge_server import Act, JudgeServer
from native_jobs import TALK, TALKED, switched
from native_judge import CASE, CRITERIA, OUTPUT, honest
from promptfoo_runs import evaluate, native_rows

from bridge.judge import judges_served
from bridge.judge.serving import ServedJudges
from bridge.model import Bundle, Case, Output, Suite
from bridge_promptfoo import to_config

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*now scores in the same direction:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),
]

CHECKS: list[Any] = [
    "contains",
    {"faithfulness": {"judge": "main"}},
    {"g_eval": {"criteria": CRITERIA, "judge": "main", "threshold": 0.7}},
    {"hallucination": {"judge": "main", "metric": "invented"}},
]
BARE = {"case_id": "bare", "text": "Paris is the capital of France."}
"""An answer without contexts: nothing to be faithful to."""


def bundle_of(url: str, cases: list[Any], outputs: list[Any], checks: list[Any]) -> Bundle:
    judge = {"model": "m", "base_url": url, "embeddings": {"model": "e"}}
    suite = {
        "name": "s",
        "golden_set": "c.jsonl",
        "system": {"recorded": "o.jsonl"},
        "checks": checks,
        "judges": {"main": judge},
    }
    return Bundle(
        suite=Suite.model_validate(suite),
        cases=tuple(map(Case.model_validate, cases)),
        outputs=tuple(map(Output.model_validate, outputs)),
    )


@contextmanager
def served(
    framework: str,
    folder: Path,
    cases: list[Any],
    outputs: list[Any],
    checks: list[Any] = CHECKS,
    script: Any = honest,
) -> Iterator[tuple[Bundle, ServedJudges, JudgeServer]]:
    """A bundle, and its judge on a server of its own."""
    with JudgeServer(script) as server, switched(framework, folder):
        bundle = bundle_of(server.url, cases, outputs, checks)
        assert bundle.suite is not None
        with judges_served(bundle.suite.judges) as judges:
            yield bundle, judges, server


PAIRS = [CASE, {**CASE, "id": "bare", "reference_contexts": []}], [OUTPUT, BARE]


@pytest.mark.parametrize("run_async", [False, True])
def test_deepeval_evaluates_them(tmp_path: Path, run_async: bool) -> None:
    with served("deepeval", tmp_path, *PAIRS) as (bundle, _, _):
        from deepeval.evaluate import evaluate as run
        from deepeval.evaluate.configs import AsyncConfig, DisplayConfig, ErrorConfig

        from bridge_deepeval import to_test_cases

        native = to_test_cases(bundle)
        result = run(
            list(native.test_cases),
            list(native.metrics),
            async_config=AsyncConfig(run_async=run_async),
            display_config=DisplayConfig(show_indicator=False, print_results=False),
            error_config=ErrorConfig(ignore_errors=True),
        )
    found = {
        (each.name, data.name): (data.score, data.success, data.evaluation_model)
        for each in result.test_results
        for data in each.metrics_data or ()
    }
    assert found["paris", "faithfulness"] == (0.5, True, "bridge/main")
    assert found["paris", "g_eval"] == (0.8, True, "bridge/main")
    assert found["bare", "faithfulness"][:2] == (None, None)  # skipped: no contexts
    assert found["bare", "g_eval"] == (0.8, True, "bridge/main")


def test_deepeval_tells_a_turn_from_a_conversation(tmp_path: Path) -> None:
    checks = [
        {"g_eval": {"criteria": CRITERIA, "judge": "main", "scope": scope, "metric": scope}}
        for scope in ("turn", "conversation")
    ]
    with served("deepeval", tmp_path, [TALK], [TALKED], checks) as (bundle, _, _):
        from bridge_deepeval import to_test_cases

        native = to_test_cases(bundle)
        assert not native.test_cases
        values = {
            metric.__name__: metric.measure(native.conversations[0])
            for metric in native.conversational_metrics
        }
        rows = json.loads(native.conversational_metrics[0].verbose_logs)["bridge"]["rows"]
    assert values == {"turn": 0.8, "conversation": 0.8}
    assert [row["turn"] for row in rows] == [0, 1]
    assert {row["scorer_version"].split()[0] for row in rows} == {"deepeval"}


INSPECT = """
import json, sys
from inspect_ai import eval
from bridge.judge import judges_served
from bridge.model import Bundle
from bridge_inspect import to_task

bundle = Bundle.model_validate_json(sys.stdin.read())
with judges_served(bundle.suite.judges):
    log = eval(to_task(bundle), model=None, display="none", log_dir="logs")[0]
print(log.model_dump_json(include={"status", "samples", "stats"}))
"""


def test_inspect_evaluates_them(tmp_path: Path) -> None:
    with JudgeServer(honest) as server:
        done = subprocess.run(
            [sys.executable, "-c", INSPECT],
            input=bundle_of(server.url, *PAIRS, CHECKS).model_dump_json(),
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    log = json.loads(done.stdout.splitlines()[-1])
    assert log["status"] == "success"
    first, bare = (sample["scores"] for sample in log["samples"])
    assert first["g_eval"]["value"] == bare["g_eval"]["value"] == 1.0
    assert first["g_eval"]["explanation"] == "it names the city"
    assert first["faithfulness"]["reason"] == "unsupported"
    (row,) = first["g_eval"]["metadata"]["bridge"]["rows"]
    assert (row["status"], row["details"]["native"]) == ("passed", "model_graded_qa")
    assert log["stats"]["model_usage"]["bridge/judge"]["total_tokens"] == 240


def test_promptfoo_evaluates_them(tmp_path: Path) -> None:
    other = {**OUTPUT, "system": "other", "text": "It has ten rivers."}
    checks = [*CHECKS, {"faithfulness": {"judge": "main", "metric": "not so", "negate": True}}]
    with JudgeServer(honest) as server:
        bundle = bundle_of(server.url, PAIRS[0], [*PAIRS[1], other], checks)
        assert bundle.suite is not None
        with judges_served(bundle.suite.judges) as judges:
            results, _ = evaluate(tmp_path, to_config(bundle), **judges.environment)
    found, aside = {}, {}
    for row in native_rows(results):
        place = (row["provider"]["label"], row["testCase"]["metadata"]["case_id"])
        grading = row["gradingResult"]
        for each in grading["componentResults"]:
            found[*place, each["assertion"]["metric"]] = each
        for each in grading["metadata"]["bridge"]:
            aside[*place, each["metric"]] = each["reason"]
    own = found["default", "paris", "faithfulness"]
    assert (own["score"], own["pass"]) == (0.5, True)
    assert own["assertion"]["type"] == "context-faithfulness"
    assert found["other", "paris", "faithfulness"]["score"] == 0.0
    assert found["default", "paris", "g_eval"]["score"] == 0.8
    assert found["other", "paris", "g_eval"]["pass"] is False
    assert ("default", "bare", "faithfulness") not in found  # nothing to be faithful to
    assert "no retrieved contexts" in aside["default", "bare", "faithfulness"]
    assert "has no hallucination" in aside["default", "paris", "invented"]
    assert "cannot be turned round" in aside["default", "paris", "not so"]


def test_ragas_evaluates_them(tmp_path: Path) -> None:
    with served("ragas", tmp_path, *PAIRS) as (bundle, _, _):
        from ragas import evaluate as run

        from bridge_ragas import to_dataset, to_metrics

        with pytest.warns(DeprecationWarning, match="evaluate"):
            result: Any = run(
                to_dataset(bundle),
                to_metrics(bundle),
                show_progress=False,
                allow_nest_asyncio=False,
            )
    assert result["faithfulness"][0] == 0.5
    assert result["faithfulness"][1] != result["faithfulness"][1]
    assert result["g_eval"][0] == 0.8
    left = result.traces[1]["faithfulness"]["bridge"]["output"]
    assert (left["status"], left["rows"][0]["reason"]) == ("skipped", "no retrieved contexts")
    assert result.traces[0]["invented"]["bridge"]["output"]["status"] == "unsupported"


@pytest.mark.parametrize("framework", ["deepeval", "ragas"])
def test_a_judge_that_fails_is_an_error_and_no_pass(framework: str, tmp_path: Path) -> None:
    checks: list[Any] = [{"faithfulness": {"judge": "main"}}]
    gone = [Act(status=401, body=b"{}")]
    with served(framework, tmp_path, [CASE], [OUTPUT], checks, gone) as (bundle, _, _):
        from bridge.plugin.registry import get_framework

        native: Any = get_framework(framework).to_native(bundle)
        (answers,) = [
            metric.metric.measure(bundle.cases[0], bundle.outputs[0]) for metric in native.metrics
        ]
    assert [found.status for _, found in answers] == ["error"]
    assert "judge_error[auth]" in (answers[0][1].error or "")


def test_without_its_judge_a_metric_says_where_to_find_it(tmp_path: Path) -> None:
    checks: list[Any] = [{"faithfulness": {"judge": "main"}}]
    bundle = bundle_of("http://127.0.0.1:9/v1", [CASE], [OUTPUT], checks)
    with switched("deepeval", tmp_path):
        from bridge_deepeval import to_test_cases

        native = to_test_cases(bundle)
        assert native.metrics[0].measure(native.test_cases[0]) is None
    assert native.metrics[0].success is False
    assert "use bridge run or judges_served" in native.metrics[0].error
