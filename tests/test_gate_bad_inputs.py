"""The nine inputs on which published gates pass when they should not, and their kin.

Each must end with exit code 2 or 3 and the reason, as a loose scores file and inside a run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from gate_rows import Row, binary, row, write_run, write_scores

from bridge.cli.gate import decide_and_report
from bridge.model import InputError

GOOD = binary([1.0] * 20)
NAN = json.dumps(GOOD[3]).replace('"value": 1.0', '"value": NaN')


def lines(rows: Sequence[Row]) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in rows)


def changed(**changes: object) -> str:
    return lines([*GOOD[:3], {**GOOD[3], **changes}, *GOOD[4:]])


GOLDEN_SET = lines([{"id": f"c{i:03d}", "input": "?", "expected": "!"} for i in range(20)])
FOREIGN = json.dumps({"results": {"version": 3, "results": [{"success": True, "score": 1}]}})

BAD: dict[str, tuple[str, int, str]] = {
    "a NaN score": (changed().replace(json.dumps(GOOD[3]), NAN), 2, ":4: not a score row"),
    "8 of 20 cases missing": (lines(GOOD[:12]), 3, "8 (cases of the baseline without a row|owed)"),
    "a duplicate id": (lines([*GOOD, GOOD[3]]), 3, "1 row twice, such as core/equals of case"),
    "disjoint ids": (
        lines([row(f"other{i}") for i in range(20)]),
        3,
        "(no case in common with the baseline|20 owed rows missing)",
    ),
    "an empty file": ("", 2, "is empty|holds no score"),
    "text in a score column": (changed(value="0.9"), 2, ":4: not a score row .*got `str`"),
    "a score of 5 on a 0-1 scale": (changed(value=5), 2, ":4: .*value 5 is outside"),
    "a negative score": (changed(value=-0.1), 2, ":4: .*value -0.1 is outside"),
    "a truncated file": (lines(GOOD)[:-30], 2, ":20: not a score row"),
    "another tool's file": (FOREIGN, 2, "no promptfoo results"),
    "a golden set": (GOLDEN_SET, 2, "holds no score|not a score row"),
    "an infinite score": (
        changed().replace('"value": 1.0', '"value": 1e999', 1),
        2,
        ":1: not a score row",
    ),
    "true for a score": (changed(value=True), 2, ":4: not a score row"),
    "no status": (lines([{k: v for k, v in GOOD[0].items() if k != "status"}]), 2, "status|format"),
    "an unknown status": (changed(status="ok"), 2, ":4: .*unknown status 'ok'"),
    "a pass without a value": (changed(value=None), 2, ":4: .*status passed without a value"),
    "a skip with a value": (changed(status="skipped"), 2, ":4: .*status skipped with a value"),
    "a pass below its threshold": (changed(value=0.2), 2, ":4: .*passed with value 0.2 at thresh"),
    "a failure above it": (changed(status="failed"), 2, ":4: .*failed with value 1 at threshold"),
    "a threshold without a verdict": (changed(status="scored"), 2, ":4: .*scored with value 1"),
    "an unknown key": (changed(treshold=1), 2, ":4: not a score row .*treshold"),
    "a threshold of 80": (changed(threshold=80), 2, ":4: not a score row .*threshold"),
    "epoch 0": (changed(epoch=0), 2, ":4: not a score row .*epoch"),
    "turn -1": (changed(turn=-1), 2, ":4: not a score row .*turn"),
    "an empty case id": (changed(case_id=" "), 2, ":4: .*case_id is empty"),
    "an empty metric": (changed(metric=""), 2, ":4: .*metric is empty"),
    "a row too many": (lines([*GOOD, row("c999")]), 3, "1 row that the run does not expect|$^"),
}


def outcome(
    source: Path, capsys: pytest.CaptureFixture[str], baseline: Path | None = None
) -> tuple[int, str]:
    """The exit code, and what is said."""
    try:
        return decide_and_report([source], baseline=baseline), capsys.readouterr().out
    except InputError as error:
        return error.exit_code, str(error)


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    return write_scores(tmp_path / "baseline.jsonl", GOOD)


def test_the_good_file_passes(
    tmp_path: Path, baseline: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loose = put(tmp_path / "scores.jsonl", lines(GOOD))
    run = write_run(tmp_path / "run", {"core": GOOD})
    for source in (loose, run):
        assert outcome(source, capsys, baseline)[0] == 0


@pytest.mark.parametrize("name", [name for name in BAD if name != "a row too many"])
def test_loose_files(
    name: str, tmp_path: Path, baseline: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, code, reason = BAD[name]
    source = put(tmp_path / "scores.jsonl", text)
    found, said = outcome(source, capsys, baseline)
    assert found == code, said
    assert_says(said, reason)


@pytest.mark.parametrize("name", BAD)
def test_run_directories(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, code, reason = BAD[name]
    run = write_run(tmp_path / "run", {"core": GOOD})
    put(run / "scores" / "core.jsonl", text)
    found, said = outcome(run, capsys)
    assert found in (2, 3), said
    if name not in ("another tool's file", "a golden set", "no status"):
        assert found == code, said
        assert_says(said, reason)


def assert_says(said: str, reason: str) -> None:
    assert re.search(reason, said), said


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("run.json", "{", "not JSON"),
        ("run.json", "{}", "suite: is missing"),
        ("rows.jsonl", "", "rows that the run does not expect"),
        ("rows.jsonl", "{}\n", "is missing"),
        ("outputs.jsonl", '{"latency_s": "fast"}\n', "not an output"),
        ("outputs.jsonl", '{"latency_s": NaN}\n', "not an output"),
        ("outputs.jsonl", '{"case_id": "c0", "latency_s": -1}\n', "not an output"),
        (
            "outputs.jsonl",
            f'{{"case_id": "c0", "usage": {{"input_tokens": {10**400}}}}}\n',
            "not an",
        ),
    ],
)
def test_other_files_of_a_run(
    name: str, text: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", {"core": GOOD})
    put(run / name, text)
    found, said = outcome(run, capsys)
    assert found in (2, 3)
    assert reason in said


def test_rows_and_scores_trimmed_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "run", {"core": GOOD})
    for name in ("rows.jsonl", "scores/core.jsonl"):
        kept = (run / name).read_text().splitlines(keepends=True)[:12]
        put(run / name, "".join(kept))
    found, said = outcome(run, capsys)
    assert found == 3
    assert "rows.jsonl does not hold the cases of run.json" in said


def test_a_missing_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path / "gone", tmp_path / "gone.jsonl", tmp_path):
        found, said = outcome(path, capsys)
        assert found == 2
        assert str(path) in said


def test_the_same_source_twice(tmp_path: Path) -> None:
    source = put(tmp_path / "scores.jsonl", lines(GOOD))
    with pytest.raises(InputError, match="named twice"):
        decide_and_report([source, source])


def test_half_an_emoji_is_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = changed(reason="cut here: \ud83d", value=0.0, status="failed")
    source = put(tmp_path / "scores.jsonl", text)
    found, said = outcome(source, capsys)
    assert found == 1
    assert "cut here: \ufffd" in said


def test_whole_numbers_are_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = put(tmp_path / "scores.jsonl", lines([{**row("x"), "case_id": 1}, row("1")]))
    found, said = outcome(source, capsys)
    assert found == 3
    assert "1 row twice" in said
