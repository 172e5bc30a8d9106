"""Any bundle as a promptfoo config and back: nothing is lost, and what people change is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge, write_suite
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import CHECKS, JSON, OUTPUTS
from strategies_suite import BUNDLES

from bridge.files.yaml import load_yaml
from bridge.model import Bundle, Case, Check, Output, Suite
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import count_leaves
from bridge.plugin.carry import plain
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge_promptfoo.config import CONFIG
from bridge_promptfoo.config.templates import escaped, unescaped
from bridge_promptfoo.config.to_assertions import is_touched, to_native

Folder = Callable[[], Path]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A new folder for each example."""
    return lambda: tmp_path_factory.mktemp("config")


def write(bundle: Bundle, path: Path, **options: Any) -> Any:
    return CONFIG.write(bundle, path, WriteOptions(options=options))


def read(path: Path) -> Bundle:
    return CONFIG.read(path, ReadOptions())[0]


def answered(bundle: Bundle, outputs: list[Output]) -> Bundle:
    """A bundle whose outputs are, but for one, answers to its cases."""
    ids = [case.id for case in bundle.cases]
    mine = {}
    for index, output in enumerate(outputs):
        made = output.model_copy(update={"case_id": ids[index % len(ids)]})
        mine[made.key] = made
    mine.update({output.key: output for output in bundle.outputs[:1]})
    return bundle.model_copy(update={"outputs": tuple(mine.values()), "scores": ()})


@pytest.mark.parametrize("name", ["promptfooconfig.yaml", "promptfooconfig.json"])
@settings(max_examples=25)
@given(bundle=BUNDLES, outputs=st.lists(OUTPUTS, max_size=4))
def test_what_is_written_is_read(
    folder: Folder, name: str, bundle: Bundle, outputs: list[Output]
) -> None:
    bundle = answered(bundle, outputs)
    path = folder() / name
    report = write(bundle, path)
    again = read(path)
    assert again.cases == bundle.cases
    assert again.outputs == bundle.outputs
    assert again.suite == bundle.suite
    assert report.total == count_leaves(plain(bundle))
    assert "dropped" not in report.counts


@settings(max_examples=25)
@given(bundle=BUNDLES)
def test_no_value_of_ours_is_a_template_or_a_reference(folder: Folder, bundle: Bundle) -> None:
    """What promptfoo renders, loads or resolves would not stay what it is."""
    path = folder() / "promptfooconfig.json"
    write(bundle.model_copy(update={"scores": ()}), path)
    config = json.loads(path.read_bytes())
    prompt = config.pop("prompts")[0]["raw"]
    assert prompt.startswith("{{")
    for test in config["tests"]:
        for name, value in test.pop("vars").items():
            if isinstance(value, str):
                assert escaped(unescaped(value)) == value, name
            else:
                assert not is_touched({name: value})
    waiting: list[Any] = [config]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            assert not {"$ref", "__proto__"} & set(item)
            waiting.extend([*item, *item.values()])
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, str):
            assert not any(tag in item for tag in ("{{", "{%", "{#"))


@given(st.text(st.sampled_from('{}%# "\n\\nfile:/packg'), max_size=20) | st.text())
def test_a_text_is_escaped_and_read_back(text: str) -> None:
    assert unescaped(escaped(text)) == text
    assert not escaped(text).startswith(("file://", "package:"))


@given(CHECKS)
def test_a_native_assertion_is_of_promptfoos_own_making(check: Check) -> None:
    made = to_native(check)
    if made is not None:
        assert set(made) <= {"type", "value", "threshold", "weight", "metric", "assert"}


@pytest.mark.parametrize(
    ("check", "assertion"),
    [
        ({"equals": {"value": "x", "strip": False}}, {"type": "equals", "value": "x"}),
        ({"contains": {"value": "x"}}, {"type": "contains", "value": "x"}),
        (
            {"contains": {"value": "x", "ignore_case": True, "metric": "icontains"}},
            {"type": "icontains", "value": "x"},
        ),
        (
            {"contains": {"any": ["a", "b"], "weight": 2, "negate": True}},
            {
                "type": "not-contains-any",
                "value": ["a", "b"],
                "weight": 2,
                "metric": "not_contains",
            },
        ),
        ({"regex": {"pattern": "^a[bc]+$"}}, {"type": "regex", "value": "^a[bc]+$"}),
        ("is_json", {"type": "is-json", "metric": "is_json"}),
        ({"latency": {"max": 1.5}}, {"type": "latency", "threshold": 1500.0}),
        ({"cost": {"max": 0.01}}, {"type": "cost", "threshold": 0.01}),
        (
            {"all": [{"contains": "a"}, {"regex": "b"}], "threshold": 0.5, "metric": "both"},
            {
                "type": "assert-set",
                "assert": [{"type": "contains", "value": "a"}, {"type": "regex", "value": "b"}],
                "threshold": 0.5,
                "metric": "both",
            },
        ),
        # what promptfoo cannot say, or would say otherwise
        ("equals", None),
        ({"equals": {"value": "x"}}, None),
        ({"equals": {"value": "{{ x }}", "strip": False}}, None),
        ({"contains": {"value": "x", "all": ["y"]}}, None),
        ({"contains": {"value": "file://x"}}, None),
        ({"contains": {"value": "x", "threshold": 0.5}}, None),
        ({"contains": {"value": "x", "gate": False}}, None),
        ({"regex": {"pattern": "(?i)a"}}, None),
        ({"regex": {"pattern": r"\pN"}}, None),
        ({"is_json": {"schema": {"type": "array", "prefixItems": [{}]}}}, None),
        ("tool_use", None),
        ({"all": ["tool_use"]}, None),
    ],
)
def test_a_check_is_promptfoos_own_assertion_where_it_says_the_same(
    check: Any, assertion: Any
) -> None:
    assert to_native(Check.model_validate(check)) == assertion


CASE = Case(id="a", input="q", expected="x", tags=("t",), checks=(Check.model_validate("equals"),))
SUITE = Suite.model_validate(
    {
        "name": "s",
        "golden_set": "c.jsonl",
        "system": {"recorded": "o.jsonl"},
        "checks": [{"contains": {"value": "x"}}, "tool_use"],
        "gate": {"metrics": {"contains": 0.5}},
    }
)


def edited(bundle: Bundle, path: Path, edit: Callable[[Any], None]) -> Bundle:
    """A bundle written, changed by hand in its config, and read."""
    write(bundle, path)
    config = json.loads(path.read_bytes())
    edit(config)
    path.write_text(json.dumps(config))
    return read(path)


def test_what_people_change_in_a_written_config_is_read(tmp_path: Path) -> None:
    bundle = Bundle(suite=SUITE, cases=(CASE,), outputs=(Output(case_id="a", text="x"),))
    path = tmp_path / "promptfooconfig.json"

    def edit(config: Any) -> None:
        test = config["tests"][0]
        test["vars"]["input"] = "another question"
        test["assert"].append({"type": "icontains", "value": "y"})
        test["metadata"]["case_id"] = "b"
        test["metadata"]["owner"] = "me"
        config["defaultTest"]["assert"][0]["value"] = "z"
        config["description"] = "renamed"
        config["tests"].append({"vars": {"input": "new"}, "assert": [{"type": "is-json"}]})

    again = edited(bundle, path, edit)
    first, second = again.cases
    assert (first.id, first.input, first.expected) == ("b", "another question", "x")
    assert first.tags == ("t",)
    assert dict(first.metadata) == {"owner": "me"}
    assert [check.metric for check in first.checks] == ["equals", "icontains"]
    assert (second.id, second.input, second.checks[0].scorer) == ("new", "new", "is_json")
    assert again.suite is not None
    assert again.suite.name == "renamed"
    assert again.suite.gate == SUITE.gate
    assert again.suite.checks[0].params == {"value": "z"}
    assert again.suite.checks[1] == SUITE.checks[1]
    assert again.outputs == bundle.outputs


def test_a_case_whose_name_was_blanked_keeps_the_one_it_had(tmp_path: Path) -> None:
    def edit(config: Any) -> None:
        config["tests"][0]["metadata"]["case_id"] = " "

    again = edited(Bundle(suite=SUITE, cases=(CASE,)), tmp_path / "promptfooconfig.json", edit)
    assert [case.id for case in again.cases] == ["a"]


def test_tests_of_ours_are_known_without_the_config_around_them(tmp_path: Path) -> None:
    bundle = Bundle(suite=SUITE, cases=(CASE,), outputs=(Output(case_id="a", text="x"),))
    write(bundle, tmp_path / "promptfooconfig.yaml")
    again = read(tmp_path / "promptfooconfig.tests.jsonl")
    assert (again.cases, again.outputs) == (bundle.cases, bundle.outputs)
    text = (tmp_path / "promptfooconfig.tests.jsonl").read_text()
    (tmp_path / "mine.yaml").write_text(f"prompts: [x]\nproviders: [e]\ntests: [{text.strip()}]\n")
    assert read(tmp_path / "mine.yaml").cases == bundle.cases


@pytest.mark.parametrize("sealed", ["x", "bridge:{}", "bridge:{", 'bridge:{"metric": 1}'])
def test_a_damaged_assertion_of_ours_is_kept(tmp_path: Path, sealed: str) -> None:
    path = tmp_path / "promptfooconfig.json"
    assertion = {"type": "javascript", "value": "x", "config": {"bridge": sealed}}
    config = {"prompts": ["x"], "tests": [{"vars": {}, "assert": [assertion]}]}
    path.write_text(json.dumps(config))
    assert read(path).cases[0].checks == ()


@pytest.mark.parametrize("place", ["tests", "config"])
def test_what_is_carried_and_damaged_is_refused(tmp_path: Path, place: str) -> None:
    def edit(config: Any) -> None:
        holder = config["tests"][0] if place == "tests" else config
        holder["metadata"]["bridge"] = holder["metadata"]["bridge"][:40]

    bundle = Bundle(suite=SUITE, cases=(CASE,))
    with pytest.raises(InputError, match="damaged"):
        edited(bundle, tmp_path / "promptfooconfig.json", edit)


def test_the_files_of_a_config(tmp_path: Path) -> None:
    bundle = Bundle(suite=SUITE, cases=(CASE,), outputs=(Output(case_id="a", text="x"),))
    report = write(bundle, tmp_path / "promptfooconfig.yaml")
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "bridge_checks.cjs",
        "bridge_replay.cjs",
        "promptfooconfig.tests.jsonl",
        "promptfooconfig.yaml",
    ]
    assert any("needs a Python with bridge-evals" in note for note in report.notes)
    config, _ = load_yaml(tmp_path / "promptfooconfig.yaml")
    assert config["tests"] == ["file://promptfooconfig.tests.jsonl"]
    assert config["providers"][0]["id"] == "file://bridge_replay.cjs"
    report = write(
        Bundle(cases=(CASE.model_copy(update={"checks": ()}),)), tmp_path / "b.yaml", tests="inline"
    )
    config, _ = load_yaml(tmp_path / "b.yaml")
    assert (config["providers"], len(config["tests"])) == (["echo"], 1)
    assert any("name your own" in note for note in report.notes)


def test_cases_without_an_answer_are_said(tmp_path: Path) -> None:
    other = CASE.model_copy(update={"id": "b"})
    bundle = Bundle(cases=(CASE, other), outputs=(Output(case_id="a"),))
    notes = write(bundle, tmp_path / "c.yaml").notes
    assert any("1 cases have no recorded output" in note for note in notes)


def test_options(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="takes no option other"):
        write(Bundle(cases=(CASE,)), tmp_path / "c.yaml", other=1)
    with pytest.raises(InputError, match="write beside or inline"):
        write(Bundle(cases=(CASE,)), tmp_path / "c.yaml", tests="x")


def test_from_a_suite_on_the_command_line(tmp_path: Path, bridge: Bridge) -> None:
    suite = write_suite(tmp_path, {})
    done = bridge("convert", suite, "pf/promptfooconfig.yaml", "--strict")
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 cases, 4 outputs, 0 scores" in done.stdout
    done = bridge("convert", "pf/promptfooconfig.yaml", "again", "--to", "suite", "--strict")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "again" / "bridge.outputs.jsonl").is_file()


@given(JSON)
def test_digests_do_not_depend_on_how_a_number_is_spelt(value: Any) -> None:
    from bridge_promptfoo.config.own import digest

    assert digest(value) == digest(json.loads(json.dumps(value)))
