"""Each framework's own way of the three checks of ``frameworks.py``, as its users write it.

A maker imports its framework and returns what runs one part (``warm_up`` or ``job``) of a folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[[str, int], None]
"""Scores a part of the folder, which holds so many cases."""


def make_inspect(folder: Path, *, lean: bool) -> Run:
    from inspect_ai import Task, eval  # noqa: A004
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput
    from inspect_ai.scorer import Score, mean, scorer
    from inspect_ai.solver import solver
    from inspect_ai.tool import ToolCall

    @solver
    def replay() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            call = state.metadata["call"]
            made = ToolCall(id="call-1", function=call["name"], arguments=call["arguments"])
            state.messages.append(ChatMessageAssistant(content="", tool_calls=[made]))
            state.messages.append(ChatMessageTool(content=call["result"], tool_call_id="call-1"))
            state.output = ModelOutput.from_content("recorded", state.metadata["text"])
            state.messages.append(state.output.message)
            return state

        return solve

    def check(name: str, passes: Callable[[Any, Any], bool]) -> Any:
        @scorer(metrics=[mean()], name=name)
        def factory() -> Any:
            async def score(state: Any, target: Any) -> Score:
                ok = passes(state, target)
                return Score(value=float(ok), explanation="as expected" if ok else "otherwise")

            return score

        return factory()

    def calls(state: Any) -> list[Any]:
        return [
            call for m in state.messages if m.role == "assistant" for call in m.tool_calls or []
        ]

    checks = [
        check("equals", lambda state, target: state.output.completion == target.text),
        check("contains", lambda state, _: "shipped" in state.output.completion),
        check(
            "tool_use",
            lambda state, _: (
                [(c.function, c.arguments) for c in calls(state)]
                == [(c["name"], c["arguments"]) for c in state.metadata["expected_calls"]]
            ),
        ),
    ]
    slim = {"log_realtime": False, "score_display": False, "ctl_server": False, "log_buffer": 1000}

    def run(part: str, count: int) -> None:
        samples = []
        for case, output in read_files(folder / part):
            samples.append(
                Sample(
                    id=case["id"],
                    input=case["input"],
                    target=case["expected"],
                    metadata={
                        "text": output["text"],
                        "call": output["tool_calls"][0],
                        "expected_calls": case["expected_calls"]["calls"],
                    },
                )
            )
        task = Task(dataset=MemoryDataset(samples), solver=replay(), scorer=checks)
        extra: dict[str, Any] = {**slim, "max_samples": 1000} if lean else {}
        (log,) = eval(task, model=None, display="none", log_dir=str(folder / "logs"), **extra)
        assert log.status == "success"
        assert log.results is not None
        assert log.results.completed_samples == count

    return run


def make_deepeval(folder: Path, *, quiet: bool) -> Run:
    import contextlib
    import io

    from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig, evaluate
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase, ToolCall

    class Check(BaseMetric):
        def __init__(self, name: str, passes: Any, threshold: float = 1.0) -> None:
            self.name, self.passes, self.threshold = name, passes, threshold

        def measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float:
            ok = self.passes(test_case)
            self.score, self.success = float(ok), ok
            self.reason = "as expected" if ok else "otherwise"
            return self.score

        async def a_measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float:
            return self.measure(test_case)

        def is_successful(self) -> bool:
            return bool(self.success)

        @property
        def __name__(self) -> str:
            return self.name

    settings: dict[str, Any] = {}
    if quiet:
        settings = {
            "async_config": AsyncConfig(run_async=False),
            "cache_config": CacheConfig(write_cache=False),
            "display_config": DisplayConfig(
                show_indicator=False, print_results=False, results_folder=str(folder / "results")
            ),
        }

    def tool(call: dict[str, Any]) -> ToolCall:
        return ToolCall(
            name=call["name"], input_parameters=call["arguments"], output=call.get("result")
        )

    def run(part: str, count: int) -> None:
        test_cases = [
            LLMTestCase(
                name=case["id"],
                input=case["input"],
                expected_output=case["expected"],
                actual_output=output["text"],
                tools_called=[tool(call) for call in output["tool_calls"]],
                expected_tools=[tool(call) for call in case["expected_calls"]["calls"]],
            )
            for case, output in read_files(folder / part)
        ]
        checks = [
            Check("equals", lambda tc: tc.actual_output == tc.expected_output),
            Check("contains", lambda tc: "shipped" in tc.actual_output),
            Check(
                "tool_use",
                lambda tc: (
                    [(c.name, c.input_parameters) for c in tc.tools_called]
                    == [(c.name, c.input_parameters) for c in tc.expected_tools]
                ),
            ),
        ]
        with contextlib.redirect_stdout(io.StringIO()):
            result = evaluate(test_cases, checks, **settings)
        assert len(result.test_results) == count

    return run


def make_ragas(folder: Path, *, shared: bool) -> Run:
    import warnings

    from ragas import evaluate
    from ragas.metrics.base import MultiTurnMetric

    from bridge.files.golden import read_golden_set
    from bridge.files.outputs import read_outputs
    from bridge.model import Bundle
    from bridge_ragas import to_dataset
    from bridge_ragas.scorers import SCORERS

    class Check(MultiTurnMetric):
        def __init__(self, name: str, passes: Any) -> None:
            super().__init__(name=name)
            self.passes = passes

        def init(self, run_config: Any) -> None:
            pass

        async def _multi_turn_ascore(self, sample: Any, callbacks: Any) -> float:
            del callbacks
            return float(self.passes(sample))

    def calls(sample: Any) -> list[Any]:
        return [call for m in sample.user_input if m.type == "ai" for call in m.tool_calls or []]

    checks: list[Any] = [
        Check("equals", lambda sample: sample.user_input[-1].content == sample.reference),
        Check("contains", lambda sample: "shipped" in sample.user_input[-1].content),
        Check("tool_use", lambda sample: calls(sample) == sample.reference_tool_calls),
    ]
    if shared:
        checks = [SCORERS["equals"](), SCORERS["contains"](value="shipped"), SCORERS["tool_use"]()]

    def run(part: str, count: int) -> None:
        cases = tuple(read_golden_set(folder / part / "cases.jsonl").cases)
        outputs = tuple(read_outputs(folder / part / "outputs.jsonl"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result: Any = evaluate(
                to_dataset(Bundle(cases=cases, outputs=outputs)), checks, show_progress=False
            )
        assert len(result.scores) == count
        result.to_pandas().to_csv(folder / f"{part}.csv", index=False)

    return run


ASSERTIONS = """
def equals(output, context):
    return output == context["test"]["metadata"]["expected"]

def contains(output, context):
    return "shipped" in output

def tool_use(output, context):
    known = context["test"]["metadata"]
    return [known["call"]["arguments"]] == [call["arguments"] for call in known["expected_calls"]]
"""


def make_promptfoo(folder: Path, *, files: bool) -> Run:
    """promptfoo by its own command, no launcher and no option of Node around it."""
    from bridge_promptfoo.install import home, node

    names = ("equals", "contains", "tool_use")
    entry = home() / "node_modules" / "promptfoo" / "dist" / "src" / "entrypoint.js"
    quiet = ["--no-cache", "--no-write", "--no-table", "--no-progress-bar"]
    env = {**os.environ, "PROMPTFOO_PYTHON": sys.executable}

    def to_test(case: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
        by_file = [
            {"type": "python", "value": f"file://assertions.py:{name}", "metric": name}
            for name in names
        ]
        built_in = [{"type": "equals", "value": case["expected"], "metric": name} for name in names]
        return {
            "description": case["id"],
            "providerOutput": output["text"],
            "metadata": {
                "expected": case["expected"],
                "call": output["tool_calls"][0],
                "expected_calls": case["expected_calls"]["calls"],
            },
            "assert": by_file if files else built_in,
        }

    def run(part: str, count: int) -> None:
        place = folder / part
        (place / "assertions.py").write_text(ASSERTIONS)
        config = {
            "prompts": ["recorded"],
            "providers": ["echo"],
            "tests": [to_test(case, output) for case, output in read_files(place)],
        }
        (place / "config.json").write_text(json.dumps(config))
        command = [node(), entry, "eval", "-c", "config.json", "-o", "results.json", *quiet]
        done = subprocess.run(command, cwd=place, env=env, capture_output=True, check=False)
        assert done.returncode == 100, done.stderr
        stats = json.loads((place / "results.json").read_text())["results"]["stats"]
        assert stats["successes"] + stats["failures"] == count

    return run


def read_files(folder: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    cases, outputs = (
        [json.loads(line) for line in (folder / name).read_text().splitlines()]
        for name in ("cases.jsonl", "outputs.jsonl")
    )
    return list(zip(cases, outputs, strict=True))
