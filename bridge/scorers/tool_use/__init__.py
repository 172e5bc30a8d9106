"""The tool metrics, and the comparison of calls under them."""

from bridge.scorers.tool_use.compare import compare_calls
from bridge.scorers.tool_use.comparison import AXES, Axis, Comparison, Made, Mismatch, Pair
from bridge.scorers.tool_use.metrics import (
    TOOL_ARGUMENTS,
    TOOL_F1,
    TOOL_ORDER,
    TOOL_PRECISION,
    TOOL_RECALL,
    TOOL_SCHEMA,
)
from bridge.scorers.tool_use.params import MatchParams, ToolUseParams
from bridge.scorers.tool_use.scorer import TOOL_USE, tool_use

__all__ = [
    "AXES",
    "TOOL_ARGUMENTS",
    "TOOL_F1",
    "TOOL_ORDER",
    "TOOL_PRECISION",
    "TOOL_RECALL",
    "TOOL_SCHEMA",
    "TOOL_USE",
    "Axis",
    "Comparison",
    "Made",
    "MatchParams",
    "Mismatch",
    "Pair",
    "ToolUseParams",
    "compare_calls",
    "tool_use",
]
