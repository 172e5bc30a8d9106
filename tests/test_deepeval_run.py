"""Jobs through DeepEval, in this process: parity, the run file, and what happens on changes."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from adapter_jobs import CASES, OUTPUTS, comparable, core_rows, make_job

from bridge.execution.worker import set_environment
from bridge.model import Bundle, InfrastructureError, InputError, Job, Score, Suite
from bridge.plugin.format import ReadOptions
from bridge_deepeval.format import FORMAT
from bridge_deepeval.framework import FRAMEWORK
from bridge_deepeval.info import INFO

pytest.importorskip("deepeval")


@pytest.fixture(scope="module", autouse=True)
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """DeepEval's switches as in a worker, and a HOME and a folder of its own."""
    folder = tmp_path_factory.mktemp("deepeval")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.chdir(folder)
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
    file: Path


def run(job: Job) -> Done:
    rows = list(FRAMEWORK.run(job))
    folder = job.spec.native_dir
    route = json.loads((folder / "route.json").read_text())
    return Done(job, rows, route, folder / f"Small_suite-{job.spec.shard}.json")


@pytest.fixture(scope="module")
def done(apart: Path) -> Done:
    return run(make_job("deepeval", apart / "done"))


def load(path: Path) -> Any:
    """A run file by DeepEval's own reader."""
    from deepeval.test_run import TestRun

    with path.open(encoding="utf-8") as file:
        return TestRun.load(file)  # type: ignore[no-untyped-call]


def test_every_row_is_that_of_core(done: Done) -> None:
    assert comparable(done.rows) == core_rows(done.job)
    statuses = {row.status for row in done.rows}
    assert statuses == {"passed", "failed", "error", "skipped"}
    assert {row.framework_version for row in done.rows} == {done.route["version"]}


def test_the_route_is_recorded(done: Done) -> None:
    assert done.route["framework"] == "deepeval"
    assert done.route["route"] == "direct"
    assert done.route["probe"]["cases"] >= len(CASES)
    assert done.route["probe"]["differences"] == []


def test_deepeval_reads_the_run_file(done: Done) -> None:
    run_read = load(done.file)
    names = {case.name for case in run_read.test_cases}
    assert names == {case["id"] for case in CASES if "turns" not in case}
    assert [case.name for case in run_read.conversational_test_cases] == ["talk"]
    assert run_read.test_passed + run_read.test_failed == len(CASES)
    scores = {each.metric: each for each in run_read.metrics_scores}
    assert (scores["equals"].passes, scores["equals"].fails) == (4, 2)


def test_the_run_file_is_what_deepeval_itself_would_write(done: Done, apart: Path) -> None:
    path = apart / "again.json"
    with path.open("w", encoding="utf-8") as file:
        load(done.file).save(file)
    assert json.loads(path.read_text("utf-8")) == json.loads(done.file.read_text("utf-8"))


def test_our_reader_finds_the_very_rows_cases_and_outputs(done: Done) -> None:
    bundle, report = FORMAT.read(done.file, ReadOptions())
    assert sorted(map(repr, bundle.scores)) == sorted(map(repr, done.rows))
    assert set(bundle.cases) == set(done.job.cases)
    assert set(bundle.outputs) == set(done.job.outputs)
    assert report.notes == ()


def test_every_status_is_said_in_deepevals_own_fields(done: Done) -> None:
    cases = {case.name: case for case in load(done.file).test_cases}

    def data(case: str, metric: str) -> Any:
        return next(each for each in cases[case].metrics_data if each.name == metric)

    passed = data("right", "equals")
    assert (passed.score, passed.success, passed.threshold, passed.error) == (1.0, True, 1.0, None)
    failed = data("wrong", "equals")
    assert (failed.score, failed.success) == (0.0, False)
    skipped = data("open", "equals")
    assert (skipped.score, skipped.success, skipped.reason) == (None, None, "no reference answer")
    broken = data("broken", "fragile")
    assert (broken.score, broken.success, broken.error) == (None, False, "RuntimeError: no luck")
    assert data("exits", "fragile").error == "SystemExit: 3"
    assert data("exits", "equals").score == 1.0
    assert [each.name for each in cases["tool/1"].metrics_data][-1] == "own check"
    assert "own check" not in [each.name for each in cases["right"].metrics_data]


def test_nothing_of_one_case_is_left_for_the_next(apart: Path) -> None:
    """DeepEval keeps one metric object for all cases."""
    order = ["exits", "right", "open", "wrong", "failed", "right again", "tool/1"]
    cases = [*CASES, {**CASES[0], "id": "right again"}]
    outputs = [*OUTPUTS, {**OUTPUTS[0], "case_id": "right again"}]
    job = make_job(
        "deepeval",
        apart / "order",
        cases=cases,
        outputs=sorted(
            (each for each in outputs if each["case_id"] in order),
            key=lambda each: order.index(each["case_id"]),
        ),
    )
    assert comparable(FRAMEWORK.run(job)) == core_rows(job)


def test_rows_come_as_they_are_scored(apart: Path) -> None:
    many = [{**CASES[0], "id": f"c{index}"} for index in range(250)]
    outputs = [{**OUTPUTS[0], "case_id": case["id"]} for case in many]
    job = make_job("deepeval", apart / "stream", cases=many, outputs=outputs)
    rows = FRAMEWORK.run(job)
    assert [next(rows).case_id for _ in range(5)] == ["c0"] * 5
    rows.close()  # type: ignore[attr-defined]
    assert not list(job.spec.native_dir.glob("Small*"))


def test_epochs_and_systems_have_files_that_keep_them_apart(apart: Path) -> None:
    outputs = [
        {**OUTPUTS[0], "system": system, "epoch": epoch}
        for system in ("a", "b/b")
        for epoch in (1, 2)
    ]
    job = make_job("deepeval", apart / "systems", cases=CASES[:1], outputs=outputs, shard=3)
    assert comparable(FRAMEWORK.run(job)) == core_rows(job)
    files = sorted(job.spec.native_dir.glob("Small*.json"))
    assert [file.name for file in files] == ["Small_suite-3-a.json", "Small_suite-3-b_b.json"]
    bundle, _ = FORMAT.read(files[1], ReadOptions())
    assert {(each.system, each.epoch) for each in bundle.outputs} == {("b/b", 1), ("b/b", 2)}


def test_a_difference_sends_everything_the_public_way(
    apart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bridge_deepeval import route

    honest = route.Direct.score

    def flattering(self: Any, test_case: Any) -> Any:
        found = honest(self, test_case)
        return [each.model_copy(update={"score": 1.0}) for each in found]

    monkeypatch.setattr(route.Direct, "score", flattering)
    found = run(make_job("deepeval", apart / "different"))
    assert found.route["route"] == "evaluate"
    assert any(
        "wrong: equals is 1.0 and 0.0" in each for each in found.route["probe"]["differences"]
    )
    assert comparable(found.rows) == core_rows(found.job)
    bundles = [FORMAT.read(path, ReadOptions())[0] for path in run_files(found.job)]
    assert comparable(row for each in bundles for row in each.scores) == core_rows(found.job)


def run_files(job: Job) -> list[Path]:
    """What DeepEval's own ``evaluate`` left: a file for the cases, one for the conversations."""
    return sorted(job.spec.native_dir.glob("test_run_*.json"))


def test_a_moved_name_sends_everything_the_public_way(
    apart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    utils = importlib.import_module("deepeval.evaluate.utils")
    monkeypatch.delattr(utils, "create_metric_data")
    found = run(make_job("deepeval", apart / "moved", cases=CASES[:2], outputs=OUTPUTS[:2]))
    assert found.route["route"] == "evaluate"
    assert "create_metric_data" in found.route["probe"]["differences"][0]
    assert comparable(found.rows) == core_rows(found.job)


def test_a_run_file_that_deepeval_would_not_read_is_never_written(
    apart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deepeval.test_run import TestRun

    monkeypatch.setattr(TestRun, "model_dump_json", lambda *_, **__: '{"testCases": 7}')
    found = run(make_job("deepeval", apart / "layout", cases=CASES[:2], outputs=OUTPUTS[:2]))
    assert found.route["route"] == "evaluate"
    assert comparable(found.rows) == core_rows(found.job)


def test_a_case_that_cannot_be_translated_costs_its_own_rows_only(
    apart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bridge_deepeval import route
    from bridge_deepeval.cases import to_test_case

    def picky(case: Any, output: Any) -> Any:
        if case.id == "wrong":
            raise TypeError("no such thing")
        return to_test_case(case, output)

    monkeypatch.setattr(route, "to_test_case", picky)
    found = run(make_job("deepeval", apart / "picky"))
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
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InfrastructureError, match="No space left on device"):
        run(make_job("deepeval", apart / "full", cases=CASES[:1], outputs=OUTPUTS[:1]))


@pytest.fixture
def loop() -> Iterator[None]:
    """The event loop that DeepEval would otherwise make and never close."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield
    asyncio.set_event_loop(None)
    made.close()


@pytest.mark.usefixtures("loop")
def test_to_native_is_ready_for_evaluate(apart: Path) -> None:
    from deepeval.evaluate import (
        AsyncConfig,
        CacheConfig,
        DisplayConfig,
        ErrorConfig,
        evaluate,
    )

    job = make_job("deepeval", apart / "evaluate")
    suite = Suite.model_validate(
        {
            "name": "s",
            "golden_set": "c",
            "system": {"recorded": "o"},
            "checks": [check.model_dump() for check in job.spec.checks],
        }
    )
    native = FRAMEWORK.to_native(Bundle(suite=suite, cases=job.cases, outputs=job.outputs))
    results = {}
    for test_cases, metrics in (
        (native.test_cases, native.metrics),
        (native.conversations, native.conversational_metrics),
    ):
        found = evaluate(
            list(test_cases),
            list(metrics),
            async_config=AsyncConfig(run_async=True),  # which makes a new metric for every case
            cache_config=CacheConfig(write_cache=False),
            display_config=DisplayConfig(show_indicator=False, print_results=False),
            error_config=ErrorConfig(ignore_errors=True, skip_on_missing_params=True),
        )
        results.update({each.name: each for each in found.test_results})
    assert set(results) == {case["id"] for case in CASES}
    wanted = {key[1:] for key in core_rows(job)}
    for name, result in results.items():
        metrics_of = {metric for case_id, _, _, metric in wanted if case_id == name}
        assert {each.name for each in result.metrics_data or ()} == metrics_of
    right, wrong = results["right"].metrics_data, results["wrong"].metrics_data
    assert right is not None
    assert right[0].score == 1.0
    assert wrong is not None
    assert wrong[0].success is False


def test_to_native_needs_outputs() -> None:
    with pytest.raises(InputError, match="no output"):
        FRAMEWORK.to_native(Bundle())
