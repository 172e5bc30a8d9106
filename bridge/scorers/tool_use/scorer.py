"""The scorer: 1.0 if an agent made the calls it should, as it should, else 0.0."""

from __future__ import annotations

from typing import Any

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement, error_measurement
from bridge.scorers.registry import Scorer, binary, skip
from bridge.scorers.tool_use.compare import compare_calls
from bridge.scorers.tool_use.comparison import Comparison, Mismatch
from bridge.scorers.tool_use.params import ToolUseParams
from bridge.scorers.tool_use.wording import evidence, mismatch_text, one_line

MAX_LISTED = 50
"""Most mismatches and pairs listed in the details; the counts are always complete."""

MODES = {
    "strict": "in strict order",
    "in_order": "in order",
    "any_order": "in any order",
    "subset": "and no other",
    "superset": "in any order",
    "partial": "in the order that after asks for",
}


def tool_use(case: Case, output: Output, params: ToolUseParams) -> list[Measurement]:
    """Score the calls of an output, binary by policy.

    1.0 where the calls satisfy the order mode, every argument and every tool's contract; else 0.0.
    Skipped without expected calls; an error where the case itself is broken.
    """
    if case.expected_calls is None:
        return [skip("no expected calls")]
    found = compare_calls(case.expected_calls, output.tool_calls, case.tools, params)
    if found.undecided is not None:
        return [error_measurement(one_line(found.undecided), details=details(found))]
    return [binary(found.passed, reason(found), details=details(found))]


def reason(found: Comparison) -> str:
    """The verdict in one sentence; of several faults the first, and how many more."""
    faults = found.faults
    if len(faults) > 0:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        return one_line(mismatch_text(faults[0]) + more)
    if not found.expected:
        return "no call was wanted and none was made"
    calls = f"{found.matched} of {found.expected} expected calls made"
    others = found.actual - found.matched
    extra = f", and {others} other{'s'[: others - 1]}" if others else ""
    return f"{calls} {MODES[found.mode]}{extra}"


def details(found: Comparison) -> dict[str, Any]:
    """The comparison as JSON."""
    faults = found.faults
    return {
        "mode": found.mode,
        "counts": found.counts,
        "precision": found.precision,
        "recall": found.recall,
        "f1": found.f1,
        "matching": [[pair.expected, pair.actual] for pair in found.pairs[:MAX_LISTED]],
        "mismatches": [_listed(each) for each in faults[:MAX_LISTED]],
        "tool_errors": list(found.tool_errors[:MAX_LISTED]),
    }


def _listed(each: Mismatch) -> dict[str, Any]:
    return {
        "axis": each.axis,
        "tool": evidence(each.tool),
        "call": each.call,
        "path": evidence(each.path),
        "expected": evidence(each.expected),
        "actual": evidence(each.actual),
    }


TOOL_USE = Scorer(
    name="tool_use",
    version="1",
    score=tool_use,
    params=ToolUseParams,
    threshold=1.0,
    per_turn=True,
    summary="The agent made the expected tool calls, with the right arguments and in order.",
)
