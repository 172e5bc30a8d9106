"""Jobs through Inspect, in this process: parity, the log, and what happens when things change."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from adapter_jobs import CASES, OUTPUTS, comparable, core_rows, make_job

from bridge.execution.worker import set_environment
from bridge.model import InfrastructureError, InputError, Job, Score
from bridge.plugin.format import ReadOptions
from bridge_inspect.format import FORMAT
from bridge_inspect.framework import FRAMEWORK
from bridge_inspect.info import INFO

pytest.importorskip("inspect_ai")


@pytest.fixture(scope="module", autouse=True)
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Inspect's switches as in a worker, and a HOME of its own."""
    folder = tmp_path_factory.mktemp("inspect")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        for name, _ in INFO.environment:
            patch.delenv(name, raising=False)
        set_environment(INFO, folder)
        yield folder


@dataclass(frozen=True)
class Done:
    """A job that was run."""

    job: Job
    rows: list[Score]
    route: dict[str, Any]
    log: Path


def run(job: Job) -> Done:
    rows = list(FRAMEWORK.run(job))
    folder = job.spec.native_dir
    route = json.loads((folder / "route.json").read_text())
    return Done(job, rows, route, folder / f"Small_suite-{job.spec.shard}.eval")


@pytest.fixture(scope="module")
def done(apart: Path) -> Done:
    return run(make_job("inspect", apart / "done"))


def test_every_row_is_that_of_core(done: Done) -> None:
    assert comparable(done.rows) == core_rows(done.job)
    statuses = {row.status for row in done.rows}
    assert statuses == {"passed", "failed", "error", "skipped"}
    assert {row.framework_version for row in done.rows} == {done.route["version"]}


def test_the_route_is_recorded(done: Done) -> None:
    assert done.route["framework"] == "inspect"
    assert done.route["route"] == "direct"
    assert done.route["probe"]["cases"] >= len(CASES)
    assert done.route["probe"]["differences"] == []


def test_inspect_reads_the_log(done: Done) -> None:
    from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries

    log = read_eval_log(str(done.log))
    assert log.status == "success"
    assert log.samples is not None
    assert {sample.id for sample in log.samples} == {case["id"] for case in CASES}
    assert log.results is not None
    means = {score.name: score for score in log.results.scores}
    assert means["equals"].metrics["mean"].value == 4.5 / 6
    assert (means["equals"].scored_samples, means["equals"].unscored_samples) == (6, 3)
    assert log.eval.dataset.sample_ids == [case["id"] for case in CASES]
    sample = read_eval_log_sample(str(done.log), id="tool/1", epoch=1)
    assert [event.event for event in sample.events][:3] == [
        "span_begin",
        "sample_init",
        "span_end",
    ]
    assert {event.scorer for event in sample.events if event.event == "score"} >= {"own check"}
    summaries = read_eval_log_sample_summaries(str(done.log))
    assert {summary.id for summary in summaries} == {case["id"] for case in CASES}


def test_inspect_log_dump_takes_it(done: Done) -> None:
    command = [sys.executable, "-m", "inspect_ai", "log", "dump", str(done.log)]
    dumped = subprocess.run(command, capture_output=True, text=True, check=False)
    assert dumped.returncode == 0, dumped.stderr
    log = json.loads(dumped.stdout)
    assert (log["status"], len(log["samples"])) == ("success", len(CASES))


def test_our_reader_finds_the_very_rows_cases_and_outputs(done: Done) -> None:
    bundle, report = FORMAT.read(done.log, ReadOptions())
    assert sorted(map(repr, bundle.scores)) == sorted(map(repr, done.rows))
    assert set(bundle.cases) == set(done.job.cases)
    assert set(bundle.outputs) == set(done.job.outputs)
    assert report.notes == ()


def test_errors_stay_rows_and_leave_inspects_means(done: Done) -> None:
    from inspect_ai.log import read_eval_log_sample

    sample = read_eval_log_sample(str(done.log), id="exits", epoch=1)
    assert sample.scores is not None
    broken = sample.scores["fragile"]
    assert broken.reason == "scoring_failed"
    assert broken.value != broken.value  # NaN
    assert broken.explanation == "SystemExit: 3"
    assert sample.scores["equals"].value == 1.0
    failed = read_eval_log_sample(str(done.log), id="failed", epoch=1)
    assert failed.output.error == "HTTP 500"


def test_rows_come_as_they_are_scored(apart: Path) -> None:
    many = [{**CASES[0], "id": f"c{index}"} for index in range(250)]
    outputs = [{**OUTPUTS[0], "case_id": case["id"]} for case in many]
    job = make_job("inspect", apart / "stream", cases=many, outputs=outputs)
    rows = FRAMEWORK.run(job)
    assert [next(rows).case_id for _ in range(5)] == ["c0"] * 5
    rows.close()  # type: ignore[attr-defined]
    assert not list((job.spec.native_dir).glob("*.eval*"))
    assert not list((job.spec.native_dir).glob(".*.partial"))


def test_epochs_and_systems_have_logs_that_keep_them_apart(apart: Path) -> None:
    outputs = [
        {**OUTPUTS[0], "system": system, "epoch": epoch}
        for system in ("a", "b/b")
        for epoch in (1, 2)
    ]
    job = make_job("inspect", apart / "systems", cases=CASES[:1], outputs=outputs, shard=3)
    assert comparable(FRAMEWORK.run(job)) == core_rows(job)
    logs = sorted(job.spec.native_dir.glob("*.eval"))
    assert [log.name for log in logs] == ["Small_suite-3-a.eval", "Small_suite-3-b_b.eval"]
    bundle, _ = FORMAT.read(logs[1], ReadOptions())
    assert {(each.system, each.epoch) for each in bundle.outputs} == {("b/b", 1), ("b/b", 2)}


def test_a_difference_sends_everything_the_public_way(
    apart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bridge_inspect import route

    honest = route.Direct.score

    async def flattering(self: Any, sample: Any) -> None:
        await honest(self, sample)
        for score in sample.scores.values():
            score.value = 1.0

    monkeypatch.setattr(route.Direct, "score", flattering)
    found = run(make_job("inspect", apart / "different"))
    assert found.route["route"] == "score"
    assert any(
        "wrong: equals is 1.0 and 0.0" in each for each in found.route["probe"]["differences"]
    )
    assert comparable(found.rows) == core_rows(found.job)
    bundle, _ = FORMAT.read(found.log, ReadOptions())
    assert comparable(bundle.scores) == core_rows(found.job)


def test_a_moved_name_sends_everything_the_public_way(
    apart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bridge_inspect import route

    def moved(*_: Any) -> None:
        raise ImportError("cannot import name 'TaskState'")

    monkeypatch.setattr(route.Direct, "score", moved)
    found = run(make_job("inspect", apart / "moved", cases=CASES[:2], outputs=OUTPUTS[:2]))
    assert found.route["route"] == "score"
    assert "TaskState" in found.route["probe"]["differences"][0]
    assert comparable(found.rows) == core_rows(found.job)


def test_a_log_that_inspect_would_not_read_is_never_written(
    apart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bridge_inspect import artefact

    monkeypatch.setattr(artefact, "_member", lambda sample: f"somewhere/{sample.uuid}.json")
    found = run(make_job("inspect", apart / "layout", cases=CASES[:2], outputs=OUTPUTS[:2]))
    assert found.route["route"] == "score"
    assert comparable(found.rows) == core_rows(found.job)


def test_a_case_that_cannot_be_translated_costs_its_own_rows_only(
    apart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bridge_inspect import route

    honest = route.to_eval_sample

    def picky(case: Any, output: Any) -> Any:
        if case.id == "wrong":
            raise TypeError("no such thing")
        return honest(case, output)

    monkeypatch.setattr(route, "to_eval_sample", picky)
    found = run(make_job("inspect", apart / "picky"))
    core = core_rows(found.job)
    rows = comparable(found.rows)
    assert set(rows) == set(core)
    for key, row in rows.items():
        if key[1] == "wrong":
            assert row["status"] == "error"
            assert row["error"] == "the case cannot be translated (TypeError: no such thing)"
        else:
            assert row == core[key]


def test_a_full_disk_is_one_line(apart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import zipfile

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(InfrastructureError, match="No space left on device"):
        run(make_job("inspect", apart / "full", cases=CASES[:1], outputs=OUTPUTS[:1]))


def test_to_native_takes_one_system(apart: Path) -> None:
    del apart
    job = make_job("inspect", Path(), cases=CASES[:1], outputs=[])
    with pytest.raises(InputError, match="one system"):
        FRAMEWORK.to_native(job.bundle)
