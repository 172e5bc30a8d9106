"""Paths that no file system takes: one line and exit 2 from every command."""

from __future__ import annotations

from pathlib import Path

import pytest
from gate_rows import binary, write_run

from bridge.cli.main import main

LONG = "a" * 300
COMMANDS = (
    ("run", LONG),
    ("run", "suite.yaml", "--run-dir", LONG),
    ("gate", LONG),
    ("gate", "run", "--baseline", LONG),
    ("gate", "run", "--suite", LONG),
    ("gate", "run", "--report-dir", LONG),
    ("compare", "run", LONG),
    ("report", LONG),
    ("calibrate", LONG, "--labels", "labels.jsonl"),
    ("baseline", LONG, "-o", "baseline.json"),
    ("convert", LONG, "out.jsonl"),
    ("convert", "cases.jsonl", f"{LONG}.json"),
    ("check", LONG),
    ("doctor", LONG),
    ("init", LONG),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_run(tmp_path / "run", {"core": binary([1.0] * 20)})
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "input": "q", "expected": "x"}\n')
    (tmp_path / "o.jsonl").write_text('{"case_id": "a", "text": "x"}\n')
    (tmp_path / "suite.yaml").write_text(
        "version: 1\nname: s\ngolden_set: cases.jsonl\nsystem: {recorded: o.jsonl}\nchecks: [equals]\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(words).replace(LONG, "X"))
def test_a_path_that_is_too_long(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(command)
    said = capsys.readouterr().err
    assert ended.value.code == 2, said
    assert said.count("\n") == 1, said
    assert said.startswith("bridge: "), said
    assert "File name too long" in said
    assert "Error" not in said
