"""Records the logs beside this file: ``python record.py``, with inspect-ai installed.

Small evals of made-up samples with scorers that are not ours, run by Inspect itself without a
model. Times and random ids differ on each recording; nothing else should.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval, eval_retry  # noqa: A004
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
)
from inspect_ai.scorer import (
    Score,
    accuracy,
    exact,
    f1,
    includes,
    match,
    mean,
    pattern,
    scorer,
)
from inspect_ai.scorer import answer as answer_after
from inspect_ai.solver import solver
from inspect_ai.tool import ToolCall

HERE = Path(__file__).parent
LONG = "A long text that Inspect keeps as an attachment. " * 20


@solver
def answer() -> Any:
    """Answers from the sample's metadata; calls a tool where it names one; fails where told."""

    async def solve(state: Any, generate: Any) -> Any:
        said = state.metadata
        if said.get("fail") and state.epoch >= said["fail"]:
            raise RuntimeError("the model is not there")
        if "call" in said:
            call = ToolCall(id="call_1", function=said["call"], arguments={"city": "Oslo"})
            state.messages.append(ChatMessageAssistant(content="", tool_calls=[call]))
            state.messages.append(ChatMessageTool(content="7 C", tool_call_id="call_1"))
        text = said["says"] if state.epoch == 1 else said.get("then", said["says"])
        state.output = ModelOutput.from_content("mock/one", text)
        state.messages.append(state.output.message)
        return state

    return solve


@scorer(metrics=[accuracy()])
def letter() -> Any:
    """Inspect's letters."""

    async def score(state: Any, target: Any) -> Score:
        known = {"exact": "C", "near": "P", "silent": "N"}
        value = known.get(state.metadata["grade"], "I")
        return Score(value=value, answer=state.output.completion, explanation="graded by hand")

    return score


@scorer(metrics=[mean()])
def number() -> Any:
    """A number from 0 to 10, sometimes NaN, once no score at all."""

    async def score(state: Any, target: Any) -> Score | None:
        value = state.metadata["points"]
        if value is None:
            return None
        if math.isnan(value):
            return Score.unscored(reason="grader_failed", explanation="the grader gave up")
        return Score(value=value)

    return score


@scorer(metrics=[mean()])
def kinds() -> Any:
    """One value of each kind."""

    async def score(state: Any, target: Any) -> Score:
        return Score(value=state.metadata["kind"])

    return score


@scorer(metrics={"*": [mean()]})
def parts() -> Any:
    """Several values at once."""

    async def score(state: Any, target: Any) -> Score:
        return Score(value={"style": 0.5, "facts": 1.0}, explanation="in parts")

    return score


def sample(name: int | str, grade: str, points: float | None, kind: Any, **more: Any) -> Sample:
    said = {"says": more.pop("says", "Oslo"), "grade": grade, "points": points, "kind": kind}
    extra: Mapping[str, Any] = more.pop("metadata", {})
    return Sample(
        id=name,
        input=more.pop("input", "What is the capital of Norway?"),
        target=more.pop("target", "Oslo"),
        metadata={**said, **extra},
        **more,
    )


CHAT = [
    ChatMessageSystem(content="Answer in one word."),
    ChatMessageUser(content="What is the capital of Norway?"),
]
SAMPLES = [
    sample("exact", "exact", 10, True),
    sample("near", "near", 5.5, "yes", input=CHAT, target=["Oslo", "Christiania"]),
    sample("far", "far", 0, "0.25", says=LONG, choices=["Oslo", "Bergen"]),
    sample("silent", "silent", math.nan, "banana", says=""),
    sample("tool", "exact", None, 1, metadata={"call": "get_weather"}),
]


def record(name: str, task: Task, **options: Any) -> None:
    """Run a task and keep its log as ``name``."""
    with tempfile.TemporaryDirectory() as folder:
        kind: Any = Path(name).suffix.lstrip(".")
        eval(
            task, model=None, display="none", log_dir=folder, log_format=kind,
            score_display=False, ctl_server=False, **options,
        )  # fmt: skip
        (log,) = Path(folder).glob(f"*.{kind}")
        write_eval_log(without_paths(read_eval_log(str(log))), str(HERE / name))


def without_paths(log: EvalLog) -> EvalLog:
    """A log without what names this machine."""
    log.eval.revision = None
    for error in [log.error, *(each.error for each in log.samples or [])]:
        if error is not None:
            error.traceback = error.traceback_ansi = "(left out)"
    for each in log.samples or []:
        each.events = []
        for retry in each.error_retries or []:
            retry.traceback = retry.traceback_ansi = "(left out)"
            retry.events = []
        if each.attachments and not any("attachment://" in m.text for m in each.messages):
            each.attachments = {}
    return log


OWN = [
    Sample(id=name, input="Name it.", target=target, metadata={"says": says}, choices=choices)
    for name, says, target, choices in (
        ("same", "Oslo", "Oslo", None),
        ("case", "the capital is OSLO.", "Oslo", None),
        ("begin", "Oslo is the capital", ["Christiania", "Oslo"], None),
        ("number", "It costs $1,234.50 in all, not 7", "1234.5", None),
        ("letter", "Some thought.\n\nANSWER: B", "B", None),
        ("word", "ANSWER: yes, of course", "yes", None),
        ("wrong", "Bergen", "Oslo", None),
        ("folded", "Straße", "STRASSE", None),
        ("words", "the cat sat on the red mat", "A cat, sat on a mat!", None),
    )
]
"""Answers on which Inspect's own scorers come to different verdicts."""
OWN_SCORERS = [
    match(), match("any"), match("begin", ignore_case=False), match(numeric=True), includes(),
    includes(ignore_case=False), exact(), f1(), f1(stop_words=["sat"]), pattern(r"is (\w+)"),
    pattern(r"(?<=is )\w+"), answer_after("letter"), answer_after("word"),
]  # fmt: skip
RETRIED = """
from pathlib import Path
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import solver

@solver
def answer():
    async def solve(state, generate):
        tried = Path(__file__).with_suffix(".tried")
        if state.sample_id == 2 and not tried.exists():
            tried.touch()
            raise RuntimeError("the model is not there")
        state.output = ModelOutput.from_content("mock/one", "Oslo")
        return state

    return solve

@task
def capitals():
    samples = [Sample(id=name, input="Capital?", target="Oslo") for name in (1, 2, 3)]
    return Task(samples, solver=answer(), scorer=match())
"""


def record_retry(name: str) -> None:
    """Run a task that fails, retry it, and keep both logs in a folder of that name."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("task.py").write_text(RETRIED)
        options: Any = {"display": "none", "log_dir": "logs", "score_display": False}
        (failed,) = eval("task.py", model=None, ctl_server=False, **options)
        time.sleep(1)  # logs tell their begin in seconds
        eval_retry(failed, **options)
        (HERE / name).mkdir(exist_ok=True)
        for path in sorted(Path("logs").iterdir()):
            log = without_paths(read_eval_log(str(path)))
            write_eval_log(log, str(HERE / name / f"{log.status}.eval"))


def main() -> None:
    record_retry("retried")
    scorers = [letter(), number(), kinds(), parts()]
    own = Task(MemoryDataset(OWN, name="own"), solver=answer(), scorer=OWN_SCORERS)
    record("own_scorers.json", own)
    task = Task(MemoryDataset(SAMPLES, name="capitals"), solver=answer(), scorer=scorers)
    record("foreign.eval", task)
    record("foreign.json", task)
    broken = [
        sample(1, "exact", 10, 1.0),
        sample(2, "exact", 10, 1.0, metadata={"fail": 1}),
        sample(3, "far", 0, 0.0),
    ]
    record(
        "failed_sample.eval",
        Task(MemoryDataset(broken, name="broken"), solver=answer(), scorer=[letter()]),
        fail_on_error=False,
    )
    record(
        "failed_run.eval",
        Task(MemoryDataset(broken, name="broken"), solver=answer(), scorer=[letter()]),
    )
    twice = [
        sample("a", "exact", 10, 1.0, metadata={"then": "Bergen"}),
        sample("b", "far", 0, 0.0, metadata={"fail": 2}),
    ]
    record(
        "epochs.eval",
        Task(MemoryDataset(twice, name="twice"), solver=answer(), scorer=[letter()], epochs=2),
        fail_on_error=False,
    )


if __name__ == "__main__":
    main()
