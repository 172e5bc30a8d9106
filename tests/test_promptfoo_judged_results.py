"""Judged assertions of a results file: the checks that the same config gives, and their proof."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bridge import convert
from bridge.conversion import verify
from bridge.model import Bundle, ConversionReport
from bridge.plugin.format import ReadOptions
from bridge.plugin.formats import SUITE
from bridge.plugin.registry import get_format

GRADER = {"id": "openai:chat:small", "config": {"temperature": 0.5}}
ASSERTS: list[dict[str, Any]] = [
    {"type": "contains", "value": "5"},
    {"type": "llm-rubric", "value": "is polite about {{question}}", "threshold": 0.7},
    {"type": "llm-rubric", "value": "is short", "provider": "openai:gpt-large"},
    {"type": "llm-rubric", "value": "is kept", "rubricPrompt": "mine"},
    {"type": "g-eval", "value": "is right"},
    {"type": "factuality", "value": "5 days"},
    {"type": "context-recall", "value": "another reference"},
    {"type": "not-answer-relevance", "threshold": 0.8},
    {"type": "context-faithfulness"},
    {"type": "javascript", "value": "output.length > 1"},
]  # fmt: skip
VARS = {"question": "When?", "reference": "5 days", "query": "When?", "context": "c"}


def results(folder: Path, options: dict[str, Any], rows: int = 1) -> Path:
    """Results of one test in as many columns."""
    found = [{"pass": True, "score": 1, "reason": "r", "assertion": each} for each in ASSERTS]
    test = {"description": "a", "vars": VARS, "options": options, "assert": ASSERTS}
    made = [
        {
            "promptIdx": index, "testIdx": 0, "success": True, "score": 1, "failureReason": 0,
            "provider": {"id": f"p{index}"}, "prompt": {"raw": "When?", "label": "l"}, "vars": VARS,
            "response": {"output": "In 5 days"}, "testCase": test,
            "gradingResult": {"pass": True, "score": 1, "reason": "r", "componentResults": found},
        }
        for index in range(rows)
    ]  # fmt: skip
    path = folder / "r.json"
    path.write_text(json.dumps({"results": {"version": 3, "results": made}}), "utf-8")
    return path


def config(folder: Path, options: dict[str, Any]) -> Path:
    path = folder / "promptfooconfig.json"
    test = {"description": "a", "vars": VARS, "assert": ASSERTS}
    default = {"options": options}
    content = {"prompts": ["{{question}}"], "providers": ["echo"], "tests": [test]}
    path.write_text(json.dumps({**content, "defaultTest": default}), "utf-8")
    return path


def read(name: str, path: Path, **options: Any) -> tuple[Bundle, ConversionReport]:
    return get_format(name).read(path, ReadOptions(options=options))


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({"provider": GRADER}, {}),
        ({"provider": {"id": "anthropic:x"}}, {}),
        ({}, {"judge": "mine"}),
        ({"provider": GRADER, "factuality": {"subset": 1}}, {}),
        ({}, {}),
    ],
)
def test_results_give_the_checks_and_judges_of_their_config(
    tmp_path: Path, options: dict[str, Any], given: dict[str, Any]
) -> None:
    ran, report = read("promptfoo", results(tmp_path, options), **given)
    wrote, _ = read("promptfoo_config", config(tmp_path, options), **given)
    assert ran.cases[0].checks == wrote.cases[0].checks
    assert ran.cases[0].expected == wrote.cases[0].expected == "5 days"
    kept, would = (each.cases[0].extras["promptfoo"] for each in (ran, wrote))
    assert kept["assert"] == would["assert"]
    assert kept.get("options", {}) == options
    judges = {} if ran.suite is None else dict(ran.suite.judges)
    assert wrote.suite is not None
    assert judges == dict(wrote.suite.judges)
    asked = sum("a run asks it, no read does" in note for note in report.notes)
    assert asked == len(judges)


def test_which_assertions_those_are(tmp_path: Path) -> None:
    bundle, _ = read("promptfoo", results(tmp_path, {"provider": GRADER}))
    assert [(each.metric, each.scorer, each.judge) for each in bundle.cases[0].checks] == [
        ("contains", "contains", None),
        ("llm-rubric", "rubric", "grader"),
        ("llm-rubric (2)", "rubric", "grader_2"),
        ("g-eval", "g_eval", "grader"),
        ("factuality", "answer_correctness", "grader"),
        ("not-answer-relevance", "answer_relevancy", "grader"),
        ("context-faithfulness", "faithfulness", "grader"),
    ]
    (rubric,) = (each for each in bundle.cases[0].checks if each.metric == "llm-rubric")
    assert rubric.params["criteria"] == {"criterion": "is polite about When?"}
    kept = bundle.cases[0].extras["promptfoo"]["assert"]
    assert {place: each["type"] for place, each in kept.items()} == {
        "3": "llm-rubric",
        "6": "context-recall",
        "9": "javascript",
    }


def test_tests_with_graders_of_their_own_keep_them(tmp_path: Path) -> None:
    """Like assertions of one file are read once, and these are not alike."""
    path = results(tmp_path, {"provider": GRADER}, rows=2)
    content = json.loads(path.read_bytes())
    test = content["results"]["results"][1]
    test["testIdx"] = 1
    test["testCase"] |= {"description": "b", "options": {"provider": "openai:other"}}
    path.write_text(json.dumps(content), "utf-8")
    bundle, _ = read("promptfoo", path)
    first, second = (case.checks[1] for case in bundle.cases)
    assert bundle.suite is not None
    models = [bundle.suite.judges[each.judge or ""].model for each in (first, second)]
    assert models == ["small", "other"]


def test_a_proof_names_every_recorded_verdict(tmp_path: Path) -> None:
    """What is compared and what is not add up to the rows of the file, assertion by assertion."""
    source = results(tmp_path, {"provider": GRADER}, rows=3)
    done = convert(source, tmp_path / "out" / "bridge.yaml", writer=SUITE)
    proof = verify(source, Path(done.written.source), get_format("promptfoo"), SUITE)
    assert {(each.type, each.compared, each.agreed) for each in proof.agreements} == {
        ("contains", 3, 3)
    }
    judged = "asks a judge: its verdicts are read, and not made again"
    left = {(each.type, each.reason): each.count for each in proof.left_out}
    assert {kind: count for (kind, why), count in left.items() if why == judged} == {
        "llm-rubric": 6,
        "g-eval": 3,
        "factuality": 3,
        "not-answer-relevance": 3,
        "context-faithfulness": 3,
    }
    assert {kind: count for (kind, why), count in left.items() if why != judged} == {
        "llm-rubric": 3,
        "context-recall": 3,
        "javascript": 3,
    }
    assert proof.compared + sum(each.count for each in proof.left_out) == 3 * len(ASSERTS)


def test_a_config_names_what_is_judged_once_for_every_answer(tmp_path: Path) -> None:
    """Of nothing that is recorded there is a verdict that could be read."""
    from bridge.conversion.sides import ASKS, material_of

    path = config(tmp_path, {"provider": GRADER})
    content = json.loads(path.read_bytes())
    content |= {"providers": ["echo", "openai:x"]}
    content["tests"][0]["providerOutput"] = "In 5 days"
    path.write_text(json.dumps(content), "utf-8")
    bundle, _ = read("promptfoo_config", path)
    material = material_of(bundle, ours=False, members=True)
    assert {(each.reason, each.count) for each in material.skipped.values()} == {(ASKS, 2)}
    assert len(material.skipped) == 6
