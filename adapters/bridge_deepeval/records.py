"""The records of a DeepEval run file, as far as they are read; everything else is skipped.

They have the attributes of DeepEval's own objects, so that one reader serves both.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from bridge.plugin.imported import null_numbers

LINK = "testRunLink"
"""The only key of a file that points to a run kept elsewhere."""

VERSION = "deepeval"
"""The hyperparameter that holds the framework's version, for which a run file has no field."""


class ToolCall(msgspec.Struct, rename="camel"):
    """A tool call, made or expected."""

    name: str
    input_parameters: dict[str, Any] | None = None
    output: Any = None


class MetricData(msgspec.Struct, rename="camel"):
    """What one metric said of one test case."""

    name: str
    threshold: float | None = None
    success: bool | None = None
    score: float | None = None
    reason: str | None = None
    evaluation_model: str | None = None
    error: str | None = None
    evaluation_cost: float | None = None
    verbose_logs: str | None = None


class TestCase(msgspec.Struct, rename="camel"):
    """A test case with its results."""

    __test__ = False  # no test class for pytest

    name: str = ""
    input: str = ""
    actual_output: str | None = None
    expected_output: str | None = None
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
    metrics_data: list[MetricData] | None = None
    order: int | None = None


class Turn(msgspec.Struct, rename="camel"):
    """A turn of a conversation."""

    role: str
    content: str = ""
    order: int = 0
    retrieval_context: list[str] | None = None
    tools_called: list[ToolCall] | None = None
    latency_ms: float | None = None


class Conversation(msgspec.Struct, rename="camel"):
    """A conversational test case with its results."""

    name: str = ""
    turns: list[Turn] = msgspec.field(default_factory=list)
    scenario: str | None = None
    expected_outcome: str | None = None
    context: list[str] | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    metrics_data: list[MetricData] | None = None
    order: int | None = None


class Run(msgspec.Struct, rename="camel"):
    """A run."""

    test_cases: list[TestCase] | None = None
    conversational_test_cases: list[Conversation] | None = None
    hyperparameters: dict[str, Any] | None = None
    test_passed: int | None = None
    test_failed: int | None = None
    nulled: int = 0
    """Numbers that are none (NaN, infinities), read as null."""


class File(Run, rename="camel"):
    """A run file: the run itself, a run under a key, or a link to one."""

    test_run_data: Run | None = None
    test_run_link: str | None = None


_DECODER = msgspec.json.Decoder(File)


def decode(content: bytes) -> Run:
    """A run file as a record.

    Raises:
        ValueError: If it is no JSON, holds no run, or only a link to one.
        RecursionError: If it is nested too deeply.
    """
    nulled = 0
    try:
        file = _DECODER.decode(content)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:  # DeepEval writes NaN, which is no JSON
        data = json.loads(content)
        nulled = null_numbers(data)
        file = msgspec.convert(data, File)
    run = file if file.test_run_data is None else file.test_run_data
    if run.test_cases is None and run.conversational_test_cases is None:
        linked = file.test_run_link is not None
        raise ValueError(
            "it only links to a run kept elsewhere" if linked else "it holds no test cases"
        )
    run.nulled = nulled
    return run
