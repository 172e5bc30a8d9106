"""Asking a Python system: every way it can answer, and every way it can fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge, write_jsonl, write_suite

from bridge.execution.answers import read_answer
from bridge.execution.asking import ask
from bridge.execution.systems.python import PythonFunction
from bridge.model import Case, InputError, Output, SystemConfig

BOT = """
import asyncio, os, signal, sys, time
def text(question): return "a" + question[1:]
async def slow(question):
    await asyncio.sleep(0.01)
    return {"text": "a" + question[1:], "model": "m", "tool_calls": [{"name": "f", "args": {"x": 1}}]}
def breaks(question):
    if question == "q1": raise ValueError("no\\nidea")
    if question == "q2": sys.exit(1)
    if question == "q3": time.sleep(30)
    return "a" + question[1:]
async def exits(question):
    if question == "q1": sys.exit("bye")
    return "a" + question[1:]
def dies(question):
    if question == "q2":
        time.sleep(1.2); os.kill(os.getpid(), signal.SIGKILL)
    return "a" + question[1:]
"""


def outputs_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "outputs.jsonl").read_text("utf-8").splitlines()]


def suite_with(folder: Path, function: str, **options: Any) -> Path:
    return write_suite(folder, {"system": {"python": f"bot:{function}", **options}}, bot=BOT)


@pytest.mark.parametrize("function", ["text", "slow"])
def test_sync_and_async_systems_are_asked(bridge: Bridge, tmp_path: Path, function: str) -> None:
    done = bridge("run", suite_with(tmp_path, function, concurrency=3), "--run-dir", tmp_path / "R")
    assert done.returncode == 0, done.stderr
    outputs = outputs_of(tmp_path / "R")
    assert [(each["case_id"], each["text"]) for each in outputs] == [
        (f"c{i}", f"a{i}") for i in range(4)
    ]
    assert all(each["latency_s"] > 0 for each in outputs)
    if function == "slow":
        assert outputs[0]["tool_calls"][0]["arguments"] == {"x": 1}


def test_failures_of_a_system_are_outputs_with_an_error(bridge: Bridge, tmp_path: Path) -> None:
    suite = suite_with(tmp_path, "breaks", timeout_s=0.5)
    done = bridge("run", suite, "--run-dir", tmp_path / "R", "--gate")
    assert done.returncode == 3
    errors = [each["error"] for each in outputs_of(tmp_path / "R")]
    assert errors == [None, "ValueError: no idea", "SystemExit: 1", "no answer within 0.5 s"]
    assert "3 rows could not be scored" in done.stdout


def test_an_async_system_that_exits_costs_one_answer(bridge: Bridge, tmp_path: Path) -> None:
    suite = suite_with(tmp_path, "exits", concurrency=2)
    bridge("run", suite, "--run-dir", tmp_path / "R")
    errors = [each["error"] for each in outputs_of(tmp_path / "R")]
    assert errors == [None, "SystemExit: bye", None, None]


def test_a_system_that_dies_keeps_its_answers(bridge: Bridge, tmp_path: Path) -> None:
    suite = suite_with(tmp_path, "dies")
    done = bridge("run", suite, "--run-dir", tmp_path / "R")
    assert done.returncode == 3
    outputs = outputs_of(tmp_path / "R")
    assert [each["error"] is None for each in outputs] == [True, True, False, False]
    assert "was killed by SIGKILL" in outputs[2]["error"]
    text = (tmp_path / "bot.py").read_text("utf-8").replace('if question == "q2"', "if False")
    (tmp_path / "bot.py").write_text(text, "utf-8")
    done = bridge("run", suite, "--run-dir", tmp_path / "R", "--resume")
    assert done.returncode == 0, done.stdout
    assert asked(tmp_path / "R") == ["c2", "c3"]


def asked(run: Path) -> list[str]:
    lines = (run / "jobs" / "system" / "questions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["case"]["id"] for line in lines]


def test_resume_keeps_no_answer_to_another_question(bridge: Bridge, tmp_path: Path) -> None:
    suite, run = suite_with(tmp_path, "text"), tmp_path / "R"
    assert bridge("run", suite, "--run-dir", run).returncode == 0
    cases = tmp_path / "cases.jsonl"
    cases.write_text(cases.read_text("utf-8").replace('"q1"', '"q9"'), "utf-8")
    done = bridge("run", suite, "--run-dir", run, "--resume", "--gate")
    assert asked(run) == ["c1"]
    assert [each["text"] for each in outputs_of(run)] == ["a0", "a9", "a2", "a3"]
    assert done.returncode == 1


def test_resume_keeps_no_answer_of_another_system(bridge: Bridge, tmp_path: Path) -> None:
    suite, run = suite_with(tmp_path, "text"), tmp_path / "R"
    assert bridge("run", suite, "--run-dir", run).returncode == 0
    suite_with(tmp_path, "nothing")
    assert bridge("run", suite, "--run-dir", run, "--resume").returncode == 2
    suite_with(tmp_path, "breaks", timeout_s=0.5)  # what the first one said is gone by now
    done = bridge("run", suite, "--run-dir", run, "--resume", "--gate")
    assert done.returncode == 3
    assert asked(run) == ["c0", "c1", "c2", "c3"]


@pytest.mark.parametrize(
    ("function", "said"),
    [("nothing", "cannot be imported"), ("sys", "is not callable")],
)
def test_a_system_that_is_not_there_is_exit_2(
    bridge: Bridge, tmp_path: Path, function: str, said: str
) -> None:
    done = bridge("run", suite_with(tmp_path, function), "--run-dir", tmp_path / "R")
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_epochs_ask_as_often(bridge: Bridge, tmp_path: Path) -> None:
    suite = suite_with(tmp_path, "text")
    done = bridge("run", suite, "--run-dir", tmp_path / "R", "--epochs", 2, "--limit", 2)
    assert done.returncode == 0
    keys = [(each["case_id"], each["epoch"]) for each in outputs_of(tmp_path / "R")]
    assert keys == [("c0", 1), ("c0", 2), ("c1", 1), ("c1", 2)]


async def _ask(system: Any, **case: Any) -> Output:
    whole = Case.model_validate({"id": "c", "input": "hello", "expected": "", **case})
    config = SystemConfig(python="bot:answer", name="bot", timeout_s=5.0)
    return await ask(PythonFunction(system), whole, 1, config)


def test_a_conversation_is_sent_turn_by_turn_with_its_history() -> None:
    import asyncio

    seen: list[Any] = []

    def bot(messages: Any, case: Any) -> dict[str, Any]:
        seen.append(messages)
        call = {"name": "f", "arguments": {}, "id": "1", "result": {"n": 1}}
        usage = {"input_tokens": 2, "output_tokens": None}
        return {"text": "", "tool_calls": [call], "usage": usage, "cost_usd": 0.5, "model": "m"}

    turns = [{"user": "one"}, {"user": "two"}]
    output = asyncio.run(_ask(bot, turns=turns))
    assert [m["role"] for m in seen[1]] == ["user", "assistant", "tool", "user"]
    assert seen[1][1]["content"] == ""
    assert seen[1][2] == {
        "role": "tool",
        "content": '{"n": 1}',
        "tool_call_id": "1",
        "name": "f",
    }
    assert (output.cost_usd, output.model) == (1.0, "m")
    assert output.usage is not None
    assert (output.usage.input_tokens, output.usage.output_tokens) == (4, None)
    assert len(output.tool_calls) == 2


def test_a_conversation_stops_at_the_turn_that_fails() -> None:
    import asyncio

    def bot(messages: Any) -> str:
        if len(messages) > 1:
            raise RuntimeError("lost")
        return "fine"

    output = asyncio.run(_ask(bot, turns=[{"user": "1"}, {"user": "2"}, {"user": "3"}]))
    assert output.turns is not None
    assert [turn.error for turn in output.turns] == [None, "RuntimeError: lost"]
    assert "was not answered" in (output.at_turn(2).error or "")


def test_an_answer_with_unknown_keys_is_an_error_that_names_them() -> None:
    with pytest.raises(InputError, match="unknown keys: answer"):
        read_answer({"answer": "hello"})


def test_recorded_outputs_that_are_missing_are_errors(bridge: Bridge, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    rows = [{"case_id": "c0", "text": "a0"}, {"case_id": "stranger", "text": ""}]
    write_jsonl(tmp_path / "v1.outputs.jsonl", rows)
    done = bridge("run", suite, "--run-dir", tmp_path / "R")
    assert done.returncode == 3
    assert "1 recorded outputs fit no case" in done.stdout
    errors = [each["error"] for each in outputs_of(tmp_path / "R")]
    assert errors == [None] + ["no output was recorded for it"] * 3


def start(folder: Path, suite: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bridge", "run", str(suite), "--run-dir", str(folder / "R")]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


SLOW = """
import time
from bridge.plugin.core import CoreFramework
from bridge.plugin.framework import FrameworkInfo
class Slow(CoreFramework):
    info = FrameworkInfo(name="slow:it", title="slow")
    def run(self, job):
        for score in super().run(job):
            yield score
            time.sleep(1.2)
it = Slow()
"""


def wait_for(path: Path) -> None:
    for _ in range(300):
        if path.is_file() and path.stat().st_size:
            return
        time.sleep(0.1)
    raise AssertionError(f"{path} was never written")


def test_ctrl_c_keeps_what_was_scored(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"frameworks": ["slow:it"]}, slow=SLOW)
    run = start(tmp_path, suite)
    wait_for(tmp_path / "R" / "jobs" / "slow_it-000" / "scores.jsonl")
    run.send_signal(signal.SIGINT)
    _, stderr = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "go on with --resume" in stderr
    assert "Traceback" not in stderr
    lines = (tmp_path / "R" / "scores" / "slow_it.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 4
    assert rows[0]["status"] == "passed"
    assert rows[3]["error"] == "slow:it: interrupted"
    record = json.loads((tmp_path / "R" / "run.json").read_text("utf-8"))
    assert record["status"] == "interrupted"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_answers_of_a_broken_off_collection_are_not_asked_for_again(
    bridge: Bridge, tmp_path: Path, how: signal.Signals
) -> None:
    suite = suite_with(tmp_path, "dies")
    bot = tmp_path / "bot.py"
    bot.write_text(
        BOT.replace("time.sleep(1.2); os.kill(os.getpid(), signal.SIGKILL)", "time.sleep(60)")
    )
    run = start(tmp_path, suite)
    wait_for(tmp_path / "R" / "jobs" / "system" / "outputs.jsonl")
    run.send_signal(how)
    run.communicate(timeout=60)
    bot.write_text(BOT.replace('if question == "q2"', "if False"))
    done = bridge("run", suite, "--run-dir", tmp_path / "R", "--resume")
    assert done.returncode == 0, done.stdout + done.stderr
    questions = (tmp_path / "R" / "jobs" / "system" / "questions.jsonl").read_text("utf-8")
    asked = [json.loads(line)["case"]["id"] for line in questions.splitlines()]
    assert "c0" not in asked
    assert asked[-2:] == ["c2", "c3"]
    assert [each["text"] for each in outputs_of(tmp_path / "R")] == ["a0", "a1", "a2", "a3"]


def test_no_worker_outlives_a_killed_driver(tmp_path: Path) -> None:
    text = SLOW
    marker = tmp_path / "worker.pid"
    text = text.replace(
        "def run(self, job):",
        f"def run(self, job):\n        import os; open({str(marker)!r}, 'w').write(str(os.getpid()))",
    )
    suite = write_suite(tmp_path, {"frameworks": ["slow:it"]}, slow=text)
    run = start(tmp_path, suite)
    wait_for(marker)
    worker = int(marker.read_text())
    run.kill()
    run.communicate(timeout=60)
    for _ in range(100):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            break
        if Path(f"/proc/{worker}/stat").read_text().split()[2] == "Z":
            break
        time.sleep(0.1)
    else:
        os.kill(worker, signal.SIGKILL)
        pytest.fail("the worker outlived its driver")
    record = json.loads((tmp_path / "R" / "run.json").read_text("utf-8"))
    assert record["status"] == "running"
    gate = subprocess.run(
        [sys.executable, "-m", "bridge", "gate", str(tmp_path / "R")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert gate.returncode in (2, 3)


TALKER = """
import pathlib
def answer(messages):
    if len(messages) == 3 and not pathlib.Path("up").exists(): raise ValueError("down")
    return "fine"
"""


def test_a_conversation_that_broke_is_counted_and_asked_again(
    bridge: Bridge, tmp_path: Path
) -> None:
    """Its error stands at the turn that failed, not at the output."""
    suite = write_suite(tmp_path, {"system": {"python": "talk:answer"}}, talk=TALKER)
    turns = [{"user": "one", "expected": "fine"}, {"user": "two", "expected": "fine"}]
    rows = [{"id": id_, "input": "", "expected": "", "turns": turns} for id_ in ("a", "b")]
    write_jsonl(tmp_path / "cases.jsonl", rows)
    done = bridge("run", suite, "--run-dir", tmp_path / "R")
    assert done.returncode == 3
    assert "note: 2 of 2 answers failed" in done.stdout
    assert (
        "error: 2 rows: the system failed: ValueError: down (first: core, case 'a')" in done.stdout
    )
    (tmp_path / "up").touch()
    done = bridge("run", suite, "--run-dir", tmp_path / "R", "--resume")
    assert done.returncode == 0, done.stdout
    assert asked(tmp_path / "R") == ["a", "b"]
    assert "answers failed" not in done.stdout


def test_an_answer_of_the_wrong_shape_is_told_what_it_may_have(
    bridge: Bridge, tmp_path: Path
) -> None:
    text = "def answer(question): return {'txt': 1}\n"
    suite = write_suite(tmp_path, {"system": {"python": "bot:answer"}}, bot=text)
    bridge("run", suite, "--run-dir", tmp_path / "R")
    assert outputs_of(tmp_path / "R")[0]["error"].startswith(
        "the answer has unknown keys: txt; return a text or a mapping with text, messages, turns, "
    )


def test_a_system_that_is_not_there_is_placed(bridge: Bridge, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"system": {"python": "gone:answer"}})
    done = bridge("run", suite, "--run-dir", tmp_path / "R")
    assert done.returncode == 2
    assert done.stderr.startswith(f"bridge: {suite}: system 'gone:answer' cannot be imported (Mod")
