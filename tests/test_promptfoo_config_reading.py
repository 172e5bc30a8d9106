"""promptfoo configs as people write them: read as promptfoo runs them, to the last leaf."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from bridge.model import Bundle, ConversionReport
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import count_leaves
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import detect_format
from bridge.testing.accounted import assert_accounted
from bridge_promptfoo.config import CONFIG
from bridge_promptfoo.config.kinds import BASE_TYPES, KINDS, UNKNOWN, kind_of

REFERENCES = ("tests[].assert[].value", "tests[]", "prompts[]", "defaultTest", "tests", "scenarios")
"""Fields whose values are names of files or references, which are read for what they name."""


def read(folder: Path, config: Any, **files: str) -> tuple[Bundle, ConversionReport]:
    """A config with its files, read and accounted for."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    path = folder / "promptfooconfig.yaml"
    text = config if isinstance(config, str) else json.dumps(config)
    path.write_text(text, encoding="utf-8")
    bundle, report = CONFIG.read(path, ReadOptions())
    assert detect_format(path) is CONFIG
    assert_accounted(
        yaml.safe_load(text),
        bundle,
        report,
        changed=REFERENCES,
        only=len(list(folder.iterdir())) == 1,
    )
    return bundle, report


def of(*tests: Any, **config: Any) -> dict[str, Any]:
    """A config around tests."""
    return {"prompts": ["{{q}}"], "providers": ["echo"], "tests": list(tests), **config}


def fates(report: ConversionReport) -> dict[str, tuple[str, int]]:
    return {line.field: (line.fate, line.count) for line in report.lines}


# --- one test ---------------------------------------------------------------------------------


def test_every_field_of_a_test(tmp_path: Path) -> None:
    bundle, report = read(
        tmp_path,
        of(
            {
                "description": "named",
                "vars": {"q": "What?", "expected": "that", "n": 3, "o": {"a": [1]}},
                "assert": [{"type": "contains", "value": "that", "metric": "m", "weight": 2}],
                "metadata": {"owner": "me"},
                "options": {"transform": "output.trim()", "prefix": "Please: "},
                "provider": "other",
                "provideroutput": "typo",
            },
            description="about",
            derivedMetrics=[{"name": "x", "value": "a / b"}],
            evaluateOptions={"repeat": 3, "maxConcurrency": 2},
        ),
    )
    (case,) = bundle.cases
    assert (case.id, case.input, case.expected) == ("named", "Please: What?", "that")
    assert dict(case.vars) == {"q": "What?", "expected": "that", "n": 3, "o": {"a": [1]}}
    assert dict(case.metadata) == {"owner": "me"}
    (check,) = case.checks
    assert (check.scorer, check.metric, check.weight) == ("contains", "m", 2.0)
    assert case.extras["promptfoo"]["options"]["transform"] == "output.trim()"
    assert bundle.suite is not None
    assert (bundle.suite.name, bundle.suite.epochs) == ("about", 3)
    assert bundle.suite.system.name == "echo"
    told = fates(report)
    assert told["tests[].options.transform"] == ("executable", 1)
    assert told["tests[].options"] == ("carried", 1)
    assert told["tests[].provideroutput"] == ("dropped", 1)
    assert told["derivedMetrics"] == ("executable", 2)
    assert "1 tests have content under 'provideroutput', which promptfoo ignores" in report.notes


def test_recorded_answers_are_outputs_of_every_system(tmp_path: Path) -> None:
    config = of({"vars": {"q": "x", "context": "a passage"}, "providerOutput": "said"})
    config["providers"] = ["openai:gpt-4", {"id": "echo", "label": "mine"}]
    config["prompts"] = ["{{q}}", "Please {{q}}"]
    bundle, _ = read(tmp_path, config)
    assert [output.system for output in bundle.outputs] == [
        "openai:gpt-4 | {{q}}",
        "openai:gpt-4 | Please {{q}}",
        "mine | {{q}}",
        "mine | Please {{q}}",
    ]
    assert bundle.outputs[0].retrieved_contexts == ("a passage",)
    assert bundle.outputs[0].text == "said"


@pytest.mark.parametrize(
    ("prompts", "variables", "expected"),
    [
        (["Tell {{ who }} of {{what}}"], {"who": "me", "what": "{{who}}"}, "Tell me of me"),
        (["{{n}} {{b}} {{f}}"], {"n": 3, "b": True, "f": 2.0}, "3 true 2"),
        (["{{q | upper}}"], {"q": "x"}, "x"),
        (["a {{q}}", "b {{q}}"], {"q": "x", "other": "y", "question": "z"}, "z"),
        (["a", "b"], {"only": "x"}, "x"),
        (["a", "b"], {"k": "x", "l": 2}, {"k": "x", "l": 2}),
        (["file://prompt.py"], {"input": "x"}, "x"),
        (["fixed"], {}, "fixed"),
        (
            ['[{"role": "system", "content": "S"}, {"role": "user", "content": "{{q}}"}]'],
            {"q": 'say "hi"'},
            [{"role": "system", "content": "S"}, {"role": "user", "content": 'say "hi"'}],
        ),
        (["{{a}}"], {"a": "{{b}}", "b": "{{a}}"}, {"a": "{{b}}", "b": "{{a}}"}),
        (["{{a}}"], {"a": "{{b}}" * 300, "b": "{{c}}" * 300, "c": "x" * 300}, None),
    ],
)
def test_what_a_case_asks(tmp_path: Path, prompts: Any, variables: Any, expected: Any) -> None:
    tests = [{"vars": variables, "assert": [{"type": "is-json"}]}]
    bundle, _ = read(tmp_path, {"prompts": prompts, "providers": ["echo"], "tests": tests})
    given = bundle.cases[0].model_dump(mode="json", exclude_defaults=True)["input"]
    assert given == (variables if expected is None else expected)


@pytest.mark.parametrize(
    ("asserts", "expected"),
    [
        ([{"type": "equals", "value": "{{q}}!"}], "x!"),
        ([{"type": "factuality", "value": "ref"}, {"type": "contains", "value": "c"}], "ref"),
        ([{"type": "equals", "value": "a"}, {"type": "similar", "value": "b"}], ""),
        ([{"type": "not-equals", "value": "a"}], ""),
        ([{"type": "equals", "value": "{% if q %}"}], ""),
    ],
)
def test_the_reference_answer(tmp_path: Path, asserts: Any, expected: str) -> None:
    bundle, _ = read(tmp_path, of({"vars": {"q": "x"}, "assert": asserts}))
    assert bundle.cases[0].expected == expected


# --- assertions ---------------------------------------------------------------------------------


def test_every_type_of_promptfoos_is_in_the_table() -> None:
    """As its schema has them (0.123.1): 66 types that may be negated, and three more."""
    assert len(BASE_TYPES) == len(set(BASE_TYPES)) == 66
    assert set(KINDS) - set(BASE_TYPES) == {"select-best", "max-score", "human"}
    for kind in KINDS.values():
        assert kind.is_mapped or kind.reason, kind.type
    assert kind_of("not-contains") is KINDS["contains"]
    assert kind_of("not-human") is UNKNOWN
    assert kind_of("promptfoo:redteam:harmful").why


FITTING: dict[str, dict[str, Any]] = {
    "is-json": {"value": {"type": "object"}},
    "contains-json": {"value": {"type": "object"}},
    "is-sql": {"value": {"databaseType": "sqlite"}},
    "contains-sql": {"value": {"databaseType": "sqlite"}},
    "levenshtein": {"threshold": 3},
    "word-count": {"value": 4},
}
"""What some types take in place of a text and a threshold of a half."""


@pytest.mark.parametrize("name", [*KINDS, "no-such-type", "promptfoo:redteam:pii"])
@pytest.mark.parametrize("negated", [False, True])
def test_every_type_becomes_a_check_or_is_kept_in_its_place(
    tmp_path: Path, name: str, negated: bool
) -> None:
    given = {
        "type": f"{'not-' * negated}{name}",
        "value": "a",
        "threshold": 0.5,
        "config": {"k": 1},
    }
    given.update(FITTING.get(name, {}))
    around = {"type": "contains", "value": "x"}
    bundle, report = read(tmp_path, of({"vars": {"q": "x"}, "assert": [around, given, around]}))
    (case,) = bundle.cases
    kind = kind_of(str(given["type"]))
    if kind.is_mapped and not kind.asks_judge:  # those: test_promptfoo_config_judged.py
        assert [check.scorer for check in case.checks] == ["contains", kind.scorer, "contains"]
        assert case.checks[1].negate is negated
        assert case.checks[1].extras["promptfoo"] == given
        assert fates(report)["tests[].assert[].config"] == ("carried", 1)
    else:
        assert [check.metric for check in case.checks] == ["contains", "contains (2)"]
        assert dict(case.extras["promptfoo"]["assert"]) == {"1": given}
        line = next(line for line in report.lines if line.field == "tests[].assert[]")
        assert (line.fate, line.count) == (kind.fate, count_leaves(given))
        assert line.reason


@pytest.mark.parametrize(
    ("assertion", "check"),
    [
        ({"type": "equals", "value": 1}, {"value": "1", "strip": False}),
        ({"type": "equals", "value": 1.0}, {"value": "1", "strip": False}),
        ({"type": "equals", "value": True}, {"value": "true", "strip": False}),
        ({"type": "equals", "value": {"a": 1}}, {"value": {"a": 1}, "strip": False}),
        ({"type": "contains-all", "value": 'a, "b,c", d'}, {"all": ["a", "b,c", "d"]}),
        ({"type": "contains-any", "value": ["a", 2]}, {"any": ["a", "2"]}),
        ({"type": "icontains", "value": "{{q}}"}, {"value": "x", "ignore_case": True}),
        ({"type": "is-json"}, {}),
        ({"type": "is-json", "value": "type: object"}, {"schema": {"type": "object"}}),
        ({"type": "is-json", "value": "a: [1"}, None),
        ({"type": "latency", "threshold": 1500}, {"max": 1.5}),
        ({"type": "contains", "value": ""}, None),
        ({"type": "equals"}, None),
        ({"type": "equals", "value": "{{nobody}}"}, None),
        ({"type": "contains", "value": "{{q | upper}}"}, None),
        ({"type": "contains", "value": "x", "transform": "output.a"}, None),
        ({"type": "contains", "value": "file://value.py"}, None),
        ({"type": "regex", "value": "(?=x)"}, None),
        ({"type": "contains", "value": "x", "weight": -1}, None),
        ({"type": "latency"}, None),
        ({"type": "contains-all", "value": '"open'}, None),
        ("contains: x", None),
        ({"value": "no type"}, None),
        ({"type": "assert-set", "assert": []}, None),
        ({"type": "assert-set", "assert": [{"type": "llm-rubric", "value": "a"}]}, None),
    ],
)
def test_what_an_assertion_says(tmp_path: Path, assertion: Any, check: Any) -> None:
    bundle, _ = read(tmp_path, of({"vars": {"q": "x"}, "assert": [assertion]}))
    (case,) = bundle.cases
    if check is None:
        assert case.checks == ()
        kept = case.model_dump(mode="json")["extras"]["promptfoo"]["assert"]
        assert kept == {"0": assertion}
    else:
        assert case.checks[0].model_dump() is not None
        assert dict(case.checks[0].params) == check


def test_weight_0_is_shown_and_decides_nothing(tmp_path: Path) -> None:
    asserts = [{"type": "contains", "value": "a", "weight": 0}]
    bundle, _ = read(tmp_path, of({"vars": {}, "assert": asserts}))
    (check,) = bundle.cases[0].checks
    assert (check.weight, check.gate) == (0.0, False)


def test_a_test_with_a_threshold_is_a_group(tmp_path: Path) -> None:
    asserts = [{"type": "contains", "value": "a"}, {"type": "contains", "value": "b", "weight": 3}]
    bundle, _ = read(
        tmp_path,
        of(
            {"vars": {}, "assert": asserts, "threshold": 0.75},
            {"vars": {}, "assert": asserts, "threshold": 2},
            {"vars": {}, "assert": [*asserts, {"type": "python", "value": "x"}], "threshold": 0.5},
            defaultTest={"assert": [{"type": "is-json"}]},
        ),
    )
    first, second, third = bundle.cases
    (group,) = first.checks
    assert (group.scorer, group.metric, group.threshold) == ("all", "test", 0.75)
    assert [check.metric for check in group.checks] == ["is-json", "contains", "contains (2)"]
    assert second.checks == third.checks == ()
    assert second.extras["promptfoo"]["threshold"] == 2
    assert len(third.extras["promptfoo"]["assert"]) == 4
    assert bundle.suite is not None
    assert bundle.suite.checks == ()


# --- all tests --------------------------------------------------------------------------------------


def test_what_all_tests_have_in_common(tmp_path: Path) -> None:
    config = of(
        {"vars": {"q": "a"}, "metadata": {"k": 2}},
        {"vars": {"q": "b", "tone": "rude"}, "assert": [{"type": "contains", "value": "x"}]},
        defaultTest={
            "vars": {"tone": "kind"},
            "metadata": {"k": 1, "l": 1},
            "options": {"provider": "judge"},
            "assert": [
                {"type": "contains", "value": "y"},
                {"type": "llm-rubric", "value": "is nice"},
            ],
        },
    )
    bundle, _ = read(tmp_path, config)
    assert bundle.suite is not None
    assert [check.metric for check in bundle.suite.checks] == ["contains"]
    kept = bundle.suite.extras["promptfoo"]["defaultTest"]["assert"]
    assert dict(kept) == {"1": {"type": "llm-rubric", "value": "is nice"}}
    first, second = bundle.cases
    assert (first.vars["tone"], second.vars["tone"]) == ("kind", "rude")
    assert dict(first.metadata) == {"k": 2, "l": 1}
    assert [check.metric for check in second.checks] == ["contains (2)"]


def test_common_assertions_that_differ_by_test_are_each_cases_own(tmp_path: Path) -> None:
    default = {"assert": [{"type": "contains", "value": "{{q}}"}]}
    bundle, _ = read(
        tmp_path,
        of(
            {"vars": {"q": "a"}},
            {"vars": {"q": "b"}, "options": {"disableDefaultAsserts": True}},
            defaultTest=default,
        ),
    )
    first, second = bundle.cases
    assert dict(first.checks[0].params) == {"value": "a"}
    assert second.checks == ()


def test_a_list_of_texts_is_a_test_for_each(tmp_path: Path) -> None:
    tests = [
        {"vars": {"q": ["a", "b"], "r": ["c", "d"], "n": [1, 2]}},
        {"vars": {"q": ["a", "b"]}, "options": {"disableVarExpansion": True}},
    ]
    bundle, _ = read(tmp_path, of(*tests))
    asked = [(case.vars["q"], case.vars.get("r")) for case in bundle.cases[:4]]
    assert asked == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]
    assert bundle.cases[4].vars["q"] == ["a", "b"]
    assert len({case.id for case in bundle.cases}) == 5
    kept, _ = CONFIG.read(tmp_path / "promptfooconfig.yaml", ReadOptions(options={"expand": False}))
    assert [case.vars["q"] for case in kept.cases] == [["a", "b"], ["a", "b"]]
    many = {f"v{i}": ["a", "b"] for i in range(20)}
    with pytest.raises(InputError, match="more than 200000 tests; keep them with"):
        read(tmp_path, of({"vars": many}))


def test_scenarios_are_every_config_with_every_test(tmp_path: Path) -> None:
    config = {
        "prompts": ["{{q}} {{lang}}"],
        "providers": ["echo"],
        "scenarios": [
            {
                "description": "lost by promptfoo too",
                "config": [
                    {"vars": {"lang": "de"}, "assert": [{"type": "contains", "value": "d"}]},
                    {"vars": {"lang": "fr"}, "metadata": {"m": 1}},
                ],
                "tests": [
                    {"vars": {"q": "x"}, "assert": [{"type": "contains", "value": "x"}]},
                    {"vars": {"q": "y"}},
                ],
            }
        ],
    }
    bundle, _ = read(tmp_path, config)
    assert [case.input for case in bundle.cases] == ["x de", "y de", "x fr", "y fr"]
    assert [len(case.checks) for case in bundle.cases] == [2, 1, 1, 0]
    assert dict(bundle.cases[2].metadata) == {"conversationId": "__scenario_1__", "m": 1}
    assert bundle.cases[1].extras["promptfoo"]["origin"] == "scenarios: config 0, test 1"


def test_anchors_and_references(tmp_path: Path) -> None:
    text = """
prompts: ["{{q}}"]
providers: [echo]
assertionTemplates:
  polite: &polite {type: icontains, value: please}
  list: [{type: is-json}]
tests:
  - {vars: {q: a}, assert: [*polite, {$ref: "#/assertionTemplates/polite"}]}
  - {vars: {q: b}, assert: {$ref: "#/assertionTemplates/list"}}
  - vars: {q: c}
    assert:
      - type: is-json
        value: {type: object, properties: {x: {$ref: "#/definitions/x"}}, definitions: {x: {type: string}}}
"""
    bundle, report = read(tmp_path, text)
    assert [[check.scorer for check in case.checks] for case in bundle.cases] == [
        ["contains", "contains"],
        ["is_json"],
        ["is_json"],
    ]
    assert "dropped" not in report.counts


@pytest.mark.parametrize(
    "text",
    [
        'a: {$ref: "#/a"}\ntests: [{$ref: "#/a"}]\nprompts: [x]\n',
        'a: {$ref: "#/b"}\nb: {$ref: "#/a"}\ntests: [{$ref: "#/a"}]\nprompts: [x]\n',
        'tests: [{vars: {q: {$ref: "#/tests"}}}]\nprompts: [x]\n',
    ],
)
def test_references_in_circles_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="reference"):
        read(tmp_path, text)


# --- files --------------------------------------------------------------------------------------------


ROWS = [{"vars": {"q": f"q{i}"}, "assert": [{"type": "contains", "value": "x"}]} for i in range(2)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.yaml", yaml.safe_dump(ROWS)),
        ("t.json", json.dumps(ROWS)),
        ("t.jsonl", "\n".join(map(json.dumps, ROWS))),
        ("t.csv", "\ufeffq,__expected\r\nq0,contains:x\r\nq1,contains:x\r\n"),
        ("t.yml", "- vars: vars.yaml\n  assert: [{type: contains, value: x}]\n- file://u.yaml\n"),
    ],
)
@pytest.mark.parametrize("spelt", ["{}", "file://{}", "file://t.*"])
def test_tests_in_files(tmp_path: Path, name: str, text: str, spelt: str) -> None:
    (tmp_path / "vars.yaml").write_text("q: q0\n")
    (tmp_path / "u.yaml").write_text("vars: {q: q1}\nassert: [{type: contains, value: x}]\n")
    (tmp_path / name).write_text(text, newline="")
    for tests in (spelt.format(name), [spelt.format(name)]):
        bundle, report = read(tmp_path, {"prompts": ["{{q}}"], "providers": ["e"], "tests": tests})
        assert [case.input for case in bundle.cases] == ["q0", "q1"]
        assert [len(case.checks) for case in bundle.cases] == [1, 1]
        assert "dropped" not in report.counts
        assert any(line.field.startswith(name) for line in report.lines)
    alone, _ = CONFIG.read(tmp_path / name, ReadOptions())
    assert len(alone.cases) == 2
    if "vars.yaml" not in text:
        assert detect_format(tmp_path / name) is CONFIG


def test_the_same_file_by_name_and_by_glob(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a.yaml").write_text("- vars: {q: x}\n")
    bundle, report = read(tmp_path, of("t/a.yaml", "t/*.yaml"))
    assert [case.id for case in bundle.cases] == ["x", "x (2)"]
    assert "t/a.yaml is named 2 times: promptfoo runs its tests as often" in report.notes


def test_variables_and_values_in_files(tmp_path: Path) -> None:
    bundle, report = read(
        tmp_path,
        of(
            {
                "vars": {
                    "q": "file://q.txt",
                    "data": "file://d.yaml",
                    "code": "file://x.py",
                    "image": "file://i.png",
                },
                "assert": [{"type": "is-json", "value": "file://s.yaml"}],
            },
            {"vars": {"q": "file://many/*.txt"}},
        ),
        q_dot_txt=" asked \n",
        d_dot_yaml="a: [1, é]\n",
        s_dot_yaml="type: object\n",
        many__1_dot_txt="one",
        many__2_dot_txt="two",
    )
    first, *others = bundle.cases
    assert dict(first.vars) == {
        "q": "asked",
        "data": '{"a":[1,"é"]}',
        "code": "file://x.py",
        "image": "file://i.png",
    }
    assert dict(first.checks[0].params) == {"schema": {"type": "object"}}
    assert [case.input for case in others] == ["one", "two"]
    told = fates(report)
    assert told["tests[].vars.code"] == ("executable", 1)
    assert told["tests[].vars.image"] == ("carried", 1)


def test_prompts_in_files(tmp_path: Path) -> None:
    config = {**of({"vars": {"q": "x"}}), "prompts": ["file://p.txt"]}
    bundle, _ = read(tmp_path, config, p_dot_txt="Asked: {{q}}\n")
    assert bundle.cases[0].input == "Asked: x"
    assert bundle.suite is not None
    assert bundle.suite.extras["promptfoo"]["prompts"] == [
        {"raw": "Asked: {{q}}", "label": "p.txt"}
    ]
    bundle, report = read(tmp_path, {**config, "prompts": ["file://gone.txt"]})
    assert bundle.cases[0].input == "x"
    assert any("gone.txt could not be read" in note for note in report.notes)


def test_a_path_of_the_authors_machine_is_read_from_beside_the_config(tmp_path: Path) -> None:
    config = of("/home/someone/project/mine.yaml")
    bundle, report = read(tmp_path, config, mine_dot_yaml="- vars: {q: x}\n")
    assert len(bundle.cases) == 1
    assert "/home/someone/project/mine.yaml was read from beside the config" in report.notes


@pytest.mark.parametrize(
    ("text", "checks"),
    [
        ("- {type: contains, value: a}\n- {type: is-json}\n", 2),
        ("assert: [{type: contains, value: a}]\nderivedMetrics: [{name: x, value: a}]\n", 1),
    ],
)
def test_assertions_alone_are_a_suite_without_cases(tmp_path: Path, text: str, checks: int) -> None:
    path = tmp_path / "asserts.yaml"
    path.write_text(text)
    bundle, report = CONFIG.read(path, ReadOptions())
    assert bundle.cases == ()
    assert bundle.suite is not None
    assert len(bundle.suite.checks) == checks
    assert report.total == count_leaves(yaml.safe_load(text))


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ([], "0 cases: there is no test in it"),
        ([{"prompt": "a", "input": "b"}], "no test has vars or assert (its keys: prompt, input)"),
        (["none*.yaml"], "0 cases"),
        (["file://gen.py:make"], "0 cases"),
        ([{"path": "file://gen.py", "config": {}}], "0 cases"),
        (["https://example.org/x.csv"], "0 cases"),
        (["x.xlsx"], "0 cases"),
    ],
)
def test_no_case_is_an_error(tmp_path: Path, tests: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, of(*tests))
    assert said in str(caught.value)


def test_a_red_team_is_told_where_its_tests_are(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"made when it runs; name the file that `promptfoo redteam"
    ):
        read(tmp_path, {**of(), "redteam": {"purpose": "p", "plugins": ["harmful"]}})


def test_yaml_is_1_2(tmp_path: Path) -> None:
    text = "prompts: [x]\nproviders: [e]\ntests:\n- vars: {a: Yes, b: 012, c: off, d: 1e3}\n"
    (tmp_path / "promptfooconfig.yaml").write_text(text)
    bundle, _ = CONFIG.read(tmp_path / "promptfooconfig.yaml", ReadOptions())
    assert dict(bundle.cases[0].vars) == {"a": "Yes", "b": 12, "c": "off", "d": 1000.0}
