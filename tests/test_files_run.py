"""Outputs, scores, baselines and run directories on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import strategies
import strategies_suite
from hypothesis import given, settings

from bridge.files.baseline import read_baseline, write_baseline
from bridge.files.outputs import read_outputs, write_outputs
from bridge.files.scores import read_scores, write_scores
from bridge.files.store import RunStore, safe_name
from bridge.model import InputError, Output, RunRecord, Score, Suite
from bridge.model.baseline import Baseline
from bridge.model.run import ExpectedRows


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "outputs.jsonl"


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@settings(max_examples=15)
@given(strategies.OUTPUT_LISTS)
def test_outputs(tmp_path_factory: pytest.TempPathFactory, outputs: list[Output]) -> None:
    path = tmp_path_factory.getbasetemp() / "outputs.jsonl"
    write_outputs(outputs, path)
    assert read_outputs(path) == outputs


@settings(max_examples=15)
@given(strategies.SCORE_LISTS)
def test_scores(tmp_path_factory: pytest.TempPathFactory, scores: list[Score]) -> None:
    path = tmp_path_factory.getbasetemp() / "scores.jsonl"
    write_scores(scores, path)
    assert read_scores(path) == scores


@settings(max_examples=15)
@given(strategies_suite.BASELINES)
def test_baselines(tmp_path_factory: pytest.TempPathFactory, baseline: Baseline) -> None:
    path = tmp_path_factory.getbasetemp() / "baseline.json"
    write_baseline(baseline, path)
    assert read_baseline(path) == baseline
    assert json.loads(path.read_bytes())["version"] == 1


def test_a_baseline_changes_line_by_line(tmp_path: Path) -> None:
    scores = {"equals": {f"c{index}": 1.0 for index in range(3)}}
    write_baseline(Baseline(scores=scores), tmp_path / "a.json")
    write_baseline(
        Baseline(scores={"equals": {**scores["equals"], "c1": 0.0}}), tmp_path / "b.json"
    )
    before, after = ((tmp_path / name).read_text().splitlines() for name in ("a.json", "b.json"))
    assert [(a, b) for a, b in zip(before, after, strict=True) if a != b] == [
        ('   "c1": 1.0,', '   "c1": 0.0,')
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[]", "a list, not an object"),
        ("{}", "scores: is missing"),
        ('{"scores": {"a": {"c": 2}}}', "should be less than or equal to 1"),
        ('{"scores": {"a": {"c": NaN}}}', "NaN is not a JSON number"),
        ('{"scores": {"a": {"c": true}}}', "should be a number"),
        ('{"scores": {"a": {"c": 1, "c": 0}}}', "key 'c' stands twice"),
        ('{"scores": {"a": 1}, "scores": {"a": 0}}', "key 'scores' stands twice"),
        ('{"version": 2, "scores": {"a": 1}}', "version: should be 1, not 2"),
    ],
)
def test_faulty_baselines(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "baseline.json").write_text(text)
    with pytest.raises(InputError, match=r"baseline\.json.*") as caught:
        read_baseline(tmp_path / "baseline.json")
    assert message in str(caught.value)
    with pytest.raises(InputError, match="No such file"):
        read_baseline(tmp_path / "gone.json")


def test_one_answer_a_case_and_epoch(file: Path) -> None:
    lines(file, {"case_id": "a"}, {"case_id": "a", "epoch": 2}, {"case_id": "a", "system": "b"})
    assert len(read_outputs(file)) == 3
    lines(file, {"case_id": 1}, {"case_id": "b"}, {"case_id": "1"})
    with pytest.raises(
        InputError,
        match=r"outputs\.jsonl:3: system 'default' answered case '1' twice in epoch 1 \(first at ",
    ):
        read_outputs(file)
    lines(file, {"case_id": "a"})
    with pytest.raises(InputError, match="twice"):
        read_outputs(file, lines(file.with_name("more.jsonl"), {"case_id": "a"}))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "x"}, "outputs.jsonl:2: case_id: is missing"),
        ({"case_id": "a", "latency": 1}, "latency: unknown key; did you mean latency_s?"),
        ({"case_id": "a", "tool_calls": "x"}, 'tool_calls: should be a list, not "x"'),
        ({"case_id": "a", "epoch": 0}, "epoch: should be greater than or equal to 1, not 0"),
    ],
)
def test_faulty_outputs(file: Path, row: dict[str, Any], message: str) -> None:
    lines(file, {"case_id": "ok"}, row)
    with pytest.raises(InputError) as caught:
        read_outputs(file)
    assert message in str(caught.value)


RECORD = RunRecord(
    suite=Suite.model_validate(
        {"name": "s", "golden_set": "g", "system": {"recorded": "o"}, "checks": ["equals"]}
    ),
    suite_path="bridge.yaml",
    created="2026-01-01T00:00:00+00:00",
    bridge_version="0",
    python_version="3.11",
)


def test_a_run_directory(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    assert not store.exists()
    store.write_record(RECORD)
    rows = ExpectedRows(case_id="a", digest="d", system="s", rows=(("equals", None), ("t", 1)))
    store.write_rows([rows])
    assert store.exists()
    assert store.read_record() == RECORD
    assert list(store.read_rows()) == [rows]


@pytest.mark.parametrize(
    ("text", "message"), [("{", "not JSON"), ("{}", "suite: is missing"), ("[]", "not an object")]
)
def test_what_is_no_run(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(InputError, match=message):
        RunStore(tmp_path).read_record()
    with pytest.raises(InputError, match="No such file"):
        RunStore(tmp_path / "gone").read_record()


@pytest.mark.parametrize(
    ("name", "file_name"),
    [
        ("core", "core"),
        ("my.module:FRAMEWORK", "my.module_FRAMEWORK"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("..", "_"),
        ("a b/c", "a_b_c"),
        ("", "_"),
        ("a" * 300, f"{'a' * 120}-9835fa6bf4e2"),
    ],
)
def test_names_stay_inside_the_run(name: str, file_name: str) -> None:
    assert safe_name(name) == file_name
    assert RunStore(Path("r")).scores_path(name) == Path("r", "scores", f"{file_name}.jsonl")
