"""The tool use scorer, and the comparison of calls under it."""

from bridge.scorers.tool_use.compare import compare_calls
from bridge.scorers.tool_use.comparison import AXES, Axis, Comparison, Mismatch, Pair
from bridge.scorers.tool_use.params import ToolUseParams
from bridge.scorers.tool_use.scorer import TOOL_USE, tool_use

__all__ = [
    "AXES",
    "TOOL_USE",
    "Axis",
    "Comparison",
    "Mismatch",
    "Pair",
    "ToolUseParams",
    "compare_calls",
    "tool_use",
]
