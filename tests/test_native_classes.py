"""Every native metric by its real class; turns, groups and artefacts; what a judge is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge
from judge_server import Act, JudgeServer
from native_jobs import (
    CALLED,
    CALLS,
    PARAMS,
    PYTHON,
    TALK,
    TALKED,
    Honest,
    Minimal,
    least,
    run,
)
from native_judge import CASE, OUTPUT
from test_native_metrics import judged, rows_of, write

from bridge.judge import JudgeError, Reply, Request
from bridge.model import Case, Check, InputError, Output, Score
from bridge.plugin.format import ReadOptions
from bridge.plugin.metrics import by_name
from bridge.plugin.registry import get_format, get_framework
from bridge.scorers.registry import get_scorer, validate_check

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*now scores in the same direction:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),
]

NATIVE = [
    (framework, metric.name)
    for framework in PYTHON
    for metric in by_name(get_framework(framework).info.native_metrics).values()
]


@pytest.mark.parametrize(("framework", "name"), NATIVE)
def test_every_class_scores(framework: str, name: str, tmp_path: Path) -> None:
    """And asks as often as the docs say, which counts a turn or a context for one."""
    metric = by_name(get_framework(framework).info.native_metrics)[name]
    scorer = get_scorer(name)
    check = judged(name, **PARAMS.get(name, {})) if scorer.judged else name
    talks = "turns" in metric.needs
    pair = (TALK, TALKED) if talks else (CALLS, CALLED)
    judge = Minimal()
    (row,) = run(framework, tmp_path, [check], [pair], judge, temperature=None)
    assert row.value is not None, row.error
    assert row.details["native"] == metric.own
    case, output = Case.model_validate(pair[0]), Output.model_validate(pair[1])
    asked = [request for request in judge.requests if not request.embeds]
    if not talks:
        assert len(asked) == metric.calls_for(case, output)
        assert len(judge.requests) - len(asked) == metric.embeds
    else:
        assert 0 < len(asked) <= metric.calls_for(case, output)
    for request in asked:
        assert request.tag["metric"] == name
        assert request.tag["framework"] == framework
        if request.schema is not None:
            assert request.schema["additionalProperties"] is False


@pytest.mark.parametrize("framework", PYTHON)
def test_turns_groups_and_the_artefact(framework: str, tmp_path: Path) -> None:
    """Each turn is a case of its own, a group has native members, and what is written reads back."""
    graded = judged("g_eval", criteria="It names the city.", metric="city")
    group = {"all": [{"contains": {"value": "Paris"}}, graded], "metric": "both", "threshold": 0.9}
    checks = [judged("g_eval", criteria="It names the city.", negate=True), group]
    pairs = [
        (CASE, OUTPUT),
        (TALK, TALKED),
        ({**CASE, "id": "failed"}, {"case_id": "failed", "error": "HTTP 500"}),
    ]
    rows = run(framework, tmp_path, checks, pairs, Honest())
    found = {(row.case_id, row.turn, row.metric): row for row in rows}
    assert len(found) == len(rows) == 2 * (1 + 2 + 1)
    graded_value = 1.0 if framework == "inspect" else 0.8
    for case_id, turn in (("paris", None), ("talk", 0), ("talk", 1)):
        own = found[case_id, turn, "not_g_eval"]
        assert own.value == pytest.approx(1 - graded_value)
        assert own.status == "failed"
        both = found[case_id, turn, "both"]
        assert both.value == pytest.approx((1 + graded_value) / 2)
        assert [each["metric"] for each in both.details["members"]] == ["contains", "city"]
        assert framework in both.scorer_version
    for metric in ("not_g_eval", "both"):
        assert found["failed", None, metric].error == "the system failed: HTTP 500"
    assert_reads_back(framework, tmp_path, rows)


WHOLE = {
    "deepeval": ("ConversationalGEval", "GEval", 0.8),
    "inspect": ("model_graded_qa", "model_graded_qa", 1.0),
}
"""Of a conversation, of one answer; and what it makes of an answer that names the city."""


@pytest.mark.parametrize("framework", WHOLE)
@pytest.mark.parametrize("show", [["input"], ["input", "reference", "contexts"]])
def test_g_eval_of_whole_conversations(framework: str, show: list[str], tmp_path: Path) -> None:
    """The judge sees every turn at once; a case without turns is scored as ever."""
    criteria = "It names the city."
    check = judged("g_eval", criteria=criteria, scope="conversation", show=show)
    silent = {"case_id": "silent", "turns": [{"text": ""}, {"text": " "}]}
    pairs = [(TALK, TALKED), (CASE, OUTPUT), ({**TALK, "id": "silent"}, silent)]
    judge = Honest()
    rows = run(framework, tmp_path, [check], pairs, judge)
    found = {row.case_id: row for row in rows}
    whole, single, value = WHOLE[framework]
    for case_id, own in (("talk", whole), ("paris", single)):
        assert found[case_id].value == value, found[case_id].error
        assert found[case_id].details["native"] == own
    assert found["silent"].error == "the answer is empty: there is nothing to judge"
    prompts = [request.messages[-1]["content"] for request in judge.requests]
    assert [each for each in prompts if "Sure?" in each and "Yes, Paris." in each]
    if framework == "deepeval":
        assert any("'retrieval_context':" in each for each in prompts) is ("contexts" in show)
    assert_reads_back(framework, tmp_path, rows)


def test_g_eval_is_shown_what_there_is(tmp_path: Path) -> None:
    """What a case has not is left out: DeepEval would refuse the case."""
    bare = {"id": "bare", "input": "What is the capital of France?", "expected": ""}
    answer = {"case_id": "bare", "text": "Paris."}
    check = judged("g_eval", criteria="It names the city.", show=["reference", "contexts"])
    (row,) = run("deepeval", tmp_path, [check], [(bare, answer)], Honest())
    assert row.value == 0.8, row.error


def assert_reads_back(framework: str, folder: Path, rows: list[Score]) -> None:
    paths = sorted(
        path for path in folder.glob("s-0-native*") if path.suffix in (".json", ".eval", ".jsonl")
    )
    assert paths
    read = [
        score
        for path in paths
        for score in get_format(framework).read(path, ReadOptions())[0].scores
    ]
    assert {row.key: row for row in read} == {row.key: row for row in rows}


COUNTED = [
    ("deepeval", "faithfulness"),
    ("deepeval", "answer_relevancy"),
    ("deepeval", "summarization"),
    ("ragas", "faithfulness"),
]


@pytest.mark.parametrize(("framework", "name"), COUNTED)
def test_a_judge_that_loses_count(framework: str, name: str, tmp_path: Path) -> None:
    """It lists five things and judges as few as the schema lets it: the schema asks for five."""

    class Careless(Minimal):
        def ask(self, request: Request) -> Reply:
            reply = super().ask(request)
            listed = {
                field: ["a text"] * 5
                for field, value in (reply.data or {}).items()
                if value == ["a text"] and field in ("claims", "statements", "questions")
            }
            return replace(reply, data={**(reply.data or {}), **listed})

    (row,) = run(framework, tmp_path, [judged(name)], [(CASE, OUTPUT)], Careless())
    assert row.error is None
    assert row.value is not None


def test_a_failure_that_a_framework_swallows_is_an_error(tmp_path: Path) -> None:
    """RAGAS's ContextRelevance asks five times, and gives NaN or the other judge's rating."""

    class Half(Minimal):
        def ask(self, request: Request) -> Reply:
            if "world class expert" in request.messages[0]["content"]:
                raise JudgeError("refusal", "not this")
            return super().ask(request)

    (row,) = run("ragas", tmp_path, [judged("context_relevancy")], [(CASE, OUTPUT)], Half())
    assert (row.status, row.error) == ("error", "judge_error[refusal]: not this")


# --- promptfoo, which is another process ------------------------------------------------------

HOSTILE = "{{7*7}} {% raw %} {# c #} {{env.HOME}} $HOME"
FILE = "file:///etc/passwd"


def quoting(body: dict[str, Any]) -> Act:
    """The least replies, but for context-relevance, which has to quote."""
    if "input" in body:
        data = [{"index": at, "embedding": [1.0, 2.0]} for at, _ in enumerate(body["input"])]
        return Act(body=json.dumps({"data": data}).encode())
    schema = body["response_format"]["json_schema"]["schema"]
    reply = least(schema)
    return Act({"sentences": [HOSTILE]} if "sentences" in reply else reply)


def test_promptfoo_gets_data_as_it_is(bridge: Bridge, tmp_path: Path) -> None:
    """Nothing is rendered, no file is read; the judge sees the very texts."""
    names = ["faithfulness", "answer_relevancy", "context_recall", "context_relevancy"]
    checks = [*map(judged, (*names, "answer_correctness", "turn_relevancy"))]
    checks.append(judged("g_eval", criteria=f"criteria {HOSTILE}"))
    cases = [
        {"id": "tags", "input": f"asked {HOSTILE}", "expected": f"expected {HOSTILE}"},
        {"id": "file", "input": FILE, "expected": FILE},
        {**TALK, "turns": [{"user": f"asked {HOSTILE}"}, {"user": FILE}]},
    ]
    outputs = [
        {"case_id": "tags", "text": f"said {HOSTILE}", "retrieved_contexts": [f"{HOSTILE}", "b"]},
        {"case_id": "file", "text": FILE, "retrieved_contexts": [FILE]},
        {"case_id": "talk", "turns": [{"text": f"said {HOSTILE}"}, {"text": FILE}]},
    ]
    with JudgeServer(quoting) as server:
        suite = write(tmp_path, server, checks, ["promptfoo"], cases=cases, outputs=outputs)
        done = bridge("run", suite, "--run-dir", tmp_path / "R")
    rows = {
        (row["case_id"], row["turn"], row["metric"]): row
        for row in rows_of(tmp_path / "R", "promptfoo")
    }
    errors = [key for key, row in rows.items() if row["error"]]
    assert errors == [("file", None, "context_relevancy")], done.stderr  # which quotes another text
    assert rows["talk", None, "turn_relevancy"]["value"] == 1.0
    seen = "\n".join(
        message["content"] for body in server.bodies for message in body.get("messages", ())
    )
    seen += "\n".join(text for body in server.bodies for text in body.get("input", ()))
    for text in ("asked", "expected", "said", "criteria"):
        assert f"{text} {HOSTILE}" in seen, text
    assert FILE in seen
    assert '{{ "' not in seen
    assert "root:" not in seen
    assert "49" not in seen


RUBRIC = ["Nothing is right.", "Little is.", "Half is.", "Most is.", "All is."]


def test_g_eval_is_graded_in_ragas(tmp_path: Path) -> None:
    """No value of 0 or 1 alone: its native scale is kept."""
    check = {"g_eval": {"criteria": "It names the city.", "judge": "main"}}
    (row,) = run("ragas", tmp_path, [check], [(CASE, OUTPUT)], Honest())
    assert (row.value, row.status, row.reason) == (0.8, "passed", "it names the city")
    assert row.raw is not None
    assert (row.raw.value, row.raw.scale) == (8.0, (0.0, 10.0))
    assert row.details["native"] == "SimpleCriteriaScore"


@pytest.mark.parametrize(
    ("framework", "value", "native", "raw"),
    [
        ("ragas", 0.75, "DomainSpecificRubrics", (4.0, (1.0, 5.0))),
        ("deepeval", 0.8, "GEval", None),
    ],
)
def test_a_rubric_of_levels(
    tmp_path: Path, framework: str, value: float, native: str, raw: Any
) -> None:
    check = {"g_eval": {"criteria": "It names the city.", "rubric": RUBRIC, "judge": "main"}}
    judge = Honest()
    (row,) = run(framework, tmp_path, [check], [(CASE, OUTPUT)], judge)
    assert (row.value, row.status, row.reason) == (value, "passed", "it names the city")
    assert row.details["native"] == native
    assert (None if row.raw is None else (row.raw.value, row.raw.scale)) == raw
    asked = str(judge.requests[-1].messages)
    assert all(level in asked for level in RUBRIC)


def test_a_rubric_that_a_framework_does_not_take(tmp_path: Path) -> None:
    check = {"g_eval": {"criteria": "c", "rubric": RUBRIC, "judge": "main"}}
    (row,) = run("inspect", tmp_path, [check], [(CASE, OUTPUT)], Honest())
    assert row.status == "unsupported"
    assert "takes no rubric" in row.reason
    with pytest.raises(InputError, match="a rubric of 2 levels, not 5"):
        validate_check(Check.model_validate({"g_eval": {"criteria": "c", "rubric": ["a", "b"]}}))
