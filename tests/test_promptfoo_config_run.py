"""Written configs in the real promptfoo: valid, run unchanged, and of one mind with our checks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from judge_server import Act, JudgeServer
from native_judge import CASE, CRITERIA, OUTPUT, honest
from promptfoo_runs import PRIVACY, native_rows

from bridge.model import Bundle, Case, Check, Output, Suite
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge.scorers.evaluate import checks_with_turns, evaluate
from bridge_promptfoo.config import CONFIG
from bridge_promptfoo.format import FORMAT
from bridge_promptfoo.install import require_installed
from bridge_promptfoo.launch import FAILED_TESTS, FLAGS, LAUNCHER, environment
from bridge_promptfoo.rows import name_of

pytestmark = pytest.mark.xdist_group("promptfoo")


def promptfoo(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """promptfoo as a person has it: its own defaults, but no telemetry."""
    (folder / ".promptfoo").mkdir(exist_ok=True)
    switches = [*PRIVACY, ("PROMPTFOO_CONFIG_DIR", "{native_dir}/.promptfoo")]
    return subprocess.run(
        [sys.executable, "-P", "-c", LAUNCHER, *arguments],
        cwd=folder,
        env=environment(folder, None, switches),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def evaluated(folder: Path, config: str = "promptfooconfig.yaml") -> Any:
    """The results of ``promptfoo validate`` and ``promptfoo eval``."""
    require_installed()
    valid = promptfoo(folder, "validate", "-c", config)
    assert "Configuration is valid" in valid.stdout, valid.stdout + valid.stderr
    done = promptfoo(folder, "eval", "-c", config, "-o", "out.json", *FLAGS)
    assert done.returncode in (0, FAILED_TESTS), done.stdout + done.stderr
    return json.loads((folder / "out.json").read_bytes())


HOSTILE = [
    "{{ 7 * 7 }} {% raw %} {# note #} {{question}}",
    "{{{{ }}}} {%-",
    "file:///etc/passwd",
    'a "quoted" \\ back\\slash\n\nlines\n',
    "package:x {",
    "{",
    "{\n",
    "☃ \U0001f600 ‮ {{env.HOME}} {{ env.HOME | upper }}",
    '{"a": "{{b}}"}',
    "[1, 2]",
]


def test_what_is_asked_is_what_the_case_says(tmp_path: Path) -> None:
    """A system answers with what it was sent: no text is rendered, loaded or cut."""
    cases = [
        Case(id=f"c{i}", input=text, expected=text, checks=(Check(scorer="equals"),))
        for i, text in enumerate(HOSTILE)
    ]
    CONFIG.write(Bundle(cases=tuple(cases)), tmp_path / "promptfooconfig.yaml", WriteOptions())
    rows = native_rows(evaluated(tmp_path))
    assert [row["response"]["output"] for row in rows] == HOSTILE
    assert [row["success"] for row in rows] == [True] * len(HOSTILE)


SUITE = Suite.model_validate(
    {
        "name": "all kinds",
        "golden_set": "c.jsonl",
        "system": {"recorded": "o.jsonl"},
        "checks": [
            "equals",
            {"contains": {"value": "yes", "metric": "says_yes"}},
            {"contains": {"any": ["YES", "no"], "ignore_case": True, "metric": "either"}},
            {"contains": {"all": ["y", "s"], "negate": True}},
            {"regex": {"pattern": "^y[aeiou]s$"}},
            {"regex": {"pattern": "(?i)^Y", "metric": "re2"}},
            {"is_json": {"schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}},
            {"latency": {"max": 1}},
            {"cost": {"max": 0.5}},
            {"all": [{"contains": "y"}, {"contains": {"value": "z", "weight": 3, "metric": "z"}}], "threshold": 0.25, "metric": "set"},
            {"all": [{"contains": "y"}, "equals"], "metric": "shared_set"},
        ],
    }
)  # fmt: skip
ANSWERS = ["yes", "no", '{"a": 1}', '{"a": "x"}', "YES {{x}}", "yes and zes"]


def test_promptfoo_says_what_our_checks_say(tmp_path: Path) -> None:
    """Native assertions and shared ones, on recorded outputs of two systems and two epochs."""
    cases = tuple(Case(id=f"c{i}", input="q", expected="yes") for i in range(len(ANSWERS)))
    outputs = tuple(
        Output(
            case_id=case.id,
            system=system,
            epoch=epoch,
            text=ANSWERS[(i + epoch) % len(ANSWERS)] if system == "a" else "yes",
            latency_s=0.5 + i,
            cost_usd=0.2 * i,
        )
        for system in ("a", "b")
        for epoch in (1, 2)
        for i, case in enumerate(cases)
    )
    bundle = Bundle(suite=SUITE, cases=cases, outputs=outputs)
    CONFIG.write(bundle, tmp_path / "promptfooconfig.yaml", WriteOptions())
    results = evaluated(tmp_path)
    by_key = {output.key: output for output in outputs}
    seen = 0
    for row in native_rows(results):
        metadata = row["testCase"]["metadata"]
        output = by_key[row["provider"]["label"], metadata["case_id"], metadata["epoch"]]
        case = next(each for each in cases if each.id == output.case_id)
        ours = {check.metric: evaluate(check, case, output) for check in SUITE.checks}
        components = row["gradingResult"]["componentResults"]
        found = {
            name_of(each.get("assertion") or each["metadata"]["assertionSet"]): each
            for each in reversed(components)
        }
        for metric, measured in ours.items():
            native = found[metric]
            assert native["score"] == pytest.approx(measured.value), (metric, output)
            assert native["pass"] is (measured.status == "passed"), (metric, output)
            seen += 1
    assert seen == len(outputs) * len(SUITE.checks)
    scores = FORMAT.read(tmp_path / "out.json", ReadOptions())[0].scores
    assert {score.case_id for score in scores} == {case.id for case in cases}


def test_a_conversation_is_replayed_and_scored_by_turn(tmp_path: Path) -> None:
    case = Case.model_validate(
        {
            "id": "talk",
            "input": "a talk",
            "expected": "",
            "turns": [{"user": "hi", "expected": "hello"}, {"user": "bye", "checks": [{"contains": "bye"}]}],
        }
    )  # fmt: skip
    output = Output.model_validate(
        {"case_id": "talk", "turns": [{"text": "hello"}, {"text": "so long"}]}
    )
    bundle = Bundle(
        suite=SUITE.model_copy(update={"checks": SUITE.checks[:1]}),
        cases=(case,),
        outputs=(output,),
    )
    CONFIG.write(bundle, tmp_path / "promptfooconfig.yaml", WriteOptions())
    (row,) = native_rows(evaluated(tmp_path))
    assert row["success"] is False
    scores = FORMAT.read(tmp_path / "out.json", ReadOptions())[0].scores
    expected = {
        (check.metric, turn): evaluate(check, case, output, turn).status
        for check, turn in checks_with_turns(bundle.suite.checks, case)  # type: ignore[union-attr]
    }
    assert {(score.metric, score.turn): score.status for score in scores} == expected


SOURCE = """
description: people's own
prompts:
  - "Q: {{question}} ({{tone}})"
  - "{{question}}"
providers:
  - {id: echo, label: one}
  - {id: echo, label: two}
defaultTest:
  vars: {tone: kind}
  assert: [{type: not-contains, value: "As an AI"}]
tests:
  - vars: {question: When?}
    assert:
      - {type: icontains, value: WHEN, weight: 2}
      - {type: contains, value: "{{question}}"}
      - {type: javascript, value: output.length > 3, metric: long}
  - description: a set
    vars: {question: "Where {{x}}?", x: here}
    metadata: {owner: me}
    assert:
      - type: assert-set
        threshold: 0.5
        metric: either
        assert: [{type: contains, value: here}, {type: contains, value: nowhere}]
  - vars: {question: [first, second]}
    threshold: 0.5
    assert: [{type: contains, value: first}, {type: regex, value: "^Q"}]
  - file://more.csv
scenarios:
  - config: [{vars: {lang: de}}, {vars: {lang: fr}}]
    tests:
      - vars: {question: "say {{lang}}"}
        assert: [{type: contains, value: fr}]
  - config: [{}]
    tests: [{vars: {question: "{}"}, assert: [{type: is-json, value: file://schema.json}]}]
"""
CSV = """question,__expected,__expected2,__metadata:tags[],__threshold,__description
hello,contains:hello,"contains-any:a,b","x,y",0.5,greeting
bye,bye,,,,
"""


def effective(results: Any) -> list[Any]:
    """What promptfoo made of a config: each test in each column, with what came of it."""
    rows = []
    for row in native_rows(results):
        grading = row["gradingResult"]
        rows.append(
            {
                "column": (row["provider"]["label"], row["prompt"]["raw"]),
                "output": row["response"]["output"],
                "vars": row["vars"],
                "success": row["success"],
                "score": row["score"],
                "components": [
                    (
                        name_of(each.get("assertion") or each["metadata"]["assertionSet"]),
                        each["pass"],
                        each["score"],
                        (each.get("assertion") or {}).get("weight"),
                    )
                    for each in grading["componentResults"]
                ],
                "metadata": {
                    key: value
                    for key, value in (row["testCase"]["metadata"] or {}).items()
                    if key not in ("case_id", "epoch", "bridge") and not key.startswith("_")
                },
            }
        )
    return rows


def test_a_config_that_people_wrote_means_the_same_when_it_comes_back(tmp_path: Path) -> None:
    source, back = tmp_path / "a", tmp_path / "b"
    source.mkdir()
    back.mkdir()
    (source / "promptfooconfig.yaml").write_text(SOURCE)
    (source / "more.csv").write_text(CSV)
    (source / "schema.json").write_text('{"type": "object"}')
    bundle, _ = CONFIG.read(source / "promptfooconfig.yaml", ReadOptions())
    report = CONFIG.write(bundle, back / "promptfooconfig.yaml", WriteOptions())
    assert report.notes == ()
    assert effective(evaluated(source)) == effective(evaluated(back))
    assert sorted(each.name for each in back.iterdir())[-2:] == [
        "promptfooconfig.tests.jsonl",
        "promptfooconfig.yaml",
    ]


def grades(body: dict[str, Any]) -> Act:
    """What promptfoo's own prompts want to be told, in the form in which they want it."""
    prompt = "\n".join(message["content"] for message in body.get("messages", ()))
    if "<Rubric>" in prompt:
        return Act({"pass": True, "score": 0.9, "reason": "so"})
    if "expert answer" in prompt:
        return Act({"category": "A", "reason": "so"})
    found = honest(body)
    said = found.content if isinstance(found.content, dict) else {}
    if "statements" in said:
        return Act("\n".join(said["statements"]))
    if "verdicts" in said:
        verdicts = " ".join(f"{each['verdict']}." for each in said["verdicts"])
        return Act(f"Final verdict for each statement in order: {verdicts}")
    if "classifications" in said:
        marks = {True: "[Attributed]", False: "[Not Attributed]"}
        lines = [
            f"{each['sentence']} {marks[each['attributed']]}" for each in said["classifications"]
        ]
        return Act("\n".join(lines))
    return Act(said["question"]) if "question" in said else found


def test_judged_checks_ask_their_judge_as_promptfoos_own_assertions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is told what it needs, and the key of another address stays at home."""
    monkeypatch.setenv("OPENAI_API_KEY", "of-openai")
    with JudgeServer(grades) as server:
        judge = {"model": "m", "base_url": server.url, "embeddings": {"model": "e"}}
        names = ("faithfulness", "context_recall", "answer_correctness", "answer_relevancy")
        checks: list[Any] = [{name: {"judge": "j"}} for name in names]
        checks += [
            {"g_eval": {"criteria": CRITERIA, "judge": "j"}},
            {"rubric": {"criteria": {"one": CRITERIA}, "show": [], "judge": "j"}},
        ]
        suite = {**SUITE.model_dump(), "checks": checks, "judges": {"j": judge}}
        bundle = Bundle(
            suite=Suite.model_validate(suite),
            cases=(Case.model_validate(CASE),),
            outputs=(Output.model_validate(OUTPUT),),
        )
        CONFIG.write(bundle, tmp_path / "promptfooconfig.yaml", WriteOptions())
        (row,) = native_rows(evaluated(tmp_path))
    assert not (tmp_path / "bridge_checks.cjs").exists()
    found = {
        name_of(each["assertion"]): (each["pass"], round(each["score"], 2))
        for each in row["gradingResult"]["componentResults"]
    }
    assert found.pop("answer_relevancy")[1] > 0.5
    assert found == {
        "faithfulness": (True, 0.5),
        "context_recall": (True, 0.5),
        "answer_correctness": (True, 1.0),
        "g_eval": (True, 0.8),
        "rubric": (True, 0.9),
    }
    assert {each.get("authorization") for each in server.headers} == {"Bearer -"}
