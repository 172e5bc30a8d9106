"""Written datasets in the real Inspect: loaded by its own loader, run by ``inspect eval``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from dataset_bundles import a_case

from bridge.model import Bundle, Output, Suite
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge.scorers.evaluate import checks_with_turns, evaluate
from bridge_inspect.dataset import DATASET
from bridge_inspect.format import FORMAT

pytest.importorskip("inspect_ai")

SUITE = Suite.model_validate(
    {
        "name": "All kinds!",
        "golden_set": "c.jsonl",
        "system": {"recorded": "o.jsonl"},
        "checks": ["equals", {"contains": {"value": 'it\'s "so"\n{{x}}', "metric": "so"}}],
    }
)
CASES = (
    a_case(id="right/1", input="Who?", expected=["Ada", "Lovelace"], choices=["Ada", "Bob"]),
    a_case(id="2", input={"a": 1}, expected={"b": None}, metadata={"k": [1, None]}),
    a_case(id="unanswered", input="", expected="y"),
    a_case(
        id="calls",
        input=[
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "tool_calls": [{"name": "f", "arguments": {"x": None}, "id": "1"}]},
            {"role": "tool", "content": "r", "tool_call_id": "1", "name": "f"},
        ],
        expected="",
        checks=["tool_use", {"latency": {"max": 1}}],
        expected_calls={"calls": [{"name": "f", "arguments": {"n": {"$approx": 1.5, "abs": 0.1}}}]},
    ),
    a_case(id="talk", input="", expected="", turns=[{"user": "a", "expected": "A", "checks": ["equals"]}, {"user": "b"}]),
)  # fmt: skip
OUTPUTS = tuple(
    Output.model_validate({"system": system, "epoch": epoch, **fields})
    for system in ("default", "other")
    for epoch in (1, 2)
    for fields in (
        {"case_id": "right/1", "text": "Lovelace" if epoch == 1 else "no"},
        {"case_id": "2", "text": {"b": None} if system == "other" else "no"},
        {
            "case_id": "calls",
            "text": "done",
            "latency_s": 0.5,
            "tool_calls": [{"name": "f", "arguments": {"n": 1.45}, "result": {"ok": True}}],
        },
        {"case_id": "talk", "turns": [{"text": "A"}, {"text": "B"}]},
    )
)
BUNDLE = Bundle(suite=SUITE, cases=CASES, outputs=OUTPUTS)

LOAD = """
import json, sys
from inspect_ai.dataset import json_dataset
samples = json_dataset(sys.argv[1])
print(json.dumps([[each.id, each.text if hasattr(each, "text") else str(each.input)[:9], each.target, each.choices] for each in samples]))
"""  # fmt: skip


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A command in a folder, as a person has it."""
    environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder / ".data")}
    environment.pop("INSPECT_EVAL_MODEL", None)
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def inspect_eval(folder: Path, task: str, *more: str) -> Bundle:
    """The log of ``inspect eval``, as our reader of logs reads it."""
    for log in (folder / "logs").glob("*.eval"):
        log.unlink()
    command = "from inspect_ai._cli.main import main; main()"
    done = run(folder, "-c", command, "eval", task, "--display", "plain", *more)
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = (folder / "logs").glob("*.eval")
    return FORMAT.read(log, ReadOptions())[0]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inspect")
    DATASET.write(BUNDLE, folder / "samples.jsonl", WriteOptions())
    return folder


def test_inspects_own_loader_takes_the_file(written: Path) -> None:
    done = run(written, "-c", LOAD, "samples.jsonl")
    assert done.returncode == 0, done.stderr
    assert [row[0] for row in json.loads(done.stdout)] == [case.id for case in CASES]
    assert json.loads(done.stdout)[0] == ["right/1", "Who?", ["Ada", "Lovelace"], ["Ada", "Bob"]]


@pytest.mark.parametrize("system", ["default", "other"])
def test_inspect_eval_says_what_our_checks_say(written: Path, system: str) -> None:
    log = inspect_eval(written, "samples_task.py", "-T", f"system={system}")
    by_key = {output.key: output for output in OUTPUTS}
    wanted = {}
    for case in CASES:
        for epoch in (1, 2):
            output = by_key.get((system, case.id, epoch))
            for check, turn in checks_with_turns(SUITE.checks, case):
                key = (case.id, epoch, check.metric, turn)
                found = None if output is None else evaluate(check, case, output, turn)
                wanted[key] = ("error", None) if found is None else (found.status, found.value)
    scores = {
        (row.case_id, row.epoch, row.metric, row.turn): (row.status, row.value)
        for row in log.scores
    }
    assert len(log.scores) == len(scores)
    assert scores == wanted


def test_without_outputs_a_model_is_asked(tmp_path: Path) -> None:
    cases = tuple(a_case(id=f"c{i}", input=f"q{i}", expected="Default output from mockllm/model", checks=["equals"]) for i in range(2))  # fmt: skip
    DATASET.write(Bundle(cases=cases), tmp_path / "samples.json", WriteOptions())
    assert "generate()" in (tmp_path / "samples_task.py").read_text()
    compile((tmp_path / "samples_task.py").read_text(), "task", "exec")
