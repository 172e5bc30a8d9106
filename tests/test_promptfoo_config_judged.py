"""promptfoo's model-graded assertions as checks that ask a judge, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.model import Bundle, Case, Check, ConversionReport, JudgeConfig, Output, Suite
from bridge.model.errors import InputError
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge.scorers.registry import validate_check
from bridge.testing.accounted import assert_accounted
from bridge_promptfoo.config import CONFIG
from bridge_promptfoo.config.graders import GRADER, to_judge, to_provider
from bridge_promptfoo.config.kinds import KINDS
from bridge_promptfoo.metrics import METRICS

GRADER_ID = "openai:chat:gpt-4o"
LOCAL = {"id": GRADER_ID, "config": {"apiBaseUrl": "http://127.0.0.1:8/v1", "apiKeyEnvar": "KEY"}}
JUDGED = [kind for kind in KINDS.values() if kind.is_mapped and kind.asks_judge]
KEPT = ("conversation-relevance", "search-rubric", "agent-rubric", "trajectory:goal-success")


def read(folder: Path, config: dict[str, Any], **options: Any) -> tuple[Bundle, ConversionReport]:
    """A config, read and accounted for."""
    path = folder / "promptfooconfig.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    bundle, report = CONFIG.read(path, ReadOptions(options=options))
    templates = ("tests[].assert[].value",)
    assert_accounted(config, bundle, report, changed=templates, only=True)
    return bundle, report


def write(folder: Path, bundle: Bundle) -> dict[str, Any]:
    """A bundle as a config, whose reading gives the bundle again."""
    path = folder / "written" / "promptfooconfig.json"
    path.parent.mkdir(exist_ok=True)
    CONFIG.write(bundle, path, WriteOptions(options={"tests": "inline"}))
    assert CONFIG.read(path, ReadOptions())[0] == bundle.model_copy(update={"scores": ()})
    config: dict[str, Any] = json.loads(path.read_bytes())
    return config


def of(*asserts: Any, grader: Any = LOCAL, **test: Any) -> dict[str, Any]:
    """A config with one test, whose reference answer is `ref`."""
    options = {} if grader is None else {"defaultTest": {"options": {"provider": grader}}}
    tests = [{"vars": {"q": "x", "reference": "ref"}, "assert": list(asserts), **test}]
    return {"prompts": ["{{q}}"], "providers": ["echo"], "tests": tests, **options}


def only(bundle: Bundle) -> Check:
    (case,) = bundle.cases
    (check,) = case.checks
    return check


def test_the_metrics_that_promptfoo_carries_out_are_the_ones_its_assertions_become() -> None:
    """One meaning a name: what a job asks promptfoo for is what its configs are read into."""
    assert {KINDS[each.own].judge: each.own for each in METRICS if each.own} == {
        each.name: each.own for each in METRICS if each.own
    }


# --- assertions as checks -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", JUDGED, ids=lambda kind: kind.type)
def test_each_becomes_a_check_that_can_be_carried_out_and_comes_back(
    kind: Any, tmp_path: Path
) -> None:
    given = {"type": kind.type, "value": "ref", "metric": "m", "weight": 2, "label": "kept"}
    if kind.graded is not None:
        given["threshold"] = 0.6
    bundle, report = read(tmp_path, of(given))
    check = only(bundle)
    validate_check(check)
    assert (check.scorer, check.metric, check.weight, check.judge) == (kind.judge, "m", 2, "grader")
    assert check.threshold == (None if kind.graded is None else 0.6)
    assert bundle.suite is not None
    assert dict(bundle.suite.judges) == {
        "grader": JudgeConfig(model="gpt-4o", base_url="http://127.0.0.1:8/v1", api_key_env="KEY")
    }
    assert any("judge grader is gpt-4o at http://127.0.0.1:8/v1" in each for each in report.notes)
    needs_framework = [each for each in report.notes if "--frameworks promptfoo" in each]
    assert len(needs_framework) == (kind.judge != "rubric")
    (test,) = write(tmp_path, bundle)["tests"]
    assert test["assert"] == [given]
    assert test["options"]["provider"] == LOCAL


@pytest.mark.parametrize("kind", JUDGED, ids=lambda kind: kind.type)
def test_without_a_grader_nothing_asks_a_judge(kind: Any, tmp_path: Path) -> None:
    given = {"type": kind.type, "value": "ref"}
    bundle, report = read(tmp_path, of(given, grader=None))
    assert bundle.suite is not None
    assert not bundle.suite.judges
    assert not bundle.cases[0].checks
    (line,) = [line for line in report.lines if line.field == "tests[].assert[]"]
    assert (line.fate, line.count) == ("carried", 2)
    assert "--read-option judge=MODEL" in line.reason
    assert write(tmp_path, bundle)["tests"][0]["assert"] == [given]


@pytest.mark.parametrize(
    ("judge", "made"),
    [
        ("gpt-4o", {"model": "gpt-4o"}),
        ("openai:chat:gpt-4o", {"model": "gpt-4o"}),
        ({"model": "m", "base_url": "http://127.0.0.1:8/v1"},) * 2,
    ],
)
def test_a_judge_may_be_given_where_none_is_named(judge: Any, made: Any, tmp_path: Path) -> None:
    given = {"type": "llm-rubric", "value": "is kind"}
    bundle, _ = read(tmp_path, of(given, grader=None), judge=judge)
    assert bundle.suite is not None
    assert dict(bundle.suite.judges) == {"grader": JudgeConfig.model_validate(made)}
    assert only(bundle).judge == "grader"
    config = write(tmp_path, bundle)
    assert config["tests"][0]["assert"] == [given]
    assert "provider" not in config["tests"][0].get("options", {})


def test_a_judge_may_be_given_in_place_of_a_grader_that_is_none(tmp_path: Path) -> None:
    config = of({"type": "g-eval", "value": "is kind"}, grader="anthropic:messages:claude")
    bundle, report = read(tmp_path, config)
    assert not bundle.cases[0].checks
    assert any("anthropic:messages:claude" in line.reason for line in report.lines)
    bundle, _ = read(tmp_path, config, judge="gpt-4o")
    assert only(bundle).scorer == "g_eval"
    assert write(tmp_path, bundle)["tests"][0]["assert"] == config["tests"][0]["assert"]


@pytest.mark.parametrize("judge", [5, "", "openai:chat:{{m}}", {"base_url": "x"}, {"model": []}])
def test_a_judge_that_is_none_is_refused(judge: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="judge"):
        read(tmp_path, of({"type": "llm-rubric", "value": "a"}), judge=judge)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"type": "llm-rubric"}, "no text"),
        ({"type": "llm-rubric", "value": " "}, "no text"),
        ({"type": "llm-rubric", "value": {"a": "b"}}, "no text"),
        ({"type": "llm-rubric", "value": "a", "threshold": 7}, "threshold"),
        ({"type": "llm-rubric", "value": "a", "rubricPrompt": "b"}, "rubricPrompt"),
        ({"type": "llm-rubric", "value": "a", "provider": "file://g.py"}, "grader file://g.py"),
        ({"type": "llm-rubric", "value": "a", "provider": 3}, "no provider"),
        ({"type": "g-eval", "value": ["a", "b"]}, "no text"),
        ({"type": "factuality", "value": "another"}, "not the reference"),
        ({"type": "not-factuality", "value": "ref"}, "ignores not-"),
        ({"type": "not-model-graded-closedqa", "value": "ref"}, "ignores not-"),
        ({"type": "context-recall", "value": ["ref"]}, "not the reference"),
        ({"type": "select-best", "value": "the kindest"}, "compares systems"),
        ({"type": "max-score", "value": {"method": "sum"}}, "compares systems"),
        *(({"type": name, "value": "v"}, "kept") for name in KEPT[:3]),
        ({"type": "trajectory:goal-success", "value": "v"}, "trace"),
    ],
)
def test_what_no_check_can_say_is_kept_with_the_reason(
    given: dict[str, Any], why: str, tmp_path: Path
) -> None:
    bundle, report = read(tmp_path, of(given))
    assert not bundle.cases[0].checks
    (line,) = [line for line in report.lines if line.field.startswith("tests[].assert[]")]
    assert line.fate == "carried"
    assert why in line.reason
    assert write(tmp_path, bundle)["tests"][0]["assert"] == [given]


def test_what_a_test_says_of_grading_counts_for_its_assertions(tmp_path: Path) -> None:
    rubric = {"type": "llm-rubric", "value": "is kind"}
    config = of(rubric, options={"rubricPrompt": "Grade: {{output}}"})
    assert not read(tmp_path, config)[0].cases[0].checks
    config = of(
        rubric, {**rubric, "provider": "openai:mine"}, options={"provider": "openai:chat:t"}
    )
    config["tests"].append({"vars": {"q": "y"}, "assert": [rubric]})
    bundle, _ = read(tmp_path, config)
    assert bundle.suite is not None
    models = {name: judge.model for name, judge in bundle.suite.judges.items()}
    asked = [[models[str(check.judge)] for check in case.checks] for case in bundle.cases]
    assert asked == [["t", "mine"], ["gpt-4o"]]
    tests = write(tmp_path, bundle)["tests"]
    assert [test["assert"] for test in tests] == [test["assert"] for test in config["tests"]]


def test_negation_turns_value_and_threshold_round(tmp_path: Path) -> None:
    given = {"type": "not-context-faithfulness", "threshold": 0.7}
    bundle, _ = read(tmp_path, of(given))
    assert (only(bundle).negate, only(bundle).threshold) == (True, 0.3)
    assert write(tmp_path, bundle)["tests"][0]["assert"] == [given]


def test_a_reference_by_name_stays_a_name(tmp_path: Path) -> None:
    given = [
        {"type": "factuality", "value": "{{reference}}"},
        {"type": "llm-rubric", "value": "is about {{ q }}"},
    ]
    bundle, _ = read(tmp_path, of(*given))
    first, second = bundle.cases[0].checks
    assert (first.scorer, second.params["criteria"]["criterion"]) == (
        "answer_correctness",
        "is about x",
    )
    assert write(tmp_path, bundle)["tests"][0]["assert"] == given


def test_sets_and_tests_with_a_threshold_hold_them(tmp_path: Path) -> None:
    inner = [{"type": "llm-rubric", "value": "is kind"}, {"type": "contains", "value": "x"}]
    whole = {"type": "assert-set", "assert": inner, "threshold": 0.5}
    bundle, _ = read(tmp_path, of(whole))
    assert [check.scorer for check in only(bundle).checks] == ["rubric", "contains"]
    assert write(tmp_path, bundle)["tests"][0]["assert"] == [whole]
    bundle, _ = read(tmp_path, of(*inner, threshold=0.5))
    assert [check.judge for check in only(bundle).checks] == ["grader", None]
    (test,) = write(tmp_path, bundle)["tests"]
    assert (test["assert"], test["threshold"]) == (inner, 0.5)


def test_those_of_all_tests_are_the_suites_where_they_ask_the_same(tmp_path: Path) -> None:
    shared = [{"type": "llm-rubric", "value": "is kind"}, {"type": "answer-relevance"}]
    config = of()
    config["defaultTest"]["assert"] = shared
    bundle, _ = read(tmp_path, config)
    assert bundle.suite is not None
    assert [check.scorer for check in bundle.suite.checks] == ["rubric", "answer_relevancy"]
    assert write(tmp_path, bundle)["defaultTest"]["assert"] == shared


@pytest.mark.parametrize(
    ("shared", "options"),
    [
        ({"type": "factuality", "value": "ref"}, {}),
        ({"type": "llm-rubric", "value": "is kind"}, {"provider": "openai:chat:other"}),
        (
            {"type": "assert-set", "assert": [{"type": "llm-rubric", "value": "is kind"}]},
            {"provider": "openai:chat:other"},
        ),
    ],
)
def test_those_of_all_tests_are_each_cases_where_they_do_not(
    shared: dict[str, Any], options: dict[str, Any], tmp_path: Path
) -> None:
    config = of(options=options)
    config["tests"].append({"vars": {"q": "y", "reference": "another"}})
    config["defaultTest"]["assert"] = [shared]
    bundle, _ = read(tmp_path, config)
    assert bundle.suite is not None
    assert not bundle.suite.checks
    first, second = bundle.cases
    assert len(first.checks) == 1
    assert len(second.checks) == (0 if shared["type"] == "factuality" else 1)
    tests = write(tmp_path, bundle)["tests"]
    assert [test["assert"] for test in tests] == [[shared], [shared]]


# --- graders as judges ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "judge"),
    [
        ("openai:gpt-4o", {"model": "gpt-4o"}),
        ("openai:chat:ft:gpt-4o:me", {"model": "ft:gpt-4o:me"}),
        ({"id": GRADER_ID, "label": "mine"}, {"model": "gpt-4o"}),
        (
            {"id": GRADER_ID, "config": {"temperature": 0.5, "max_tokens": 99, "seed": 3}},
            {"model": "gpt-4o", "temperature": 0.5, "max_tokens": 99, "seed": 3},
        ),
        ({"id": GRADER_ID, "config": {"apiKeyRequired": False}}, {"model": "gpt-4o"}),
        ({"id": GRADER_ID, "config": {"temperature": None}}, {"model": "gpt-4o"}),
        ({"id": GRADER_ID, "config": {"apiKey": "sk-abcdefghijkl"}}, {"model": "gpt-4o"}),
        (
            {"id": GRADER_ID, "config": {"apiKey": "{{ env.MY_KEY }}"}},
            {"model": "gpt-4o", "api_key_env": "MY_KEY"},
        ),
        (
            {"text": LOCAL, "embedding": "openai:embedding:e"},
            {
                "model": "gpt-4o",
                "base_url": "http://127.0.0.1:8/v1",
                "api_key_env": "KEY",
                "embeddings": {
                    "model": "e",
                    "base_url": "https://api.openai.com/v1",
                    "api_key_env": "OPENAI_API_KEY",
                },
            },
        ),
    ],
)
def test_a_grader_is_a_judge(provider: Any, judge: dict[str, Any]) -> None:
    made = to_judge(provider)
    assert made == JudgeConfig.model_validate(judge)
    again = to_provider(made)
    assert again is not None
    assert to_provider(to_judge(again)) == again
    assert "sk-" not in made.model_dump_json()


@pytest.mark.parametrize(
    "provider",
    [
        None,
        7,
        [],
        {},
        [GRADER_ID],
        "",
        "openai:",
        "openai:chat:",
        "openai:chat",
        "openai:responses:gpt-5",
        "openai:embedding:e",
        "file://grader.py",
        "exec:rm -rf /",
        "openai:chat:{{ model }}",
        {"id": 5},
        {"text": "file://x.py"},
        {"embedding": "openai:embedding:e"},
        {"text": GRADER_ID, "embedding": "other:e"},
        {"id": GRADER_ID, "transform": "output"},
        {"id": GRADER_ID, "config": 3},
        {"id": GRADER_ID, "config": {"tools": []}},
        {"id": GRADER_ID, "config": {"temperature": "warm"}},
        {"id": GRADER_ID, "config": {"max_tokens": 0}},
        {"id": GRADER_ID, "config": {"apiBaseUrl": "file:///etc/passwd"}},
        {"id": GRADER_ID, "config": {"apiBaseUrl": "http://me:secret@host/v1"}},
        {"id": GRADER_ID, "config": {"apiBaseUrl": "{{env.URL}}"}},
        {"id": GRADER_ID, "config": {"temperature": float("nan")}},
    ],
)
def test_a_grader_that_no_judge_is(provider: Any) -> None:
    with pytest.raises(ValueError, match="its grader"):
        to_judge(provider)


# --- checks as assertions -------------------------------------------------------------------------

ASKED = {"id": GRADER_ID, "config": {"apiBaseUrl": "http://127.0.0.1:8/v1", "apiKey": "-"}}
JUDGES = {
    "j": JudgeConfig(model="gpt-4o", base_url="http://127.0.0.1:8/v1"),
    "v": JudgeConfig.model_validate({"model": "gpt-4o", "embeddings": {"model": "e"}}),
    "o": JudgeConfig(model="gpt-4o", options={"top_p": 0.5}),
}


def bundle_of(*checks: Any, shared: Any = (), expected: Any = "ref", **output: Any) -> Bundle:
    """A case with checks, and its answer."""
    suite = Suite.model_validate(
        {
            "name": "s",
            "golden_set": "g.jsonl",
            "system": {"recorded": "o.jsonl"},
            "judges": JUDGES,
            "checks": shared,
        }
    )
    case = Case(id="c", input="Who?", expected=expected, checks=checks)
    answer = Output.model_validate({"case_id": "c", "text": "Me.", **output})
    return Bundle(suite=suite, cases=(case,), outputs=(answer,))


@pytest.mark.parametrize(
    ("check", "assertion", "told"),
    [
        (
            {"g_eval": {"criteria": "is kind", "judge": "j", "threshold": 0.9, "weight": 2}},
            {"type": "g-eval", "value": "is kind", "threshold": 0.9, "weight": 2},
            {},
        ),
        (
            {"rubric": {"criteria": {"k": "is kind"}, "show": [], "judge": "j", "negate": True}},
            {"type": "not-llm-rubric", "value": "is kind", "threshold": 0.5},
            {},
        ),
        ({"answer_correctness": {"judge": "j"}}, {"type": "factuality", "value": "ref"}, {}),
        (
            {"answer_correctness": {"judge": "j", "threshold": 0.7}},
            {"type": "factuality", "value": "ref"},
            {},
        ),
        (
            {"faithfulness": {"judge": "j"}},
            {"type": "context-faithfulness", "threshold": 0.5},
            {"query": "Who?", "context": ["one", "two"]},
        ),
        (
            {"context_recall": {"judge": "j"}},
            {"type": "context-recall", "value": "ref", "threshold": 0.5},
            {"context": ["one", "two"]},
        ),
        (
            {"context_relevancy": {"judge": "j"}},
            {"type": "context-relevance", "threshold": 0.5},
            {"query": "Who?", "context": ["one", "two"]},
        ),
    ],
)
def test_a_judged_check_is_promptfoos_own_assertion(
    check: Any, assertion: dict[str, Any], told: dict[str, Any], tmp_path: Path
) -> None:
    """With the grader that its judge is, told of what the judge is told."""
    bundle = bundle_of(check, retrieved_contexts=["one", "two"])
    (test,) = write(tmp_path, bundle)["tests"]
    name = (
        {}
        if assertion["type"] == bundle.cases[0].checks[0].metric
        else {"metric": bundle.cases[0].checks[0].metric}
    )
    assert test["assert"] == [{**assertion, "provider": ASKED, **name}]
    assert test["vars"] == {"input": "Who?", **told}
    config = write(tmp_path, bundle_of(shared=[check], retrieved_contexts=["one", "two"]))
    everywhere = [*config.get("defaultTest", {}).get("assert", ()), *config["tests"][0]["assert"]]
    assert everywhere == [{**assertion, "provider": ASKED, **name}]


def test_relevance_of_answers_needs_vectors_of_the_judges(tmp_path: Path) -> None:
    (test,) = write(tmp_path, bundle_of({"answer_relevancy": {"judge": "v"}}))["tests"]
    (assertion,) = test["assert"]
    assert assertion["type"] == "answer-relevance"
    assert assertion["provider"] == {
        "text": {"id": GRADER_ID},
        "embedding": {"id": "openai:embedding:e"},
    }


@pytest.mark.parametrize(
    ("check", "fields"),
    [
        ({"answer_relevancy": {"judge": "j"}}, {}),
        ({"answer_correctness": {"judge": "j"}}, {"expected": ""}),
        ({"answer_correctness": {"judge": "j"}}, {"expected": "{{ref}}"}),
        ({"answer_correctness": {"judge": "j", "negate": True}}, {}),
        ({"answer_correctness": {"judge": "j", "threshold": 0}}, {}),
        ({"faithfulness": {"judge": "j"}}, {}),
        ({"faithfulness": {"judge": "o"}}, {"retrieved_contexts": ["one"]}),
        ({"faithfulness": {"judge": "nobody"}}, {"retrieved_contexts": ["one"]}),
        ({"g_eval": {"steps": ["look"], "judge": "j"}}, {}),
        ({"g_eval": {"criteria": "is {{kind}}", "judge": "j"}}, {}),
        ({"rubric": {"criteria": {"k": "is kind"}, "judge": "j"}}, {}),
        ({"rubric": {"criteria": {"k": "a", "l": "b"}, "show": [], "judge": "j"}}, {}),
        ({"rubric": {"criteria": {"k": "a"}, "show": [], "judges": ["j", "v"]}}, {}),
    ],
)
def test_a_check_that_promptfoo_would_carry_out_otherwise_stays_ours(
    check: Any, fields: dict[str, Any], tmp_path: Path
) -> None:
    (test,) = write(tmp_path, bundle_of(check, **fields))["tests"]
    assert [each["type"] for each in test["assert"]] == ["javascript"]


def test_another_judge_is_another_grader(tmp_path: Path) -> None:
    """An assertion comes back as it was only while its judge asks what its grader asked."""
    bundle, _ = read(tmp_path, of({"type": "g-eval", "value": "is kind"}))
    assert bundle.suite is not None
    judge = bundle.suite.judges["grader"]

    def assertion(judge: JudgeConfig) -> Any:
        suite = bundle.suite.model_copy(update={"judges": {"grader": judge}})  # type: ignore[union-attr]
        changed = bundle.model_copy(update={"suite": Suite.model_validate(suite.model_dump())})
        return write(tmp_path, changed)["tests"][0]["assert"][0]

    assert assertion(judge.model_copy(update={"retries": 1})) == {
        "type": "g-eval",
        "value": "is kind",
    }
    changed = assertion(judge.model_copy(update={"model": "another"}))
    assert changed["provider"]["id"] == "openai:chat:another"
    assert only(bundle).extras[GRADER] == LOCAL


def test_a_test_that_loses_its_options_names_its_grader_itself(tmp_path: Path) -> None:
    """Where systems answer otherwise, they are replayed, without what the config said of graders."""
    bundle, _ = read(tmp_path, of({"type": "llm-rubric", "value": "is kind"}))
    case_id = bundle.cases[0].id
    answers = tuple(Output(system=name, case_id=case_id, text=name) for name in ("yes", "no"))
    (test,) = write(tmp_path, bundle.model_copy(update={"outputs": answers}))["tests"]
    assert "provider" not in test["options"]
    assert test["assert"] == [{"type": "llm-rubric", "value": "is kind", "provider": LOCAL}]


def test_a_changed_assertion_of_ours_finds_its_judge_again(tmp_path: Path) -> None:
    path = tmp_path / "promptfooconfig.json"
    bundle = bundle_of({"g_eval": {"criteria": "is kind", "judge": "j"}})
    CONFIG.write(bundle, path, WriteOptions(options={"tests": "inline"}))
    config = json.loads(path.read_bytes())
    (assertion,) = config["tests"][0]["assert"]
    assertion["value"] = "is brief"
    config["tests"][0]["assert"].append({**assertion, "metric": "n", "provider": "openai:chat:new"})
    path.write_text(json.dumps(config), encoding="utf-8")
    again, _ = CONFIG.read(path, ReadOptions())
    assert again.suite is not None
    assert [check.judge for check in again.cases[0].checks] == ["j", "grader"]
    assert again.suite.judges == {**JUDGES, "grader": JudgeConfig(model="new")}
