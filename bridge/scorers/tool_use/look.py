"""One look at the calls of an output, which all tool metrics of a suite share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from bridge.model.case import Case
from bridge.model.message import ToolCall
from bridge.model.output import Output, OutputTurn
from bridge.scorers.matching.identity import Itself
from bridge.scorers.tool_use.compare import compare_calls
from bridge.scorers.tool_use.comparison import Comparison
from bridge.scorers.tool_use.params import Scope, TrajectoryParams

KEPT = 8
"""Comparisons kept. The metrics of one output follow each other, so few are needed, and what is
kept keeps its calls alive."""


def look(case: Case, output: Output, params: TrajectoryParams) -> Comparison:
    """Compare the calls of an output with the expected ones, once for equal parameters."""
    calls = _calls(output, params.scope)
    return _look(
        Itself(case.expected_calls), Itself(calls), Itself(case.tools), Itself(params.match)
    )


def calls_of(output: Output, scope: Scope) -> tuple[ToolCall, ...]:
    """The calls of an answer, or of all turns of a conversation in order."""
    return _joined(_calls(output, scope))


def _calls(output: Output, scope: Scope) -> tuple[ToolCall, ...] | tuple[OutputTurn, ...]:
    """What holds the calls, as the very object of the output."""
    return output.turns if scope == "conversation" and output.turns else output.tool_calls


def _joined(calls: Sequence[ToolCall | OutputTurn]) -> tuple[ToolCall, ...]:
    if calls and isinstance(calls[0], OutputTurn):
        turns = [each for each in calls if isinstance(each, OutputTurn)]
        return tuple(call for turn in turns for call in turn.tool_calls)
    return tuple(each for each in calls if isinstance(each, ToolCall))


@lru_cache(maxsize=KEPT)
def _look(expected: Itself, calls: Itself, tools: Itself, match: Itself) -> Comparison:
    return compare_calls(expected.value, _joined(calls.value), tools.value, match.value)
