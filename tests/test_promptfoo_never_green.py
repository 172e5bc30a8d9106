"""Never a false green: each test shows promptfoo's own default going wrong, then our guard."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from native_gate import gate
from promptfoo_runs import Rows, evaluate, make_job, native_rows, read_back, run_job

from bridge.model import Bundle, Case, Suite
from bridge.model.errors import InputError
from bridge_promptfoo import launch, to_config

pytestmark = pytest.mark.xdist_group("promptfoo")

NAN = "({pass: true, score: NaN, reason: 'not a number'})"
CRASH = "(() => { throw new Error('boom') })()"
JUDGED = {"type": "similar", "value": "yes", "threshold": 0.8}
OK = {"type": "contains", "value": "yes"}

TESTS: list[dict[str, Any]] = [
    {"description": "no key", "assert": [OK, JUDGED], "threshold": 0.5},
    {"description": "crash", "assert": [{"type": "javascript", "value": CRASH}]},
    {
        "description": "crash under a threshold",
        "assert": [OK, {"type": "javascript", "value": CRASH}],
        "threshold": 0.5,
    },
    {"description": "typo", "asserts": [{"type": "contains", "value": "never there"}]},
    {"description": "nan", "assert": [{"type": "javascript", "value": NAN}]},
    {"description": "weightless", "assert": [{"type": "equals", "value": "no", "weight": 0}]},
    {"description": "system down", "provider": "file://down.cjs", "assert": [OK]},
    {"description": "thrower", "assert": [OK, {"type": "meteor", "value": "yes"}]},
    {"description": "fine", "assert": [OK]},
]


@dataclass(frozen=True)
class Own:
    """What promptfoo says of each test, what our reader makes of it, and the notes."""

    native: dict[str, Any]
    rows: Rows
    notes: tuple[str, ...]
    file: Path

    def row(self, case_id: str, metric: str) -> dict[str, Any]:
        return next(
            row
            for row in self.rows.values()
            if (row["case_id"], row["metric"]) == (case_id, metric)
        )


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Own:
    folder = tmp_path_factory.mktemp("own")
    (folder / "down.cjs").write_text(
        "module.exports = class { id() { return 'down' }\n"
        "  async callApi() { return { error: 'HTTP 500' } } };\n"
    )
    tests = [{"providerOutput": "yes", **test} for test in TESTS]
    del tests[6]["providerOutput"]
    config = {"prompts": ["p"], "providers": [{"id": "echo", "label": "bot"}], "tests": tests}
    results, _ = evaluate(folder, config, OPENAI_API_KEY="")
    rows, _, notes = read_back(folder / "own.json")
    native = {row["testCase"]["description"]: row for row in native_rows(results)}
    return Own(native, rows, notes, folder / "own.json")


def test_a_missing_judge_key_passes_under_a_test_threshold(own: Own) -> None:
    assert own.native["no key"]["success"] is True  # promptfoo
    row = own.row("no key", "similar")
    assert row["status"] == "error"
    assert "key is not set" in row["error"].lower()
    assert "tests passed by their threshold although an assertion failed" in " ".join(own.notes)


def test_a_crash_is_an_ordinary_failure(own: Own) -> None:
    assert own.native["crash"]["failureReason"] == 1  # promptfoo: not told apart from a failure
    assert own.row("crash", "javascript")["status"] == "error"
    assert own.row("crash", "javascript")["value"] is None


def test_a_crash_passes_under_a_test_threshold(own: Own) -> None:
    assert own.native["crash under a threshold"]["success"] is True  # promptfoo
    assert own.row("crash under a threshold", "javascript")["status"] == "error"


def test_a_typo_in_assert_passes(own: Own) -> None:
    typo = own.native["typo"]
    assert (typo["success"], typo["score"]) == (True, 1)  # promptfoo: "No assertions"
    statuses = {row["status"] for row in own.rows.values() if row["case_id"] == "typo"}
    assert statuses == {"error"}
    assert any("carry no score" in note for note in own.notes)


def test_a_score_that_is_no_number_passes(own: Own) -> None:
    assert own.native["nan"]["success"] is True  # promptfoo
    row = own.row("nan", "javascript")
    assert (row["status"], row["value"]) == ("error", None)
    assert "no score" in row["error"]


def test_a_provider_error_is_no_failed_check(own: Own) -> None:
    assert own.native["system down"]["failureReason"] == 2
    row = own.row("system down", "contains")
    assert (row["status"], row["error"], row["value"]) == ("error", "HTTP 500", None)


def test_an_assertion_that_throws_takes_the_others_with_it(own: Own) -> None:
    thrower = own.native["thrower"]
    assert (thrower["failureReason"], thrower["gradingResult"]) == (2, None)  # promptfoo
    assert own.row("thrower", "contains")["status"] == "error"
    assert own.row("thrower", "meteor")["status"] == "error"


def test_an_assertion_without_weight_always_passes(own: Own) -> None:
    (component,) = own.native["weightless"]["gradingResult"]["componentResults"]
    assert (component["pass"], component["score"]) == (True, 0)  # promptfoo
    row = own.row("weightless", "equals")
    assert (row["status"], row["value"], row["weight"]) == ("scored", 0.0, 0.0)


def test_what_is_fine_stays_fine(own: Own) -> None:
    row = own.row("fine", "contains")
    assert (row["status"], row["value"], row["system"]) == ("passed", 1.0, "bot")


def test_an_empty_list_of_tests_passes(tmp_path: Path) -> None:
    config = {"prompts": ["p"], "providers": ["echo"], "tests": []}
    results, code = evaluate(tmp_path, config)
    assert code == 0  # promptfoo: one test of its own making, passed
    assert results["results"]["stats"]["successes"] == 1
    rows, _, _ = read_back(tmp_path / "own.json")
    assert {row["status"] for row in rows.values()} == {"error"}


def test_our_config_has_no_empty_list_of_tests() -> None:
    with pytest.raises(InputError, match="no output"):
        to_config(Bundle(cases=(Case(id="a", input="q", expected=""),)))


def test_a_case_on_which_nothing_was_scored_is_red_in_promptfoos_view(tmp_path: Path) -> None:
    """A row with no assertion result would be a pass; nothing but skipped ones is none."""
    case = {"id": "a", "input": "q", "expected": ""}
    rows, broke = run_job(
        make_job(tmp_path, [case], [{"case_id": "a", "text": "x"}], ["equals", "tool_use"])
    )
    assert broke == ""
    assert {row["status"] for row in rows.values()} == {"skipped"}
    (native,) = native_rows(json.loads((tmp_path / "native" / "s-0.json").read_bytes()))
    assert native["success"] is False
    assert native["error"].startswith("nothing was scored: ")


def test_a_crash_under_a_threshold_does_not_pass_the_gate(tmp_path: Path, own: Own) -> None:
    (native,) = [own.native["crash under a threshold"]]
    assert native["success"] is True  # promptfoo
    found = gate(only(own, tmp_path, "crash under a threshold", "fine"))
    assert found.code == 3
    assert (
        "promptfoo/javascript of case 'crash under a threshold': Custom function" in found.reasons
    )
    assert gate(only(own, tmp_path, "fine"), ["fine"]).code == 0


def test_totals_that_were_not_counted_again(tmp_path: Path, own: Own) -> None:
    """As after a filter or a merge by hand; a pipeline that asks the totals sees no difference."""
    path = only(own, tmp_path, "fine")
    totals = json.loads(path.read_bytes())["results"]["stats"]
    assert totals["successes"] == sum(row["success"] for row in own.native.values())  # promptfoo

    found = gate(path, ["fine", "typo"])
    assert found.code == 3
    assert "promptfoo: no row of 1 case of the suite, such as 'typo'" in found.reasons
    assert "those of the rows (1, 0, 0)" in found.notes


def only(own: Own, folder: Path, *names: str) -> Path:
    """The results file with some of its rows, everything else as it was."""
    results = json.loads(own.file.read_bytes())
    rows = results["results"]["results"]
    results["results"]["results"] = [row for row in rows if row["testCase"]["description"] in names]
    path = folder / f"{len(names)}.json"
    path.write_text(json.dumps(results), encoding="utf-8")
    return path


def test_an_answer_of_the_system_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a script reads is not part of the key that its answers are cached by."""
    monkeypatch.setattr(launch, "FLAGS", [flag for flag in launch.FLAGS if flag != "--no-cache"])
    (tmp_path / "answer.sh").write_text("cat model.txt")
    config = {"prompts": ["p"], "providers": ["exec:sh answer.sh"], "tests": [{"assert": [OK]}]}
    for answer in ("yes", "no"):
        (tmp_path / "model.txt").write_text(answer)
        results, code = evaluate(tmp_path, config)
        assert (code, native_rows(results)[0]["response"]["output"]) == (0, "yes")  # promptfoo
    assert "1 answers are from promptfoo's cache" in gate(tmp_path / "own.json").notes

    statuses = []
    for answer in ("yes", "no"):
        job = make_job(tmp_path, [{"id": "a", "input": "q", "expected": "yes"}],
                       [{"case_id": "a", "text": answer}], ["equals"])  # fmt: skip
        statuses += [row["status"] for row in run_job(job)[0].values()]
    assert statuses == ["passed", "failed"]


def test_tests_of_one_name_are_told_apart(tmp_path: Path) -> None:
    test = {"description": "twin", "providerOutput": "yes", "assert": [OK]}
    tests = [test, {**test, "providerOutput": "no", "vars": {"n": 2}}]
    results, _ = evaluate(tmp_path, {"prompts": ["p"], "providers": ["echo"], "tests": tests})
    by_name = {row["testCase"]["description"]: row["success"] for row in native_rows(results)[::-1]}
    assert by_name == {"twin": True}  # promptfoo: no name is asked to be the only one

    rows, _, notes = read_back(tmp_path / "own.json")
    assert {row["case_id"]: row["status"] for row in rows.values()} == {
        "twin": "passed",
        "twin (2)": "failed",
    }
    assert "1 tests had the name of another; a number was added" in notes


LEAK = "{{ env.BRIDGE_TEST_SECRET }}"


def test_a_recorded_output_is_a_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a model said reads the environment, or runs code, once it stands in a config."""
    monkeypatch.setenv("BRIDGE_TEST_SECRET", "leaked")
    test = {"providerOutput": LEAK, "metadata": {"said": LEAK}, "assert": [OK]}
    results, _ = evaluate(tmp_path, {"prompts": ["p"], "providers": ["echo"], "tests": [test]})
    (native,) = native_rows(results)
    assert native["response"]["output"] == "leaked"  # promptfoo
    assert native["metadata"]["said"] == "leaked"

    case = {"id": LEAK, "input": LEAK, "expected": LEAK, "metadata": {LEAK: LEAK}}
    job = make_job(tmp_path, [case], [{"case_id": LEAK, "text": LEAK}], ["equals"])
    rows, _ = run_job(job)
    assert [row["status"] for row in rows.values()] == ["passed"]
    assert "leaked" not in (tmp_path / "native" / "s-0.json").read_text("utf-8")


def test_our_config_by_hand_is_no_template_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the switches of a run, as someone runs what ``to_config`` gave."""
    monkeypatch.setenv("BRIDGE_TEST_SECRET", "leaked")
    case = {"id": LEAK, "input": LEAK, "expected": LEAK}
    job = make_job(tmp_path, [case], [{"case_id": LEAK, "text": LEAK}], [])
    suite = Suite.model_validate(
        {
            "name": LEAK,
            "golden_set": "c",
            "system": {"recorded": "o"},
            "checks": ["equals", {"contains": {"value": LEAK, "metric": LEAK}}],
        }
    )
    config = to_config(job.bundle.model_copy(update={"suite": suite}))
    results, code = evaluate(tmp_path, config)
    assert code == 0
    assert "leaked" not in json.dumps(results)
    assert native_rows(results)[0]["response"]["output"] == LEAK
