"""Where Inspect's own defaults turn a failure green, and what keeps ours from it.

Each test first shows the framework going wrong, then the guard.
"""

from __future__ import annotations

import gc
import json
import math
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from adapter_jobs import make_job
from conftest import Bridge, write_jsonl, write_suite
from native_gate import gate

from bridge.execution.worker import set_environment
from bridge.files.golden import read_golden_set
from bridge.model import Bundle, InputError, Score, Suite
from bridge.plugin.format import ReadOptions
from bridge_inspect.format import FORMAT
from bridge_inspect.framework import FRAMEWORK
from bridge_inspect.info import INFO

pytest.importorskip("inspect_ai")

RAISES = "raises"
"""In place of a value: the scorer raises."""


@pytest.fixture(autouse=True)
def apart(tmp_path: Path) -> Iterator[None]:
    """Inspect's switches as in a worker, and a HOME of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path))
        for name, _ in INFO.environment:
            patch.delenv(name, raising=False)
        set_environment(INFO, tmp_path)
        patch.setenv("INSPECT_LOG_LEVEL", "critical")
        yield


# --- Inspect as its users have it -------------------------------------------------------------


def own_scorer(name: str, values: dict[str, Any], *, metrics: Any = None) -> Any:
    """A scorer as Inspect's users write one: a value for each sample, 1.0 where none is given."""
    from inspect_ai.scorer import Score as Native
    from inspect_ai.scorer import accuracy, scorer

    @scorer(metrics=metrics or [accuracy()], name=name)
    def own() -> Any:
        async def score(state: Any, target: Any) -> Any:
            value = values.get(state.sample_id, 1.0)
            if value is RAISES:
                raise ValueError("boom")
            return None if value is None else Native(value=value)

        return score

    return own()


def evaluate(
    folder: Path, samples: Sequence[str], *scorers: Any, broken: str = "", **options: Any
) -> tuple[Any, Path]:
    """Inspect's own ``eval``: the log as it returns it, and its file."""
    from inspect_ai.dataset import MemoryDataset, Sample

    return evaluate_dataset(
        folder,
        MemoryDataset([Sample(id=name, input="q", target="a") for name in samples]),
        *scorers,
        broken=broken,
        **options,
    )


def evaluate_dataset(
    folder: Path, dataset: Any, *scorers: Any, broken: str = "", **options: Any
) -> tuple[Any, Path]:
    import inspect_ai
    from inspect_ai import Task
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    @solver
    def answer() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            if state.sample_id == broken:
                raise RuntimeError("the model is not there")
            state.output = ModelOutput.from_content("mock/one", "a")
            return state

        return solve

    task = Task(dataset, solver=answer(), scorer=list(scorers))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Inspect leaves streams open
        (log,) = inspect_ai.eval(
            task, model=None, display="none", log_dir=str(folder / "logs"),
            score_display=False, ctl_server=False, **options,
        )  # fmt: skip
        gc.collect()
    return log, Path(log.location)


def headline(log: Any) -> dict[str, float]:
    """What the head of a log says of each score, by its first metric."""
    return {each.name: next(iter(each.metrics.values())).value for each in log.results.scores}


def rows_of(log: Path) -> list[tuple[str, str, str, float | None]]:
    bundle, _ = FORMAT.read(log, ReadOptions())
    return [(row.case_id, row.metric, row.status, row.value) for row in bundle.scores]


# --- the shared checks through our run --------------------------------------------------------


def run(folder: Path, *checks: Any, **output: Any) -> list[Score]:
    """The rows of an answer."""
    case = {"id": "a", "input": "q", "expected": "a"}
    job = make_job(
        "inspect", folder, cases=[case], outputs=[{"case_id": "a", **output}], checks=checks
    )
    return list(FRAMEWORK.run(job))


# --- never a false green ----------------------------------------------------------------------


def test_samples_that_failed_leave_the_denominator(tmp_path: Path) -> None:
    letter = own_scorer("letter", dict.fromkeys("ac", "C"))
    log, file = evaluate(tmp_path, "abc", letter, broken="b", fail_on_error=False)
    assert (log.status, headline(log)) == ("success", {"letter": 1.0})  # Inspect: two of three

    assert ("b", "letter", "error", None) in rows_of(file)
    found = gate(file, "abc", letter=0.5)
    assert found.code == 3
    assert "inspect/letter of case 'b': the sample failed: RuntimeError" in found.reasons
    rows = run(tmp_path, "equals", error="HTTP 500")
    assert [(row.status, row.error) for row in rows] == [("error", "the system failed: HTTP 500")]


def test_a_scorer_that_crashes_takes_the_later_ones_with_it(tmp_path: Path) -> None:
    scorers = [
        own_scorer("first", {}),
        own_scorer("second", {"b": RAISES}),
        own_scorer("third", {}),
    ]
    log, file = evaluate(tmp_path, "ab", *scorers, fail_on_error=False)
    assert log.status == "success"  # Inspect
    assert headline(log) == {"first": 1.0, "second": 1.0, "third": 1.0}

    assert [row for row in rows_of(file) if row[0] == "b"] == [
        ("b", "first", "scored", 1.0),
        ("b", "second", "error", None),
        ("b", "third", "error", None),
    ]
    assert gate(file, "ab", first=0.5).code == 3
    rows = run(tmp_path, {"latency": {"max": 1}}, "equals", text="a")
    assert [row.status for row in rows] == ["error", "passed"]


def test_a_word_that_is_no_score_counts_as_zero(tmp_path: Path) -> None:
    word = own_scorer("word", {"a": "correct", "b": "correct"})
    log, file = evaluate(tmp_path, "ab", word)
    assert (log.status, headline(log)) == ("success", {"word": 0.0})  # Inspect

    assert [row[2:] for row in rows_of(file)] == [("error", None)] * 2
    found = gate(file, "ab", word=0.0)
    assert found.code == 3
    assert "'correct' is no score" in found.reasons


def test_nan_leaves_the_mean(tmp_path: Path) -> None:
    log, file = evaluate(tmp_path, "ab", own_scorer("m", {"b": math.nan}))
    assert (log.status, headline(log)) == ("success", {"m": 1.0})  # Inspect

    assert rows_of(file) == [("a", "m", "scored", 1.0), ("b", "m", "error", None)]
    assert gate(file, "ab", m=0.5).code == 3


def test_nan_and_null_in_a_score_of_several_parts(tmp_path: Path) -> None:
    from inspect_ai.scorer import mean

    parts = {"a": {"x": 1.0, "y": 1.0, "z": 1.0}, "b": {"x": 1.0, "y": math.nan, "z": None}}
    several = own_scorer("m", parts, metrics={"*": [mean()]})
    log, file = evaluate(tmp_path, "ab", several)
    assert headline(log) == {"x": 1.0, "y": 1.0, "z": 0.5}  # Inspect: one ignored, one is a zero

    assert [row for row in rows_of(file) if row[0] == "b"] == [
        ("b", "m.x", "scored", 1.0),
        ("b", "m.y", "error", None),
        ("b", "m.z", "error", None),
    ]
    assert gate(file, "ab", **{"m.x": 0.5}).code == 3


def test_parts_under_a_plain_metric_are_zero(tmp_path: Path) -> None:
    log, file = evaluate(tmp_path, "a", own_scorer("m", {"a": {"x": 1.0, "y": 0.5}}))
    assert (log.status, headline(log)) == ("success", {"m": 0.0})  # Inspect

    assert rows_of(file) == [("a", "m.x", "scored", 1.0), ("a", "m.y", "scored", 0.5)]


def test_parts_that_the_first_sample_lacks_are_forgotten(tmp_path: Path) -> None:
    from inspect_ai.scorer import mean

    parts = {"a": {"x": 1.0}, "b": {"x": 1.0, "y": 0.0}}
    log, file = evaluate(tmp_path, "ab", own_scorer("m", parts, metrics={"*": [mean()]}))
    assert headline(log) == {"x": 1.0}  # Inspect

    assert ("b", "m.y", "scored", 0.0) in rows_of(file)
    assert "m.y: 1 of 2 cases carry no such score" in gate(file, "ab", **{"m.x": 0.5}).notes


def test_a_sample_without_a_score_leaves_the_mean(tmp_path: Path) -> None:
    log, file = evaluate(tmp_path, "ab", own_scorer("m", {"b": None}))
    assert (log.status, headline(log)) == ("success", {"m": 1.0})  # Inspect

    assert rows_of(file) == [("a", "m", "scored", 1.0), ("b", "m", "error", None)]
    assert gate(file, "ab", m=0.5).code == 3


def test_a_value_out_of_its_range_counts_as_it_is(tmp_path: Path) -> None:
    log, file = evaluate(tmp_path, "a", own_scorer("m", {"a": 7.0}))
    assert (log.status, headline(log)) == ("success", {"m": 7.0})  # Inspect

    assert rows_of(file) == [("a", "m", "error", None)]
    assert "declare the scale of m" in gate(file, "a", m=0.5).reasons


TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import solver

@solver
def down():
    async def solve(state, generate):
        raise RuntimeError("the model is not there")
    return solve

@task
def broken():
    return Task([Sample(id="a", input="q", target="a")], solver=down(), scorer=includes())
"""


def test_the_command_ends_well_on_a_run_that_failed(tmp_path: Path, bridge: Bridge) -> None:
    (tmp_path / "task.py").write_text(TASK)
    command = ["eval", "task.py", "--model", "none", "--display", "none", "--log-dir", "logs"]
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", *command],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    (file,) = (tmp_path / "logs").glob("*.eval")
    assert done.returncode == 0  # Inspect

    gated = bridge("gate", file)
    assert gated.returncode == 3
    assert "the run's status is error" in gated.stdout
    assert "inspect/includes of case 'a': the sample failed: RuntimeError" in gated.stdout


INTERRUPTED = """
import asyncio, os, signal
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import includes
from inspect_ai.solver import solver

@solver
def answer():
    async def solve(state, generate):
        if state.sample_id == "b":
            while not any("samples/a" in open(each.path, "rb").read().decode("latin-1")
                          for each in os.scandir("logs")):
                await asyncio.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
        state.output = ModelOutput.from_content("mock/one", "a")
        return state
    return solve

samples = [Sample(id=name, input="q", target="a") for name in "abc"]
eval(Task(MemoryDataset(samples), solver=answer(), scorer=includes()), model=None,
     display="none", log_dir="logs", max_samples=1, log_buffer=1)
"""


def test_samples_that_an_interrupted_run_never_got(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=240,
    )
    (file,) = (tmp_path / "logs").glob("*.eval")
    samples = read_eval_log(str(file)).samples or []
    assert [(each.id, each.scores) and each.id for each in samples] == ["a"]  # Inspect: all is well

    assert rows_of(file) == [
        ("a", "includes", "scored", 1.0),
        ("b", "includes", "error", None),
        ("c", "includes", "error", None),
    ]
    found = gate(file, "abc", includes=0.5)
    assert found.code == 3
    assert "2 rows could not be scored" in found.reasons
    assert "the log does not hold this sample" in found.reasons


def test_a_head_that_differs_from_its_rows(tmp_path: Path) -> None:
    from inspect_ai.log import edit_score, read_eval_log, write_eval_log
    from inspect_ai.scorer import ScoreEdit

    log, _ = evaluate(tmp_path, "ab", own_scorer("letter", dict.fromkeys("ab", "C")))
    edit_score(log, "b", "letter", ScoreEdit(value="I"), recompute_metrics=False)
    file = tmp_path / "edited.eval"
    write_eval_log(log, str(file))
    assert headline(read_eval_log(str(file), header_only=True)) == {"letter": 1.0}  # Inspect

    found = gate(file, "ab", letter=0.75)
    assert found.code == 1
    assert "the head gives letter a accuracy of 1, the rows one of 0.5" in found.notes


def test_a_typo_in_a_field(tmp_path: Path) -> None:
    from inspect_ai.dataset import json_dataset
    from inspect_ai.scorer import includes

    line = {"id": "a", "input": "q", "targets": "never said"}
    path = write_jsonl(tmp_path / "samples.jsonl", [line])
    log, _ = evaluate_dataset(tmp_path, json_dataset(str(path)), includes())
    assert headline(log)["includes"] == 1.0  # Inspect: nothing is included in every answer

    with pytest.raises(InputError, match=r"samples\.jsonl:1: .*targets"):
        read_golden_set(write_jsonl(path, [{**line, "expected": ""}]))


def test_an_empty_list_of_cases(tmp_path: Path, bridge: Bridge) -> None:
    with pytest.raises(ValueError, match="empty"):
        evaluate(tmp_path, "", own_scorer("m", {}))  # Inspect itself refuses

    with pytest.raises(InputError, match="outputs of one system"):
        FRAMEWORK.to_native(Bundle())
    empty = tmp_path / "empty.json"
    empty.write_text(json.dumps({"version": 2, "status": "success", "eval": {"task": "t"}}))
    with pytest.raises(InputError, match="holds no row"):
        gate(empty)
    suite = write_suite(tmp_path, {"frameworks": ["inspect"]}, cases=0)
    assert bridge("run", suite, "--gate").returncode == 2


def test_two_scorers_of_one_name(tmp_path: Path) -> None:
    scorers = [own_scorer("same", {"a": 0.0}), own_scorer("same", {})]
    log, file = evaluate(tmp_path, "a", *scorers)
    assert headline(log) == {"same": 0.0, "same1": 1.0}  # Inspect: by their order

    assert {row[1]: row[3] for row in rows_of(file)} == {"same": 0.0, "same1": 1.0}
    with pytest.raises(ValueError, match="stands twice"):
        Suite.model_validate(
            {
                "name": "s",
                "golden_set": "c",
                "system": {"recorded": "o"},
                "checks": ["equals", {"contains": {"value": "a", "metric": "equals"}}],
            }
        )


def test_what_is_fine_stays_fine(tmp_path: Path) -> None:
    log, file = evaluate(tmp_path, "ab", own_scorer("letter", {"a": "C", "b": "P"}))
    found = gate(file, "ab", letter=0.75)
    assert headline(log) == {"letter": 0.75}
    assert (found.code, found.reasons) == (0, "")
    assert "rows" not in found.notes
