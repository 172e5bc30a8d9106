"""A run of Inspect's and its retries: the latest attempt counts, and what failed is never hidden."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Bridge

from bridge.gate.intake.gather import gather
from bridge.model import Bundle, ConversionReport, InputError
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import detect_format, get_format
from bridge.plugin.results.attempts import Attempt, superseded
from bridge_inspect.format import FORMAT
from bridge_inspect.results import folder

RETRIED = ROOT / "tests" / "native" / "inspect" / "retried"
"""A run whose second sample failed, and its retry: ``error.eval`` and ``success.eval``."""
NOTE = "error.eval (status error) is not counted: success.eval tried the same run again"


def read(folder: Path) -> tuple[Bundle, ConversionReport]:
    return FORMAT.read(folder, ReadOptions())


def statuses(bundle: Bundle) -> dict[str, str]:
    return {row.case_id: row.status for row in bundle.scores}


def edited(source: Path, dest: Path, edit: Callable[[dict[str, Any]], None]) -> Path:
    """A log as JSON with something changed."""
    from inspect_ai.log import read_eval_log, write_eval_log

    write_eval_log(read_eval_log(str(source)), str(dest), "json")
    document = json.loads(dest.read_bytes())
    edit(document)
    dest.write_text(json.dumps(document))
    return dest


def test_alone_each_log_says_what_it_holds() -> None:
    assert statuses(read(RETRIED / "error.eval")[0]) == {"1": "scored", "2": "error", "3": "scored"}
    assert set(statuses(read(RETRIED / "success.eval")[0]).values()) == {"scored"}


def test_of_a_folder_the_latest_attempt_counts() -> None:
    assert detect_format(RETRIED) is FORMAT
    bundle, report = read(RETRIED)
    alone, _ = read(RETRIED / "success.eval")
    assert bundle == alone
    assert NOTE in report.notes
    left = {line.field: line for line in report.lines}["error.eval"]
    assert (left.fate, left.count) == ("dropped", read(RETRIED / "error.eval")[1].total)


def test_of_logs_named_one_by_one_too(bridge: Bridge) -> None:
    logs = [RETRIED / "error.eval", RETRIED / "success.eval"]
    for order in (logs, logs[::-1]):
        evidence = gather(order)
        assert (len(evidence.table.value), NOTE in evidence.notes) == (3, True)
    done = bridge("gate", *logs)
    assert "3 cases, 3 rows, 0 errors" in done.stdout
    assert NOTE in done.stdout


def test_a_retry_that_fails_again_is_an_error(tmp_path: Path) -> None:
    """The success becomes the attempt that came first."""

    def earlier(document: dict[str, Any]) -> None:
        document["eval"]["created"] = "2020-01-01T00:00:00+00:00"

    shutil.copy(RETRIED / "error.eval", tmp_path)
    edited(RETRIED / "success.eval", tmp_path / "success.json", earlier)
    bundle, report = read(tmp_path)
    assert statuses(bundle)["2"] == "error"
    assert any(
        note.startswith("success.json (status success) is not counted") for note in report.notes
    )
    assert "error.eval: the run's status is error" in " ".join(report.notes)


def test_a_retry_that_was_cut_short_owes_its_samples(tmp_path: Path) -> None:
    def cut(document: dict[str, Any]) -> None:
        document["samples"] = document["samples"][:1]
        document["status"] = "cancelled"

    shutil.copy(RETRIED / "error.eval", tmp_path)
    edited(RETRIED / "success.eval", tmp_path / "cut.json", cut)
    bundle, _ = read(tmp_path)
    assert statuses(bundle) == {"1": "scored", "2": "error", "3": "error"}


def _fewer(document: dict[str, Any]) -> None:
    document["eval"]["dataset"]["sample_ids"] = [1]


def _same_time(document: dict[str, Any]) -> None:
    first = FORMAT.attempt(RETRIED / "error.eval")
    assert first is not None
    document["eval"]["created"] = first.began


def _other_run(document: dict[str, Any]) -> None:
    document["eval"]["task_id"] = "other"


def _other_task(document: dict[str, Any]) -> None:
    document["eval"]["task_id"] = document["eval"]["task"] = "rivers"


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (_fewer, "a retry of error.eval that leaves out 2 of its cases, such as '2', '3'"),
        (_same_time, "both began at the same time"),
        (
            _other_run,
            "error.eval and x.json are two runs of 'capitals' by 'none/none', and no retry",
        ),
        (_other_task, "holds logs of several tasks (capitals, rivers)"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(tmp_path: Path, edit: Any, told: str) -> None:
    shutil.copy(RETRIED / "error.eval", tmp_path)
    edited(RETRIED / "success.eval", tmp_path / "x.json", edit)
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_several_systems_stand_side_by_side(tmp_path: Path) -> None:
    def another(document: dict[str, Any]) -> None:
        document["eval"] |= {"task_id": "other", "model": "mock/two"}

    shutil.copy(RETRIED / "success.eval", tmp_path)
    edited(RETRIED / "success.eval", tmp_path / "x.json", another)
    bundle, _ = read(tmp_path)
    assert len(bundle.scores) == 6
    assert {output.system for output in bundle.outputs} == {"mock/two", "default"}


def test_only_logs_of_the_folder_itself_are_read(tmp_path: Path) -> None:
    shutil.copy(RETRIED / "success.eval", tmp_path)
    (tmp_path / "link.eval").symlink_to(RETRIED / "error.eval")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    (tmp_path / "more").mkdir()
    shutil.copy(RETRIED / "error.eval", tmp_path / "more")
    bundle, report = read(tmp_path)
    assert set(statuses(bundle).values()) == {"scored"}
    assert not any("not counted" in note for note in report.notes)
    empty = tmp_path / "more" / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="no Inspect log in this folder; name a log"):
        get_format("inspect").read(empty, ReadOptions())


def test_a_folder_of_more_logs_than_are_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "MOST_LOGS", 2)
    for number in range(3):
        shutil.copy(RETRIED / "success.eval", tmp_path / f"{number}.eval")
    with pytest.raises(InputError, match="holds more than 2 logs"):
        read(tmp_path)


def test_times_without_a_zone_are_ordered_alike_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """02:30 is not there when clocks go forward, and would count as 03:30."""
    first, last = Path("first"), Path("last")
    times = {first: "2026-03-29T02:30:00", last: "2026-03-29T03:10:00"}
    attempts = {path: Attempt("run", began, "error") for path, began in times.items()}
    monkeypatch.setenv("TZ", "Europe/Oslo")
    time.tzset()
    try:
        assert superseded(attempts) == {first: last}
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_sample_tried_again_is_told() -> None:
    assert (
        "1 samples were tried again after an error: the last try counts"
        in read(RETRIED)[1].notes[-1]
    )
    assert not any("tried again" in note for note in read(RETRIED / "error.eval")[1].notes)
