"""The judge's hooks inside each framework, every native metric by its real class, and artefacts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Optional

import pytest
from conftest import Bridge
from judge_server import Act, JudgeServer
from native_judge import CASE, OUTPUT, honest
from pydantic import BaseModel
from test_native_metrics import judged, rows_of, write

from bridge.execution.worker import set_environment
from bridge.judge import JudgeError, Reply, Request, judges_in_force
from bridge.judge.inquiry import Inquiry
from bridge.judge.reading import read_object
from bridge.judge.structured import schema_of
from bridge.model import Case, Job, JobSpec, Output, Score
from bridge.plugin.format import ReadOptions
from bridge.plugin.metrics import by_name
from bridge.plugin.registry import get_format, get_framework
from bridge.scorers.registry import get_scorer

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*now scores in the same direction:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),
]

PYTHON = ("deepeval", "inspect", "ragas")
TALK = {
    "id": "talk",
    "input": "someone asks twice",
    "expected": "",
    "turns": [{"user": "What is the capital of France?", "expected": "Paris"}, {"user": "Sure?"}],
}
TALKED = {
    "case_id": "talk",
    "turns": [{"text": "Paris.", "retrieved_contexts": ["Paris."]}, {"text": "Yes, Paris."}],
}
CALLS = {
    **CASE,
    "expected_calls": {"calls": [{"name": "f", "arguments": {"x": 1}}]},
}
CALLED = {**OUTPUT, "tool_calls": [{"name": "f", "arguments": {"x": 1}}]}
PARAMS: dict[str, dict[str, Any]] = {
    "g_eval": {"criteria": "It names the city."},
    "role_adherence": {"role": "a guide"},
    "topic_adherence": {"topics": ["cities"]},
}


class Minimal:
    """A judge whose replies are the least that their schemas ask for."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        if request.embeds:
            return Reply("", vectors=tuple((1.0, 0.5) for _ in request.embeds))
        data = least(request.schema or {})
        return Reply(json.dumps(data), data, 10, 5, 0.25)


class Honest:
    """The tests' own judge without a server."""

    def ask(self, request: Request) -> Reply:
        if request.embeds:
            raise JudgeError("not_found", "no embeddings here")
        act = honest({"messages": [dict(each) for each in request.messages]})
        assert act.status == 200, act.body
        return Reply(
            json.dumps(act.content), read_object(json.dumps(act.content), request.schema or {})
        )


def least(schema: Mapping[str, Any], name: str = "") -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return least(schema["anyOf"][0])
    kind = schema.get("type")
    if kind == "object":
        return {key: least(each, key) for key, each in schema.get("properties", {}).items()}
    if kind == "array":
        return [] if name in ("FP", "FN") else [least(schema["items"])]
    return {"string": "a text", "boolean": True}.get(kind or "", 0)


@contextmanager
def switched(framework: str, folder: Path) -> Iterator[None]:
    """A framework's switches as a worker sets them, while it is used in this process."""
    before = dict(os.environ)
    set_environment(get_framework(framework).info, folder)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run(
    framework: str,
    folder: Path,
    checks: list[Any],
    pairs: list[tuple[Any, Any]],
    judge: Any,
    **config: Any,
) -> list[Score]:
    """The rows of a job in this process."""
    given = {"model": "m", "embeddings": {"model": "e"}, **config}
    spec = {
        "framework": framework,
        "suite": "s",
        "checks": checks,
        "judges": {"main": given},
        "native_dir": folder,
    }
    job = Job(
        spec=JobSpec.model_validate(spec),
        cases=tuple(Case.model_validate(case) for case, _ in pairs),
        outputs=tuple(Output.model_validate(output) for _, output in pairs),
    )
    with switched(framework, folder), judges_in_force({"main": judge}):
        return list(get_framework(framework).run(job))


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
    graded_value = 0.8 if framework == "deepeval" else 1.0
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


# --- the hooks by themselves ------------------------------------------------------------------


def test_deepeval_by_its_own_runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from deepeval.metrics import FaithfulnessMetric
    from deepeval.test_case import LLMTestCase

    from bridge_deepeval.judge import BridgeModel

    case = LLMTestCase(
        input="q", actual_output=OUTPUT["text"], retrieval_context=OUTPUT["retrieved_contexts"]
    )
    for run_async in (False, True):
        metric = FaithfulnessMetric(model=BridgeModel(Inquiry(Honest())), async_mode=run_async)
        assert metric.measure(case, _show_indicator=False) == 0.5
        assert metric.evaluation_model == "bridge/judge"


def test_deepeval_counts_what_a_judge_takes() -> None:
    from deepeval.metrics import GEval
    from deepeval.test_case import LLMTestCase, SingleTurnParams

    from bridge_deepeval.judge import BridgeModel

    metric = GEval(
        "g", [SingleTurnParams.ACTUAL_OUTPUT], criteria="c", model=BridgeModel(Inquiry(Minimal()))
    )
    metric.measure(LLMTestCase(input="q", actual_output="a"), _show_indicator=False)
    assert (metric.evaluation_cost, metric.input_tokens, metric.output_tokens) == (0.5, 20, 10)


def test_inspect_by_its_registry() -> None:
    """``model_graded_qa(model="bridge/main")`` asks the judge in force of that name."""
    import asyncio

    from inspect_ai.model import get_model
    from inspect_ai.scorer import Target, model_graded_qa

    from bridge_inspect.route import to_eval_sample, to_state

    with judges_in_force({"main": Honest()}):
        grader = get_model("bridge/main", memoize=False)
        state = to_state(to_eval_sample(Case.model_validate(CASE), Output.model_validate(OUTPUT)))
        score = asyncio.run(model_graded_qa(model=grader)(state, Target("It names the city.")))
    assert score is not None
    assert (score.value, score.explanation) == ("C", "it names the city\n\nGRADE: C")


@pytest.mark.parametrize("letters", ["CI", "CPI"])
def test_inspect_offers_the_scorers_own_grades(letters: str) -> None:
    """Not those that the answer speaks of."""
    import asyncio

    from inspect_ai.model import ChatMessageUser, GenerateConfig

    from bridge_inspect.judge import BridgeAPI

    judge = Minimal()
    said = f"[Submission]: LETTER is one of C.\n{'LETTER is one of ' + letters}. Please choose"
    api = BridgeAPI("main", inquiry=Inquiry(judge))
    output = asyncio.run(
        api.generate([ChatMessageUser(content=said)], [], "auto", GenerateConfig())
    )
    assert judge.requests[0].schema is not None
    assert judge.requests[0].schema["properties"]["grade"]["enum"] == list(letters)
    assert output.completion == "a text\n\nGRADE: C"
    assert output.usage is not None
    assert output.usage.total_tokens == 15


def test_ragas_by_its_own_runner(tmp_path: Path) -> None:
    """The older API's metrics take the same object."""
    with switched("ragas", tmp_path):
        from ragas import EvaluationDataset, SingleTurnSample, evaluate
        from ragas.metrics._faithfulness import Faithfulness

        from bridge_ragas.judge import BridgeLLM

        sample = SingleTurnSample(
            user_input="q", response=OUTPUT["text"], retrieved_contexts=OUTPUT["retrieved_contexts"]
        )
        llm: Any = BridgeLLM(
            Inquiry(Honest())
        )  # which RAGAS takes, and its annotation does not say
        with pytest.warns(DeprecationWarning, match="evaluate"):
            result: Any = evaluate(
                EvaluationDataset([sample]),
                [Faithfulness()],
                llm=llm,
                show_progress=False,
                allow_nest_asyncio=False,
            )
    assert result["faithfulness"] == [0.5]


# --- what they have in common -----------------------------------------------------------------


class Inner(BaseModel):
    verdict: Literal["yes", "no"]
    reason: Optional[str] = None  # noqa: UP045  # as the frameworks write it


class Outer(BaseModel):
    verdicts: list[Inner]
    score: float


def test_a_frameworks_model_as_a_schema() -> None:
    schema = schema_of(Outer, {"verdicts": {"minItems": 1}, "score": {"maximum": 10}})
    inner = {
        "type": "object",
        "properties": {
            "verdict": {"enum": ["yes", "no"], "type": "string"},
            "reason": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["verdict", "reason"],
        "additionalProperties": False,
    }
    assert schema == {
        "type": "object",
        "properties": {
            "verdicts": {"type": "array", "items": inner, "minItems": 1},
            "score": {"type": "number", "maximum": 10},
        },
        "required": ["verdicts", "score"],
        "additionalProperties": False,
    }
    sparse = '{"verdicts": [{"verdict": "yes"}], "score": 1}'
    read = read_object(sparse, schema)
    assert read["verdicts"] == [{"verdict": "yes", "reason": None}]
    with pytest.raises(JudgeError, match=r"judge_error\[schema\]"):
        read_object('{"verdicts": [{"reason": null}], "score": 1}', schema)


def test_an_inquiry_numbers_repetitions_and_keeps_the_first_failure() -> None:
    judge = Minimal()
    steady, varied = Inquiry(judge), Inquiry(judge, {"a": 1}, vary=True)
    for inquiry in (steady, varied):
        for prompt in ("x", "x", "y"):
            inquiry.ask(prompt)
    assert [request.sample for request in judge.requests] == [0, 0, 0, 0, 1, 0]
    assert judge.requests[-1].tag == {"a": 1}

    class Failing:
        def ask(self, request: Request) -> Reply:
            raise JudgeError("timeout" if request.embeds else "empty", "no")

    broken = Inquiry(Failing())
    for _ in range(2):
        with pytest.raises(JudgeError):
            broken.ask("x")
        with pytest.raises(JudgeError):
            broken.embed(["x"])
    assert broken.failure is not None
    assert broken.failure.kind == "empty"


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
