"""The scorer: 1.0 if an agent made the calls it should, as it should, else 0.0."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement, error_measurement
from bridge.model.values import FrozenDict, FrozenList
from bridge.scorers.registry import Scorer, binary, skip
from bridge.scorers.tool_use.comparison import MAX_LISTED, Comparison
from bridge.scorers.tool_use.look import calls_of, look
from bridge.scorers.tool_use.params import ToolUseParams, has_scope_of_turn
from bridge.scorers.tool_use.policy import policy_faults
from bridge.scorers.tool_use.shown import one_line
from bridge.scorers.tool_use.wording import mismatch_text

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

    1.0 where the calls satisfy the order mode, every argument and every tool's contract, and where
    none is forbidden or beyond a limit; else 0.0. Skipped without expected calls, unless a call is
    forbidden or a limit is set; an error where the case itself is broken.

    Kin: BFCL's AST match (``profile: bfcl`` gives its verdicts; it compares one answer's calls in
    any order with lists of accepted values, and knows no limits); agentevals' trajectory match
    (``strict``, ``unordered``, ``subset``, ``superset`` over the calls in all messages, matched
    greedily by Python's equality, in which true is 1, and held to no schema); DeepEval's
    ToolCorrectness with ``should_exact_match`` (names place by place, arguments only if asked).
    """
    if case.expected_calls is None and not params.has_policy:
        return [skip("no expected calls")]
    found = judged(look(case, output, params), output, params)
    failure = found.undecided or found.broken_schema
    if failure is not None:
        return [error_measurement(one_line(failure), details=details(found))]
    expects = case.expected_calls is not None
    text = reason(found, expects=expects)
    return [binary(found.passed, text, details=details(found, expects=expects))]


def judged(found: Comparison, output: Output, params: ToolUseParams) -> Comparison:
    """A comparison with the faults of the policy, and without those it does not ask about."""
    faults = [*policy_faults(calls_of(output, params.scope), params)] if params.has_policy else []
    if not params.schemas:
        kept = tuple(each for each in found.mismatches if each.axis != "schema")
        found = dataclasses.replace(found, mismatches=kept, broken_schema=None, _listed={})
    if not faults:
        return found
    return dataclasses.replace(found, mismatches=(*faults, *found.mismatches), _listed={})


def reason(found: Comparison, *, expects: bool = True) -> str:
    """The verdict in one sentence; of several faults the first, and how many more."""
    faults = found.faults
    if len(faults) > 0:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        return one_line(mismatch_text(faults[0]) + more)
    if not expects:
        return f"{found.actual} call{'s' * (found.actual != 1)} made, each of them allowed"
    if not found.expected:
        return "no call was wanted and none was made"
    calls = f"{found.matched} of {found.expected} expected calls made"
    others = found.actual - found.matched
    extra = f", and {others} other{'s' * (others != 1)}" if others else ""
    return f"{calls} {MODES[found.mode]}{extra}"


def details(found: Comparison, *, expects: bool = True) -> Mapping[str, Any]:
    """The comparison as JSON."""
    shown: dict[str, Any] = {
        "mode": found.mode,
        "counts": FrozenDict({str(axis): n for axis, n in found.counts.items()}),
        "mismatches": found.listed(),
        "tool_errors": FrozenList(found.tool_errors[:MAX_LISTED]),
    }
    if expects:
        shown["precision"] = found.precision
        shown["recall"] = found.recall
        shown["f1"] = found.f1
        pairs = found.pairs[:MAX_LISTED]
        shown["matching"] = FrozenList([FrozenList(pair[:2]) for pair in pairs])
    return FrozenDict(shown)


TOOL_USE = Scorer(
    name="tool_use",
    version="2",
    score=tool_use,
    params=ToolUseParams,
    threshold=1.0,
    per_turn=has_scope_of_turn,
    summary="The agent made the expected tool calls, with the right arguments and in order.",
    source=(
        "https://gorilla.cs.berkeley.edu/leaderboard.html",
        "https://github.com/langchain-ai/agentevals",
        "https://deepeval.com/docs/metrics-tool-correctness",
    ),
)
