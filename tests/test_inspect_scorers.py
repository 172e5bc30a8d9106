"""The shared scorers inside Inspect: by name, from the command line, on anyone's samples."""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from bridge.execution.worker import set_environment
from bridge.model import Bundle, Check, InputError, Job, JobSpec, Measurement, Score
from bridge.model.score import STATUSES, VALUED
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import get_framework
from bridge.plugin.scoring.shared import SharedMetric
from bridge.scorers.registry import BUILT_IN
from bridge_inspect.format import FORMAT
from bridge_inspect.info import INFO
from bridge_inspect.rows import read_score

pytest.importorskip("inspect_ai")

KEY = {"framework": "inspect", "system": "s", "case_id": "c", "epoch": 1}


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


def score(scorer: Any, state: Any) -> Any:
    from inspect_ai.scorer import Target

    return asyncio.run(scorer(state, Target(list(state.target))))


def ordinary_state(text: str, target: str = "42") -> Any:
    """The state of someone else's eval, which carries nothing of ours."""
    from inspect_ai.model import ChatMessageUser, ModelName, ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    output = ModelOutput.from_content("m", text)
    return TaskState(
        model=ModelName("none/none"),
        sample_id=1,
        epoch=1,
        input="q",
        messages=[ChatMessageUser(content="q"), output.message],
        target=Target(target),
        output=output,
    )


@pytest.mark.parametrize("name", list(BUILT_IN))
def test_every_scorer_is_registered_under_the_package(name: str) -> None:
    from inspect_ai.util import registry_info

    from bridge_inspect.scorers import SCORERS

    assert registry_info(SCORERS[name]).name == f"bridge_inspect/{name}"


@pytest.mark.parametrize(
    ("name", "params", "text", "value"),
    [
        ("equals", {}, "42", 1.0),
        ("equals", {}, "41", 0.0),
        ("contains", {"value": "4", "negate": True, "metric": "free"}, "42", 0.0),
        ("regex", {"pattern": "^4", "metric": "starts"}, "42", 1.0),
        ("is_json", {}, "{", 0.0),
        ("tool_use", {}, "42", None),
        ("injection", {"expect": "benign"}, "42", 1.0),
    ],
)
def test_scorers_work_on_an_ordinary_state(
    name: str, params: dict[str, Any], text: str, value: float | None
) -> None:
    from bridge_inspect.scorers import SCORERS

    found = score(SCORERS[name](**params), ordinary_state(text))
    assert (None if math.isnan(found.value) else found.value) == value
    assert found.answer == text
    assert found.explanation
    (row,) = read_score(str(params.get("metric", name)), found, KEY)
    assert row.value == value


def test_wrong_parameters_are_refused_when_the_scorer_is_made() -> None:
    from bridge_inspect.scorers import SCORERS

    with pytest.raises(InputError, match="vale: unknown key"):
        SCORERS["equals"](vale="x")


def test_a_state_that_cannot_be_read_is_an_error_not_a_crash() -> None:
    from bridge_inspect.scorers import SCORERS

    state = ordinary_state("42")
    state.metadata = {"bridge": {"case": {"turns": 7}}}
    found = score(SCORERS["equals"](), state)
    assert math.isnan(found.value)
    assert found.reason == "scoring_failed"
    assert "the native case cannot be read" in found.explanation


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_survives_the_native_score(status: Any) -> None:
    from bridge_inspect.scorers import to_score

    value = 0.25 if status in VALUED else None
    error = "why" if status == "error" else None
    found = Measurement(
        metric="m", value=value, status=status, reason="so", error=error, details={"a": [None]}
    )
    check = Check.model_validate({"equals": {"metric": "m", "weight": 3, "threshold": 0.5}})
    native = to_score(((check, found),), "answer")
    (row,) = read_score("m", native, KEY)
    expected = {**KEY, "scorer": "equals", "scorer_version": "1", "threshold": 0.5, "weight": 3}
    assert row == Score.model_validate({**expected, **found.model_dump()})


def test_a_metric_that_a_case_has_not_gives_no_score() -> None:
    from bridge_inspect.scorers import to_scorer

    assert score(to_scorer(SharedMetric("own", "regex")), ordinary_state("42")) is None


TASK = """
from pathlib import Path
from inspect_ai import task
from bridge.model import Bundle
from bridge_inspect import FRAMEWORK

@task
def recorded():
    return FRAMEWORK.to_native(Bundle.model_validate_json(Path("bundle.json").read_bytes()))
"""
BUNDLE = Bundle.model_validate(
    {
        "suite": {
            "name": "by hand",
            "golden_set": "c",
            "system": {"recorded": "o"},
            "checks": ["equals", {"tool_use": {"metric": "calls/all"}}],
        },
        "cases": [
            {
                "id": "one",
                "input": "q",
                "expected": "a",
                "expected_calls": {"calls": [{"name": "f"}]},
            },
            {
                "id": "talk",
                "input": "twice",
                "expected": "",
                "turns": [{"user": "1?", "expected": "1"}, {"user": "2?", "expected": "2"}],
            },
        ],
        "outputs": [
            {
                "case_id": "one",
                "text": "a",
                "tool_calls": [{"name": "f", "result": "r"}],
            },
            {"case_id": "one", "epoch": 2, "text": "b"},
            {"case_id": "talk", "turns": [{"text": "1"}, {"text": "no"}]},
        ],
    }
)


@pytest.fixture(scope="module")
def evaluated(apart: Path) -> Path:
    """The log of ``inspect eval`` over a task made by ``to_native``."""
    folder = apart / "eval"
    folder.mkdir()
    (folder / "task.py").write_text(TASK)
    (folder / "bundle.json").write_text(BUNDLE.model_dump_json(exclude_defaults=True))
    inspect(folder, "eval", "task.py", "--log-dir", "logs", "--display", "none")
    (log,) = (folder / "logs").glob("*.eval")
    return log


def inspect(folder: Path, *arguments: str) -> str:
    """The ``inspect`` command."""
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "adapters")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_inspect_eval_runs_the_task_as_it_is(evaluated: Path) -> None:
    """Replayed and scored by Inspect alone, the rows are those of core."""
    assert BUNDLE.suite is not None
    spec = JobSpec(
        framework="core", suite="s", checks=BUNDLE.suite.checks, native_dir=evaluated.parent
    )
    core = get_framework("core").run(Job(spec=spec, cases=BUNDLE.cases, outputs=BUNDLE.outputs))
    bundle, report = FORMAT.read(evaluated, ReadOptions())
    assert report.notes == ()
    rows = {(row.case_id, row.epoch, row.turn, row.metric): row for row in bundle.scores}
    for row in core:
        found = rows[row.case_id, row.epoch, row.turn, row.metric]
        assert (found.value, found.status, found.reason) == (row.value, row.status, row.reason)
    missing = rows["talk", 2, 0, "equals"]
    assert missing.error == "the system failed: no output is recorded for epoch 2"


def test_a_log_is_scored_again_by_name(evaluated: Path) -> None:
    inspect(
        evaluated.parent,
        "score", evaluated.name, "--scorer", "bridge_inspect/contains", "-S", "value=a",
        "--action", "append", "--output-file", "again.eval", "--model", "none/none",
    )  # fmt: skip
    dumped = json.loads(inspect(evaluated.parent, "log", "dump", "again.eval"))
    values = {(s["id"], s["epoch"]): s["scores"]["contains"]["value"] for s in dumped["samples"]}
    assert (values["one", 1], values["one", 2]) == (1.0, 0.0)
    assert set(dumped["samples"][0]["scores"]) == {"equals", "calls/all", "contains"}
