"""The records of a DeepEval run file, as far as they are read; everything else is skipped.

They have the attributes of DeepEval's own objects, so that one reader serves both.
"""

from __future__ import annotations

from typing import Any

import msgspec

VERSION = "deepeval"
"""The hyperparameter that holds the framework's version, for which a run file has no field."""


class ToolCall(msgspec.Struct, rename="camel"):
    """A tool call, made or expected."""

    name: str
    input_parameters: dict[str, Any] | None = None
    output: Any = None


class MetricData(msgspec.Struct, rename="camel"):
    """What one metric said of one test case; early versions call its name ``metric``."""

    name: str = ""
    threshold: float | None = None
    success: bool | None = None
    score: Any = None
    reason: Any = None
    evaluation_model: str | None = None
    error: Any = None
    evaluation_cost: float | None = None
    verbose_logs: str | None = None
    metric: str = ""
    minimum_score: float | None = None

    def __post_init__(self) -> None:
        self.name = self.name or self.metric
        if self.threshold is None:
            self.threshold = self.minimum_score


class TestCase(msgspec.Struct, rename="camel"):
    """A test case with its results."""

    __test__ = False  # no test class for pytest

    name: str = ""
    input: Any = ""
    actual_output: Any = None
    expected_output: Any = None
    context: list[str] | None = None
    retrieval_context: list[str] | None = None
    tools_called: list[ToolCall] | None = None
    expected_tools: list[ToolCall] | None = None
    token_cost: float | None = None
    input_token_count: int | None = None
    output_token_count: int | None = None
    completion_time: float | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    additional_metadata: dict[str, Any] | None = None
    metrics_data: list[MetricData] | None = None
    metrics_metadata: list[MetricData] | None = None
    success: bool | None = None
    order: int | None = None

    def __post_init__(self) -> None:
        _unite(self)


class Turn(msgspec.Struct, rename="camel"):
    """A turn of a conversation; early versions have question and answer in one."""

    role: str = ""
    content: str = ""
    order: int = 0
    retrieval_context: list[str] | None = None
    tools_called: list[ToolCall] | None = None
    latency_ms: float | None = None
    input: str | None = None
    actual_output: str | None = None


class Conversation(msgspec.Struct, rename="camel"):
    """A conversational test case with its results."""

    name: str = ""
    turns: list[Turn] = msgspec.field(default_factory=list)
    messages: list[Turn] | None = None
    test_cases: list[Turn] | None = None
    scenario: str | None = None
    expected_outcome: str | None = None
    context: list[str] | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    additional_metadata: dict[str, Any] | None = None
    metrics_data: list[MetricData] | None = None
    metrics_metadata: list[MetricData] | None = None
    success: bool | None = None
    order: int | None = None

    def __post_init__(self) -> None:
        _unite(self)
        self.turns = [
            part
            for turn in self.turns or self.messages or self.test_cases or ()
            for part in _apart(turn)
        ]


def _unite(case: TestCase | Conversation) -> None:
    """Put what early versions have under other names in its place."""
    if case.metadata is None:
        case.metadata = case.additional_metadata
    if case.metrics_data is None:
        case.metrics_data = case.metrics_metadata


def _apart(turn: Turn) -> list[Turn]:
    """A turn of an early version as the two messages it holds."""
    if turn.role or turn.input is None:
        return [turn]
    answer = msgspec.structs.replace(turn, role="assistant", content=turn.actual_output or "")
    return [Turn(role="user", content=turn.input), answer]


class MetricsOnly(msgspec.Struct, rename="camel"):
    """A test case of either kind, for its metrics alone."""

    metrics_data: list[MetricData] | None = None
    metrics_metadata: list[MetricData] | None = None


class MetricScores(msgspec.Struct):
    """What the head counts of one metric."""

    metric: str = ""
    passes: int | None = None
    fails: int | None = None
    errors: int | None = None


class Run(msgspec.Struct, rename="camel"):
    """A run without its test cases."""

    hyperparameters: Any = None
    test_passed: int | None = None
    test_failed: int | None = None
    metrics_scores: list[MetricScores] | None = None


class File(Run, rename="camel"):
    """A run file without its test cases: the run itself, under a key, or a link to one."""

    test_run_data: Run | None = None
    test_run_link: str | None = None


class CachedCase(msgspec.Struct):
    """The key of a cached test case, which is a JSON document itself."""

    input: Any = ""
    actual_output: Any = None
    expected_output: Any = None
    context: list[str] | None = None
    retrieval_context: list[str] | None = None


class CachedMetric(msgspec.Struct):
    """A cached result, by its new name or its old one."""

    metric_data: MetricData | None = None
    metric_metadata: MetricData | None = None


class Cached(msgspec.Struct):
    """The results of a cached test case."""

    cached_metrics_data: list[CachedMetric] = []

    @property
    def metrics_data(self) -> list[MetricData]:
        """The results."""
        both = ((each.metric_data, each.metric_metadata) for each in self.cached_metrics_data)
        return [found for pair in both for found in pair if found is not None]
