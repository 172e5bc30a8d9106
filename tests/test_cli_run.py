"""``bridge run``: what is wrong is said before anything is asked, and costs no earlier run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Bridge, write_suite

from bridge.execution.plan import Selection, make_plan
from bridge.model.errors import InputError


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "json"], "--baseline and --format are for --gate; add --gate"),
        (["--baseline", "nope"], "--baseline and --format are for --gate; add --gate"),
        (["--gate", "--format", "pdf"], "no report format 'pdf'; use one of json"),
        (["--gate", "--baseline", "nope.json"], "nope.json: the baseline is not there; make one"),
        (["--frameworks", ","], "--frameworks names none; name one"),
        (["--outputs", "cases.jsonl"], "cases.jsonl:1: case_id: is missing"),
        (["--outputs", "nope.jsonl"], "nope.jsonl: cannot be read"),
    ],
)
def test_wrong_use_leaves_an_earlier_run_as_it_is(
    bridge: Bridge, tmp_path: Path, arguments: list[str], said: str
) -> None:
    suite = write_suite(tmp_path, {"gate": {"metrics": {"equals": {"min": 0.1}}}})
    earlier = bridge("run", suite, "--run-dir", "R", "--gate")
    assert earlier.returncode == 0, earlier.stderr
    before = snapshot(tmp_path / "R")
    done = bridge("run", suite, "--run-dir", "R", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert snapshot(tmp_path / "R") == before


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ({"metrics": {"equal": 0.5}}, "the gate names metric 'equal', which no check of this run"),
        ({"metrics": {"ragas/equals": 0.5}}, "names metric 'ragas/equals'"),
        ({"must_pass": ["c9"]}, "must_pass names 'c9', which is no case of this run"),
        ({"must_pass": ["tag:x"]}, "must_pass names 'tag:x', which is no case of this run"),
    ],
)
def test_a_gate_that_fits_no_run_is_refused_before_it(
    bridge: Bridge, tmp_path: Path, gate: dict[str, object], said: str
) -> None:
    suite = write_suite(tmp_path, {"gate": gate})
    done = bridge("run", suite, "--run-dir", "R", "--gate")
    assert done.returncode == 2
    assert f"{suite}: " in done.stderr
    assert said in done.stderr
    assert not (tmp_path / "R").exists()


def test_frameworks_are_named_once(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    plan = make_plan(suite, Selection(frameworks=("core", "core")))
    assert [each.name for each in plan.suite.frameworks] == ["core"]
    with pytest.raises(InputError, match="names none"):
        make_plan(suite, Selection(frameworks=()))


def test_no_report_of_an_earlier_run_stays(bridge: Bridge, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"gate": {"metrics": {"equals": {"min": 0.1}}}})
    done = bridge("run", suite, "--run-dir", "R", "--gate", "--format", "json,markdown,junit")
    assert len(list((tmp_path / "R").glob("eval-report.*"))) == 3, done.stderr
    assert bridge("run", suite, "--run-dir", "R").returncode == 0
    assert not list((tmp_path / "R").glob("eval-report.*"))


def test_why_rows_could_not_be_scored(bridge: Bridge, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"epochs": 2})
    done = bridge("run", suite, "--run-dir", "R")
    assert done.returncode == 3
    why = "error: 4 rows: the system failed: no output was recorded for it (first: core, case 'c0')"
    assert why in done.stdout.splitlines()


def test_a_run_that_was_broken_off_early(bridge: Bridge, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    assert bridge("run", suite, "--run-dir", "R").returncode == 0
    (tmp_path / "R" / "rows.jsonl").unlink()
    done = bridge("gate", "R")
    assert done.returncode == 2
    assert done.stderr == (
        "bridge: R: the run was broken off before anything was scored; run it again\n"
    )


def test_a_run_is_gated_from_another_folder(bridge: Bridge, tmp_path: Path) -> None:
    """Its suite's baseline is named relative to where the run was started."""
    home, other = tmp_path / "home-of-it", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    write_suite(home, {"gate": {"baseline": "baseline.json"}})
    assert bridge("run", "home-of-it/bridge.yaml", "--run-dir", "R").returncode == 0
    done = bridge("gate", tmp_path / "R", cwd=other)
    assert done.returncode == 2
    assert "work in the folder that bridge run was started in, or name --suite" in done.stderr
    record = json.loads((tmp_path / "R" / "run.json").read_text("utf-8"))
    assert record["suite_path"] == "home-of-it/bridge.yaml"


def test_a_faulty_check_has_its_line(bridge: Bridge, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    text = "name: s\ngolden_set: cases.jsonl\nsystem: {recorded: v1.outputs.jsonl}\nchecks:\n"
    suite.write_text(f"{text}  - equals\n  - contains: {{valu: x}}\n", "utf-8")
    for command in ("run", "check"):
        done = bridge(command, suite)
        assert done.returncode == 2
        assert f"{suite}:6: " in done.stderr + done.stdout
        assert "check contains: valu: unknown key; did you mean value?" in done.stderr + done.stdout
