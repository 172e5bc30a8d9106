"""Records the run files beside this file: ``python record.py``, with deepeval installed.

Small runs of made-up test cases with metrics that are not ours, by DeepEval's own ``evaluate`` and
without any model. Only durations differ on each recording.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_DISABLE_DOTENV": "1"}
os.environ["DEEPEVAL_CACHE_FOLDER"] = tempfile.mkdtemp()

from deepeval.evaluate import (  # noqa: E402
    AsyncConfig,
    CacheConfig,
    DisplayConfig,
    ErrorConfig,
    evaluate,
)
from deepeval.metrics import (  # noqa: E402
    BaseConversationalMetric,
    BaseMetric,
    ExactMatchMetric,
    PatternMatchMetric,
)
from deepeval.test_case import (  # noqa: E402
    ConversationalTestCase,
    LLMTestCase,
    RetrievedContextData,
    ToolCall,
    Turn,
)


class Points:
    """Gives what the test case's metadata says under the metric's name."""

    threshold: float | None
    score: float | None
    reason: str | None
    evaluation_model: str | None
    evaluation_cost: float | None

    def __init__(self, name: str, threshold: float | None = 0.5) -> None:
        self.name = name
        self.threshold = threshold

    @property
    def __name__(self) -> str:
        return self.name

    def measure(self, test_case: Any, *_: Any, **__: Any) -> Any:
        value = test_case.metadata[self.name]
        self.score = self.reason = None
        if isinstance(value, str):
            raise RuntimeError(value)
        self.score = value
        self.reason = f"{self.name} is {value}"
        self.evaluation_model, self.evaluation_cost = "judge-1", 0.001
        return self.score

    async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> Any:
        return self.measure(test_case)


class SinglePoints(Points, BaseMetric):  # type: ignore[no-untyped-call]
    """For test cases."""


class TalkPoints(Points, BaseConversationalMetric):  # type: ignore[no-untyped-call]
    """For conversations."""


CASES = [
    LLMTestCase(
        name="capital",
        input="What is the capital of Norway?",
        actual_output="Oslo",
        expected_output="Oslo",
        context=["Oslo is the capital."],
        retrieval_context=[
            RetrievedContextData(context="Oslo is the capital.", source="atlas"),
            "Bergen is not.",
        ],
        tools_called=[ToolCall(name="look_up", input_parameters={"q": "Norway"}, output=[1])],
        expected_tools=[ToolCall(name="look_up", input_parameters=None)],
        token_cost=0.01,
        input_token_count=12,
        output_token_count=3,
        completion_time=0.75,
        tags=["geo"],
        metadata={"id": 17, "Right": 1.0, "Style": 0.25, "Rank": 7.5},
    ),
    LLMTestCase(
        input="What is the capital of Peru?",
        actual_output="Cusco",
        metadata={"Right": 0.0, "Style": 0.75, "Rank": 2.0},
    ),
    LLMTestCase(
        name="twin",
        input="one",
        actual_output="1",
        metadata={"Right": "the judge timed out", "Style": 0.5, "Rank": 10.0},
    ),
    LLMTestCase(
        name="twin",
        input="two",
        actual_output="2",
        metadata={"Right": 1.0, "Style": float("nan"), "Rank": 0.0},
    ),
]
TALK = ConversationalTestCase(
    name="talk",
    scenario="A customer asks twice.",
    expected_outcome="Both answered.",
    turns=[
        Turn(role="user", content="one?"),
        Turn(
            role="assistant",
            content="1",
            retrieval_context=["1 is one"],
            tools_called=[ToolCall(name="count", input_parameters={"to": 1})],
        ),
        Turn(role="user", content="two?"),
        Turn(role="assistant", content="2"),
    ],
    metadata={"Helpful": 0.75},
)

OWN = [
    LLMTestCase(name=name, input="Name it.", actual_output=says, expected_output=wanted)
    for name, says, wanted in (
        ("same", "Oslo", "Oslo"),
        ("blank", " Oslo ", "Oslo"),
        ("case", "oslo", "Oslo"),
        ("other", "Oslo.", "Oslo"),
    )
]
"""Answers on which DeepEval's own metrics come to different verdicts."""


def record(name: str, test_cases: list[Any], metrics: list[Any], latest: bool = False) -> None:
    """Evaluate and keep the run file as ``name``."""
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.redirect_stdout(io.StringIO()):
            evaluate(
                test_cases,
                metrics,
                async_config=AsyncConfig(run_async=False),
                cache_config=CacheConfig(write_cache=latest),
                error_config=ErrorConfig(ignore_errors=True),
                display_config=DisplayConfig(
                    show_indicator=False, print_results=False, results_folder=folder
                ),
            )
        (file,) = Path(folder).glob("test_run_*.json")
        if latest:
            file = Path(os.environ["DEEPEVAL_CACHE_FOLDER"]) / ".latest_test_run.json"
        shutil.copy(file, HERE / name)


def main() -> None:
    metrics = [SinglePoints("Right", 1.0), SinglePoints("Style", None), SinglePoints("Rank", 5.0)]
    record("run.json", CASES, metrics)
    record("latest_test_run.json", CASES[:1], metrics[:1], latest=True)
    record("conversation.json", [TALK], [TalkPoints("Helpful")])
    record("own_metrics.json", OWN, [ExactMatchMetric(), PatternMatchMetric(r"\w+")])


if __name__ == "__main__":
    main()
