"""Lint: for every rule a file that breaks it, and files that break none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge

from bridge.files.baseline import write_baseline
from bridge.files.outputs import write_outputs
from bridge.lint.paths import lint_path
from bridge.model import Output, Verdict
from bridge.model.baseline import Baseline
from bridge.model.run import ExpectedRows

Found = list[tuple[str, str, str, int | None]]


def lint(path: Path) -> Found:
    """(level, rule, file name, line) of every finding."""
    return [(f.level, f.rule, f.path.name, f.line) for f in lint_path(path)[1]]


def case(id_: str = "a", **fields: Any) -> dict[str, Any]:
    return {"id": id_, "input": f"question {id_}", "expected": f"answer {id_}", **fields}


def write(path: Path, *rows: dict[str, Any] | str) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def write_suite(folder: Path, *cases: dict[str, Any], **fields: Any) -> Path:
    """A suite without a fault, but for what ``cases`` and ``fields`` bring in."""
    rows = cases or (case("a"), case("b"))
    write(folder / "cases.jsonl", *rows)
    write_outputs([Output(case_id=str(row["id"])) for row in rows], folder / "o.jsonl")
    write_baseline(Baseline(scores={"equals": {"a": 1.0}}), folder / "baseline.json")
    suite = {
        "name": "s",
        "golden_set": "cases.jsonl",
        "system": {"recorded": "o.jsonl"},
        "checks": ["equals"],
        "gate": {"baseline": "baseline.json"},
    }
    path = folder / "bridge.yaml"
    path.write_text(json.dumps({**suite, **fields}))
    return path


QUOTED = "Refunds take between five and seven business days."


@pytest.mark.parametrize(
    ("rows", "findings"),
    [
        ([case("a"), case("b")], []),
        ([case("a"), "{"], [("error", "schema", 2)]),
        ([case("a"), case("b", asserts=[])], [("error", "schema", 2)]),
        ([case("a"), case("a"), case("b")], [("error", "duplicate-id", 2)]),
        (["{}"], [("error", "empty", None), ("error", "schema", 1)]),
        ([case("a", expected=""), case("b")], [("error", "reference-coverage", None)]),
        ([case("a", expected=""), *(case(name) for name in "bcde")], []),
        ([case("a", checks=["nope"])], [("error", "check", 1)]),
        ([case("a", checks=[{"contains": {"valu": 1}}])], [("error", "check", 1)]),
        ([case("a", checks=[{"all": [{"regex": "("}]}])], [("error", "check", 1)]),
        (
            [case("a", turns=[{"user": "u", "checks": [{"latency": -1}]}])],
            [("error", "check", 1)],
        ),
        ([case("a", checks=["somewhere:ELSE"])], []),
        (
            [case("a", expected_calls={"calls": [{"name": "t"}]})],
            [("warning", "tool-without-schema", 1)],
        ),
        ([case("a", expected_calls={"calls": [{"name": "t"}]}, tools=[{"name": "t"}])], []),
        (
            [case("a", turns=[{"user": "u", "expected_calls": {"calls": [{"name": "t"}] * 2}}])],
            [("warning", "tool-without-schema", 1)],
        ),
        (
            [case("a", input=f"Is this so: {QUOTED}", expected=QUOTED)],
            [("warning", "contamination", 1)],
        ),
        (
            [case("a", input=[{"role": "user", "content": QUOTED.upper()}], expected=[QUOTED])],
            [("warning", "contamination", 1)],
        ),
        (
            [case("a", turns=[{"user": QUOTED, "expected": QUOTED}])],
            [("warning", "contamination", 1)],
        ),
        ([case("a", input=f"{QUOTED} Why?", expected="Refunds")], []),
        (
            [case("a", input="Same  question"), case("b", input="same question")],
            [("warning", "duplicate-input", 2)],
        ),
        (
            [case("a", input={"q": 1}), case("b", input={"q": 1})],
            [("warning", "duplicate-input", 2)],
        ),
        (
            [
                case("a", input="x", turns=[{"user": "u"}]),
                case("b", input="x", turns=[{"user": "v"}]),
            ],
            [],
        ),
        (
            [r'{"id": "a", "input": "\ud800\ud801", "expected": "y"}'],
            [("warning", "surrogate", 1)],
        ),
    ],
)
def test_golden_sets(tmp_path: Path, rows: list[Any], findings: list[Any]) -> None:
    path = write(tmp_path / "cases.jsonl", *rows)
    assert [(level, rule, line) for level, rule, _, line in lint(path)] == findings


def test_a_coverage_that_turns_count_towards(tmp_path: Path) -> None:
    turns = [{"user": "u"}, {"user": "v", "expected": "w"}]
    assert lint(write(tmp_path / "c.jsonl", case("a", expected="", turns=turns))) == []


@pytest.mark.parametrize(
    "told",
    [
        {"checks": [{"injection": {"expect": "attack"}}]},
        {"expected_calls": {"calls": [{"name": "t"}]}, "tools": [{"name": "t"}]},
        {"turns": [{"user": "u", "checks": ["tool_use"]}]},
    ],
)
def test_a_coverage_that_calls_and_own_checks_count_towards(tmp_path: Path, told: Any) -> None:
    assert lint(write(tmp_path / "c.jsonl", case("a", expected="", **told))) == []


def test_every_faulty_line_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "cases.jsonl", "{", case("a"), "[]", case("a"), case("b", tags="x"))
    assert [(rule, line) for _, rule, _, line in lint(path)] == [
        ("schema", 1),
        ("schema", 3),
        ("duplicate-id", 4),
        ("schema", 5),
    ]


@pytest.mark.parametrize(
    ("cases", "fields", "findings"),
    [
        ([], {}, []),
        (
            [],
            {"golden_set": ["cases.jsonl", "gone.jsonl"]},
            [("error", "golden-set", "gone.jsonl")],
        ),
        (
            [],
            {"golden_set": ["cases.jsonl", "cases.jsonl"]},
            [("error", "golden-set", "cases.jsonl")],
        ),
        (
            [],
            {"golden_set": {"path": "cases.jsonl", "version": "0123456789"}},
            [("error", "golden-set", "cases.jsonl")],
        ),
        (
            [case("a", tags="x")],
            {},
            [
                ("error", "schema", "cases.jsonl"),
                ("error", "empty", "cases.jsonl"),
                ("warning", "outputs", "bridge.yaml"),
            ],
        ),
        ([], {"system": {"recorded": "gone.jsonl"}}, [("error", "outputs", "gone.jsonl")]),
        ([], {"system": {"python": "module:function"}}, []),
        ([], {"frameworks": ["core", "nope"]}, [("error", "framework", "bridge.yaml")]),
        ([], {"checks": ["nope"]}, [("error", "check", "bridge.yaml")]),
        ([], {"checks": ["equals", "gone_module:X"]}, [("error", "check", "bridge.yaml")]),
        ([], {"checks": [{"regex": "("}]}, [("error", "check", "bridge.yaml")]),
        (
            [],
            {"checks": [{"equals": {"judge": "j"}}], "judges": {"j": {"model": "m"}}},
            [("warning", "judge-alone", "bridge.yaml")],
        ),
        (
            [],
            {"checks": ["equals", {"contains": {"judge": "j"}}], "judges": {"j": {"model": "m"}}},
            [],
        ),
        (
            [],
            {
                "checks": [
                    {"equals": {"gate": False}},
                    {"all": [{"contains": {"judge": "j"}}], "metric": "group"},
                ],
                "judges": {"j": {"model": "m"}},
            },
            [("warning", "judge-alone", "bridge.yaml")],
        ),
        (
            [case("a", checks=[{"regex": {"pattern": "x", "judge": "j"}}])],
            {},
            [("error", "judge", "cases.jsonl")],
        ),
        ([case("a", checks=["gone_module:X"])], {}, [("error", "check", "cases.jsonl")]),
        (
            [case("a"), case("b", checks=["equals"])],
            {"checks": []},
            [("error", "unchecked-case", "cases.jsonl")],
        ),
        ([], {"gate": {}}, [("warning", "no-baseline", "bridge.yaml")]),
        ([], {"gate": {"baseline": "gone.json"}}, [("error", "baseline", "gone.json")]),
        ([], {"gate": {"baseline": "cases.jsonl"}}, [("error", "baseline", "cases.jsonl")]),
        (
            [],
            {"gate": {"baseline": "baseline.json", "metrics": {"equal": 1}}},
            [("error", "unknown-metric", "bridge.yaml")],
        ),
        (
            [],
            {"gate": {"baseline": "baseline.json", "metrics": {"core/equals": 1, "equals": 1}}},
            [],
        ),
        (
            [],
            {"gate": {"baseline": "baseline.json", "metrics": {"ragas/equals": 1}}},
            [("error", "unknown-metric", "bridge.yaml")],
        ),
        (
            [],
            {"gate": {"baseline": "baseline.json", "must_pass": ["a", "z"]}},
            [("error", "must-pass", "bridge.yaml")],
        ),
        (
            [case("a", tags=["t"])],
            {"gate": {"baseline": "baseline.json", "must_pass": ["tag:t", "tag:u"]}},
            [("error", "must-pass", "bridge.yaml")],
        ),
        (
            [],
            {"gate": {"metrics": {"equals": {"weight": 0.5}}}},
            [("error", "schema", "bridge.yaml")],
        ),
        ([], {"checks": ["equals", "equals"]}, [("error", "schema", "bridge.yaml")]),
    ],
)
def test_suites(tmp_path: Path, cases: Any, fields: Any, findings: Any) -> None:
    path = write_suite(tmp_path, *cases, **fields)
    assert [found[:3] for found in lint(path)] == findings


def test_outputs_and_cases_that_do_not_meet(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    write_outputs([Output(case_id=str(n)) for n in ["a", *range(9)]], tmp_path / "o.jsonl")
    _, found = lint_path(path)
    assert [str(each) for each in found] == [
        f"{path}: error: cases b of the golden set have no recorded output [outputs]",
        f"{path}: warning: recorded outputs fit no case: cases 0, 1, 2, ... (9 in all) [outputs]",
    ]


def test_a_scorer_beside_the_suite(tmp_path: Path) -> None:
    code = "from bridge.scorers import Scorer\nMINE = Scorer('mine', '1', print)\n"
    (tmp_path / "lint_scorers.py").write_text(code)
    path = write_suite(tmp_path, case("a", checks=["lint_scorers:MINE"]))
    assert lint(path) == []


def test_a_suite_may_point_anywhere(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    path = write_suite(inner, golden_set="../outside.jsonl")
    write(tmp_path / "outside.jsonl", case("a"), case("a"), case("b"))
    (finding,) = lint_path(path)[1]
    assert (finding.rule, finding.path) == ("duplicate-id", tmp_path / "outside.jsonl")


@pytest.mark.parametrize(
    ("name", "text", "findings"),
    [
        ("o.jsonl", '{"case_id": "a"}\n{"case_id": "b", "txt": 1}\n', [("schema", 2)]),
        (
            "s.jsonl",
            '{"framework": "f", "metric": "m", "case_id": "a", "status": "passed"}',
            [("schema", 1)],
        ),
        (
            "rows.jsonl",
            ExpectedRows(case_id="a", system="s", digest="d", rows=()).model_dump_json(),
            [],
        ),
        ("baseline.json", '{"scores": {"m": 2}}', [("schema", None)]),
        ("baseline.json", '{"scores": {"m": 1}, "scores": {}}', [("unreadable", None)]),
        ("report.json", Verdict(passed=True, verdict="passed").model_dump_json(), []),
        ("report.json", '{"passed": true, "verdict": "green"}', [("schema", None)]),
        ("bridge.yaml", "golden_set: a\nsystem: {\n", [("schema", 3)]),
        ("suite.json", '{"golden_set": "a", "system": {}, "nme": 1}', [("schema", None)]),
        ("cases.jsonl", "", [("empty", None)]),
    ],
)
def test_other_files(tmp_path: Path, name: str, text: str, findings: Any) -> None:
    """Named, and found in a folder."""
    (tmp_path / name).write_text(text)
    for path in (tmp_path / name, tmp_path):
        assert [(rule, line) for _, rule, _, line in lint(path)] == findings


FOREIGN = {
    "package.json": '{"name": "x", "version": "1"}',
    "broken.json": "{",
    "broken.yaml": "a: [",
    "helm.yaml": "{{ template }}",
    "dataset.jsonl": '{"id": 1, "input": "q", "target": "a"}',
    "text.jsonl": "not JSON",
    "events.jsonl": '{"case_id": 1, "a": 1, "b": 2, "c": 3}',
    "workflow.yml": "on: [push]\nname: ci",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_in_a_folder_are_left_alone_but_not_when_named(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text(FOREIGN[name])
    assert lint_path(tmp_path) == (0, [])
    assert [level for level, *_ in lint(tmp_path / name)][:1] == ["error"]


def test_a_broken_file_of_ours_in_a_folder_is_found(tmp_path: Path) -> None:
    write(tmp_path / "cases.jsonl", '{"id": "a", "input": "x", "expected" "y"}')
    assert [rule for _, rule, *_ in lint(tmp_path)] == ["empty", "schema"]


def test_folders(tmp_path: Path) -> None:
    assert lint_path(tmp_path) == (0, [])
    for folder in (".hidden", "node_modules", "run/jobs/core-000", "run/native/core", "kept"):
        (tmp_path / folder).mkdir(parents=True)
        write(tmp_path / folder / "cases.jsonl", case("a"), case("a"))
    (tmp_path / "run" / "run.json").write_text("{}")
    number, findings = lint_path(tmp_path)
    assert number == 1
    assert [finding.path for finding in findings] == [tmp_path / "kept" / "cases.jsonl"]


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    for name in ("gone.jsonl", "gone.yaml", "gone"):
        assert lint(tmp_path / name) == [("error", "unreadable", name, None)]


def test_the_command(tmp_path: Path, bridge: Bridge) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    done = bridge("check", folder)
    assert (done.returncode, done.stdout) == (
        0,
        "0 files, 0 errors, 0 warnings (no golden set, suite, run or report is there)\n",
    )
    write(folder / "cases.jsonl", case("a"), case("a", input="\x1b[31m"))
    done = bridge("check", folder)
    assert done.returncode == 2
    assert "\x1b" not in done.stdout
    assert done.stdout.splitlines()[-1] == "1 file, 1 error, 0 warnings"
    done = bridge("check", folder, "--json")
    report = json.loads(done.stdout)
    assert (report["files"], report["errors"]) == (1, 1)
    assert report["findings"][0]["rule"] == "duplicate-id"


class TestLabelsAndCalibrations:
    def test_labels(self, tmp_path: Path) -> None:
        good = {"case_id": "a", "label": True}
        path = write(
            tmp_path / "labels.jsonl",
            good,
            {"case_id": "b", "label": "fail", "metric": "rubric"},
            {"case_id": "c", "label": "sometimes"},
            {"case_id": "d", "label": 0.5},
            good,
            {"case_id": "e", "label": "pass", "turn": -1},
            {"case_id": "f", "label": "good", "metric": "other"},
            "{",
        )
        assert lint(path) == [
            ("error", "label", "labels.jsonl", 3),
            ("error", "label", "labels.jsonl", 4),
            ("error", "label", "labels.jsonl", 5),
            ("error", "schema", "labels.jsonl", 6),
            ("error", "schema", "labels.jsonl", 8),
        ]

    def test_a_calibration(self, tmp_path: Path) -> None:
        path = tmp_path / "calibration.json"
        path.write_text(json.dumps({"version": 1, "created": "2026-01-01", "entries": []}))
        assert lint(path) == []
        path.write_text(json.dumps({"version": 1, "created": "x", "entries": [{"metric": "m"}]}))
        assert lint(path) == [("error", "schema", "calibration.json", None)]

    @pytest.mark.parametrize("group", [False, True])
    @pytest.mark.parametrize(
        ("frameworks", "level"), [(["core", "inspect"], "error"), (["core", "ragas"], None)]
    )
    def test_a_metric_that_none_of_the_frameworks_has(
        self, tmp_path: Path, group: bool, frameworks: list[str], level: str | None
    ) -> None:
        check: dict[str, Any] = {"faithfulness": {"judge": "main"}}
        if group:
            check = {"all": ["equals", check], "metric": "faithfulness"}
        path = write_suite(
            tmp_path,
            frameworks=frameworks,
            checks=["equals", check] if not group else [check],
            judges={"main": {"model": "m"}},
            gate={"calibration": "off"},
        )
        said = [each for each in lint_path(path)[1] if each.rule == "framework"]
        assert [each.level for each in said] == ([level] if level else [])
        assert all("no framework of the suite has faithfulness" in each.message for each in said)

    def test_each_framework_s_own_metric_is_calibrated_for_itself(self, tmp_path: Path) -> None:
        path = write_suite(
            tmp_path,
            frameworks=["core", "deepeval", "inspect", "ragas"],
            checks=["equals", {"faithfulness": {"judge": "main"}}],
            judges={"main": {"model": "m"}},
            gate={"calibration": "require", "metrics": {"ragas/faithfulness": {"gate": False}}},
        )
        (said,) = [each for each in lint_path(path)[1] if each.rule == "calibration"]
        assert said.message.startswith("deepeval/faithfulness: no calibration at")

    @pytest.mark.parametrize(
        ("treat", "level"), [("require", "error"), ("warn", "warning"), ("off", None)]
    )
    def test_a_suite_whose_judge_is_not_calibrated(
        self, tmp_path: Path, treat: str, level: str | None
    ) -> None:
        rubric = {"rubric": {"criteria": {"right": "Is it?"}, "judge": "main"}}
        gate = {"baseline": "baseline.json", "calibration": treat}
        path = write_suite(
            tmp_path, checks=["equals", rubric], judges={"main": {"model": "m"}}, gate=gate
        )
        said = [(level, "calibration", "bridge.yaml", None)] if level else []
        assert lint(path) == said
        file = tmp_path / "calibration.json"
        file.write_text(json.dumps({"version": 1, "created": "x", "entries": []}))
        assert lint(path) == said
        file.write_text("{}")
        broken = [("error", "calibration", "calibration.json", None)] if level else []
        assert lint(path) == broken
        shown = {**rubric["rubric"], "gate": False}
        path = write_suite(
            tmp_path,
            checks=["equals", {"rubric": shown}],
            judges={"main": {"model": "m"}},
            gate=gate,
        )
        assert lint(path) == []


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.yaml", "a: [1", "a.yaml:2: error: not YAML"),
        ("a.json", "[1]", "a.json: error: a list, not an object; the file is one JSON object"),
        ("a.json", "{}", "a.json: error: no golden set, suite, run, baseline or report; name one"),
        ("a.csv", "a,b", "a.csv: error: no golden set, suite, run, baseline or report; name one"),
        ("a.jsonl", "{", "a.jsonl:1: error: not JSON (Expecting property name enclosed"),
    ],
)
def test_a_named_file_is_told_what_is_wrong_with_it(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    found = [str(each).removeprefix(f"{tmp_path}/") for each in lint_path(tmp_path / name)[1]]
    assert any(each.startswith(said) for each in found), found


def test_a_finding_says_what_to_do(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, checks=["contans"])
    (found,) = lint_path(suite)[1][:1]
    assert found.message.startswith("no scorer 'contans'; did you mean contains?")
    labels = write(tmp_path / "labels.jsonl", {"case_id": "a", "label": "pass", "lable": 1})
    assert [each.line for each in lint_path(labels)[1]] == [1]
