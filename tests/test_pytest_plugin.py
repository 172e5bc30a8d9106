"""Suites as pytest items: what they are called, how they end, what they cost, and never a false green."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import write_jsonl, write_suite

import bridge.pytest_plugin.suite  # noqa: F401  # here, so that runs in this process need not
from bridge.pytest_plugin.names import node_name

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.xdist_group("pytest_plugin")

Run = Callable[..., pytest.RunResult]

SYSTEM = """
from pathlib import Path

def answer(question, case):
    with (Path(__file__).parent / "asked.txt").open("a") as file:
        file.write(case.id + "\\n")
    return "a" + question[1:]
"""
CHECKS: list[Any] = [
    "equals",
    {"contains": {"metric": "holds", "value": "a"}},
    {"equals": {"metric": "watched", "gate": False}},
    "tool_use",
    "tool_correctness",
    {"fragile:SCORER": {"metric": "fragile"}},
]
FRAGILE = """
from bridge import Measurement, Scorer

def fragile(case, output, params):
    if case.id == "c1":
        raise RuntimeError("no\\nluck")
    return [Measurement(value=1.0, reason="fine")]

SCORER = Scorer("fragile", "1", fragile)
"""


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Run pytest in this process, in a folder of its own, without plug-ins that ask anybody."""

    def call(*arguments: object) -> pytest.RunResult:
        return pytester.runpytest_inprocess(
            "-p", "no:deepeval", "-p", "no:asyncio", *map(str, arguments)
        )

    return call


def asked(folder: Path) -> list[str]:
    path = folder / "asked.txt"
    return path.read_text("utf-8").split() if path.is_file() else []


def test_nothing_is_collected_or_imported_unasked(pytester: pytest.Pytester) -> None:
    write_suite(pytester.path, {"system": {"python": "bot:answer"}}, bot=SYSTEM)
    pytester.makepyfile("def test_one(): pass")
    pytester.makeconftest(
        "import sys\n"
        "def pytest_unconfigure():\n"
        "    print('loaded', sorted(n for n in sys.modules if n.startswith(('bridge', 'pydantic'))))\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:deepeval", "-p", "no:asyncio"]
    done = subprocess.run(
        [*command, "-p", "no:hypothesispytest", "-p", "no:langsmith_plugin"],
        cwd=pytester.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    loaded = "['bridge', 'bridge.pytest_plugin', 'bridge.pytest_plugin.hooks']"
    assert f"loaded {loaded}" in done.stdout
    assert asked(pytester.path) == []


def test_every_status_has_its_outcome(pytester: pytest.Pytester, run: Run) -> None:
    write_suite(pytester.path, {"checks": CHECKS}, fragile=FRAGILE)
    done = run("--bridge", "-v", "-rs", "--junitxml", "report.xml")
    done.assert_outcomes(passed=12, failed=2, skipped=8, errors=1, xfailed=1)
    done.stdout.fnmatch_lines(
        [
            "bridge.yaml::c0::equals PASSED*",
            "bridge.yaml::c1::fragile ERROR*",
            "bridge.yaml::c3::equals FAILED*",
            "bridge.yaml::c3::watched XFAIL*",
            "fragile: error: RuntimeError: no luck (cases.jsonl:2)",
            "equals: 0, needs 1: *wrong* (cases.jsonl:4)",
            "*Captured answer call*",
            "wrong",
        ]
    )
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    report = ElementTree.parse(pytester.path / "report.xml")
    names = [case.attrib["name"] for case in report.iter("testcase")]
    assert names[:6] == ["equals", "holds", "watched", "tool_use", "tool_correctness", "fragile"]
    (broken,) = report.iter("error")
    assert "fragile: error: RuntimeError: no luck (cases.jsonl:2)" in broken.attrib["message"]
    values = [each.attrib for each in report.iter("property") if each.attrib["name"] == "value"]
    assert {each["value"] for each in values} == {"0.0", "1.0"}


def test_only_what_is_selected_is_asked_and_scored_and_that_once(
    pytester: pytest.Pytester, run: Run
) -> None:
    checks = ["equals", {"contains": {"value": "a"}}]
    write_suite(pytester.path, {"system": {"python": "bot:answer"}, "checks": checks}, bot=SYSTEM)
    run("--bridge", "-k", "c1 and equals").assert_outcomes(passed=1, deselected=7)
    assert asked(pytester.path) == ["c1"]
    rows = list(pytester.path.glob(".pytest_cache/d/bridge/*/scores/core.jsonl"))
    assert len(rows[0].read_text("utf-8").splitlines()) == 1
    run("--bridge", "bridge.yaml::c2").assert_outcomes(passed=2)
    assert asked(pytester.path) == ["c1", "c2"]
    run("--bridge", "bridge.yaml").assert_outcomes(passed=8)
    assert sorted(asked(pytester.path)[2:]) == ["c0", "c1", "c2", "c3"]


def test_processes_share_one_run(pytester: pytest.Pytester, run: Run) -> None:
    checks = ["equals", {"contains": {"value": "a"}}]
    write_suite(pytester.path, {"system": {"python": "bot:answer"}, "checks": checks}, bot=SYSTEM)
    run("--bridge", "-n", "2").assert_outcomes(passed=8)
    assert sorted(asked(pytester.path)) == ["c0", "c1", "c2", "c3"]
    run("--bridge", "-n", "2").assert_outcomes(passed=8)
    assert len(asked(pytester.path)) == 8, "another run of pytest asks again"


def test_last_failed_and_exit_first(pytester: pytest.Pytester, run: Run) -> None:
    write_suite(pytester.path, {"checks": ["equals", {"contains": {"value": "a"}}]})
    run("--bridge").assert_outcomes(passed=6, failed=2)
    run("--bridge", "-x", "--ff").assert_outcomes(failed=1)
    again = run("--bridge", "--lf", "-v")
    again.assert_outcomes(failed=2, deselected=6)
    again.stdout.fnmatch_lines(["bridge.yaml::c3::equals FAILED*"])


def test_ids_that_pytest_would_read_are_found_again(pytester: pytest.Pytester, run: Run) -> None:
    ids = ["a::b", "p[1]", ":x:", "\\x3a", "new\nline \u202e", "ümlaut 🙂", "a/b c"]
    assert len({node_name(each) for each in ids}) == len(ids)
    write_jsonl(
        pytester.path / "cases.jsonl",
        [{"id": each, "input": "q", "expected": "x", "tags": ["all"]} for each in ids],
    )
    write_jsonl(pytester.path / "o.jsonl", [{"case_id": each, "text": "x"} for each in ids])
    suite = {"name": "s", "golden_set": "cases.jsonl", "system": {"recorded": "o.jsonl"}}
    (pytester.path / "bridge.yaml").write_text(json.dumps({**suite, "checks": ["equals"]}))
    listed = run("--bridge", "--collect-only", "-q")
    nodes = [line for line in listed.outlines if line.startswith("bridge.yaml::")]
    assert len(nodes) == len(ids)
    run("--bridge", *nodes).assert_outcomes(passed=len(ids))
    run("--bridge", "-k", "all").assert_outcomes(passed=len(ids))


def test_rows_are_told_apart_by_what_they_have_several_of(
    pytester: pytest.Pytester, run: Run
) -> None:
    turns = [{"user": "1", "expected": "x"}, {"user": "2", "expected": "x"}]
    case = {"id": "a", "input": "q", "expected": "", "turns": turns}
    write_jsonl(pytester.path / "cases.jsonl", [case])
    answers = [{"text": "x"}, {"text": "x"}]
    write_jsonl(
        pytester.path / "o.jsonl",
        [{"system": s, "case_id": "a", "epoch": e, "turns": answers} for s in "uv" for e in (1, 2)],
    )
    suite = {"name": "s", "golden_set": "cases.jsonl", "system": {"recorded": "o.jsonl"}}
    (pytester.path / "bridge.yaml").write_text(json.dumps({**suite, "checks": ["equals"]}))
    listed = run("--bridge", "--collect-only", "-q")
    nodes = [line for line in listed.outlines if line.startswith("bridge.yaml::")]
    assert nodes == [
        f"bridge.yaml::a::equals[{system}{epoch}-turn{turn}]"
        for system in "uv"
        for epoch in ("", "-epoch2")
        for turn in (0, 1)
    ]


def test_a_configured_suite_is_run_by_pytest_alone(pytester: pytest.Pytester, run: Run) -> None:
    folder = pytester.mkdir("evals")
    (folder / "bot.bridge.yaml").write_bytes(write_suite(folder, {}).read_bytes())
    (folder / "bridge.yaml").unlink()
    pytester.mkdir("tests").joinpath("test_one.py").write_text("def test_one(): pass")
    pytester.makeini("[pytest]\ntestpaths = tests\nbridge_suites = evals/*.bridge.yaml\n")
    run().assert_outcomes(passed=4, failed=1)
    run("-n", "1").assert_outcomes(passed=4, failed=1)
    run("tests").assert_outcomes(passed=1)
    run("evals").assert_outcomes(passed=3, failed=1)
    pytester.makeini("[pytest]\nbridge_suites = evals/gone.yaml\n")
    done = run()
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*bridge_suites: *gone.yaml is not there; mend the path"])


SKIPPED = [{"id": "a", "input": "q", "expected": ""}]
RED: dict[str, tuple[dict[str, Any], dict[str, list[dict[str, Any]]], list[str], str]] = {
    "no golden set": (
        {"golden_set": "gone.jsonl"},
        {},
        [],
        "*gone.jsonl: cannot be read (No such file*",
    ),
    "an empty golden set": ({}, {"cases.jsonl": []}, [], "*cases.jsonl*holds no case*"),
    "no outputs": ({"system": {"recorded": "gone.jsonl"}}, {}, [], "*gone.jsonl are not there*"),
    "empty outputs": ({}, {"v1.outputs.jsonl": []}, [], "*holds no output*"),
    "an answer that is missing": (
        {},
        {"v1.outputs.jsonl": [{"case_id": "c0", "text": "a0"}]},
        [],
        "equals: error: the system failed: no output was recorded for it*",
    ),
    "no check": ({"checks": []}, {}, [], "*nothing is checked on case 'c0'*"),
    "a check that is none": ({"checks": ["equal"]}, {}, [], "*no scorer 'equal'*"),
    "an unknown key": ({"check": ["equals"]}, {}, [], "*check*"),
    "an unknown id": ({}, {}, ["bridge.yaml::nope"], "*not found*nope*"),
    "a system that is none": ({"system": {"python": "gone:x"}}, {}, [], "*'gone:x' cannot be*"),
    "nothing to score": (
        {"checks": ["equals"]},
        {"cases.jsonl": SKIPPED, "v1.outputs.jsonl": [{"case_id": "a", "text": "x"}]},
        [],
        "*nothing was scored*",
    ),
    "nothing to score in what is selected": (
        {"checks": ["equals", "tool_use"]},
        {},
        ["-k", "tool_use"],
        "*nothing was scored*",
    ),
}


@pytest.mark.parametrize("what", RED)
def test_it_is_never_green(pytester: pytest.Pytester, run: Run, what: str) -> None:
    suite, files, arguments, said = RED[what]
    write_suite(pytester.path, suite)
    for name, rows in files.items():
        write_jsonl(pytester.path / name, rows)
    done = run("--bridge", *arguments)
    assert done.ret not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    assert done.ret != pytest.ExitCode.INTERNAL_ERROR
    lines = [*done.outlines, *done.errlines]
    pytest.LineMatcher(lines).fnmatch_lines([said])
    assert "Traceback" not in "\n".join(lines)


def test_asked_for_and_not_there_is_an_error(pytester: pytest.Pytester, run: Run) -> None:
    pytester.makepyfile("def test_one(): pass")
    done = run("--bridge")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*--bridge: no suite found; name one, or a folder with bridge.yaml"])


def test_rows_of_another_run_never_count(pytester: pytest.Pytester, run: Run) -> None:
    """In this one process, as in a container whose processes have the same numbers each time."""
    write_suite(pytester.path, {})
    run("--bridge").assert_outcomes(passed=3, failed=1)
    write_jsonl(pytester.path / "v1.outputs.jsonl", [{"case_id": "c0", "text": "worse"}])
    run("--bridge").assert_outcomes(failed=1, errors=3)


def test_a_system_that_breaks_is_asked_once(pytester: pytest.Pytester, run: Run) -> None:
    broken = f"{SYSTEM}\n    raise RuntimeError\nanswer({{}}[0])\n"
    text = broken.replace(
        "answer({}[0])", "open('tried.txt', 'a').write('x'); raise ValueError('no')"
    )
    write_suite(pytester.path, {"system": {"python": "bot:answer"}}, bot=text)
    done = run("--bridge")
    done.assert_outcomes(errors=4)
    assert (pytester.path / "tried.txt").read_text() == "x"
    done.stdout.fnmatch_lines(["*system 'bot:answer' cannot be imported (ValueError: no)*"])
