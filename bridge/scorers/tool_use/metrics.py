"""Graded metrics of tool calls, read from the same comparison as the verdict."""

from __future__ import annotations

from typing import Any

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement, error_measurement
from bridge.model.values import FrozenDict
from bridge.scorers.registry import Scorer, skip
from bridge.scorers.tool_use.comparison import CONTRACT, Axis, Comparison
from bridge.scorers.tool_use.look import look
from bridge.scorers.tool_use.params import MatchParams, TrajectoryParams, has_scope_of_turn
from bridge.scorers.tool_use.shown import one_line
from bridge.scorers.tool_use.wording import mismatch_text

GRADED = 0.5
"""Threshold where a check says nothing."""

WRONG: frozenset[Axis] = frozenset(
    {
        "missing_argument",
        "extra_argument",
        "wrong_value",
        "wrong_type",
        "wrong_result",
        "malformed",
    }
)
"""Axes on which a call is not the expected one of its tool."""
NOT_MADE: frozenset[Axis] = frozenset({*WRONG, "missing"})
NOT_EXPECTED: frozenset[Axis] = frozenset({*WRONG, "extra"})
NOT_IN_ORDER: frozenset[Axis] = frozenset({"missing", "order"})


def tool_precision(case: Case, output: Output, params: MatchParams) -> list[Measurement]:
    """Share of the calls made that were expected, with exactly the right arguments.

    Every call made counts, repeated ones included, whatever the order mode allows; each expected
    call is matched at most once, by an optimal assignment. 1.0 where no call was expected and none
    was made, 0.0 where only one side is empty. Skipped without expected calls.

    Kin: the precision inside RAGAS's ToolCallF1, which is of sets (repeated calls count once, and
    1, 1.0 and true are the same) and gives 0.0 where both sides are empty; promptfoo's
    ``tool-call-f1`` compares sets of names.
    """
    found = _compared(case, output, params)
    if isinstance(found, Measurement):
        return [found]
    text = f"{_of(found.matched, found.actual)} were expected"
    return [_graded(found.precision, text, found, NOT_EXPECTED)]


def tool_recall(case: Case, output: Output, params: MatchParams) -> list[Measurement]:
    """Share of the expected calls that were made, with exactly the right arguments.

    Empty sides as in ``tool_precision``. Skipped without expected calls.

    Kin: DeepEval's ToolCorrectness in its default setting, which compares names only, cannot tell
    two equal calls apart and does not mind extra calls either; with its ``INPUT_PARAMETERS`` a
    call counts by the share of its arguments, as in ``tool_arguments``.
    """
    found = _compared(case, output, params)
    if isinstance(found, Measurement):
        return [found]
    text = f"{_of(found.matched, found.expected, 'expected call')} were made"
    return [_graded(found.recall, text, found, NOT_MADE)]


def tool_f1(case: Case, output: Output, params: MatchParams) -> list[Measurement]:
    """Harmonic mean of ``tool_precision`` and ``tool_recall``.

    Kin: RAGAS's ToolCallF1 and promptfoo's ``tool-call-f1``, which differ as said there; RAGAS
    also rounds to four digits.
    """
    found = _compared(case, output, params)
    if isinstance(found, Measurement):
        return [found]
    text = f"{found.matched} matched of {found.expected} expected and {found.actual} made"
    return [_graded(found.f1, text, found, NOT_MADE | NOT_EXPECTED)]


def tool_arguments(case: Case, output: Output, params: MatchParams) -> list[Measurement]:
    """Agreement of the arguments of the expected calls, averaged over the expected calls.

    For an expected call the share of the arguments of either side that agree, in the assignment of
    calls of the same tool that is best for all; 0.0 if its tool was not called for it. Extra calls
    do not count. Empty sides as in ``tool_precision``. Skipped without expected calls.

    Kin: RAGAS's ToolCallAccuracy, which compares ``str()`` of the reference's arguments only (extra
    ones are free, "1" is 1), pairs calls by position and gives 0.0 where the sequence of names
    differs; DeepEval's ToolCorrectness with ``INPUT_PARAMETERS``, which gives each expected call in
    turn its best match and so depends on their order.
    """
    found = _compared(case, output, params)
    if isinstance(found, Measurement):
        return [found]
    called = _of(len(found.pairs), found.expected, "expected call")
    text = f"arguments agree to {found.arguments:.3g}, tools of {called} called"
    return [_graded(found.arguments, text, found, NOT_MADE)]


def tool_order(case: Case, output: Output, params: MatchParams) -> list[Measurement]:
    """Share of the expected calls whose tool was called, and in the order asked for.

    ``strict`` and ``in_order``: the longest run of calls in the expected order, others between
    them or not; ``partial``: calls that come after all that their ``after`` names. Arguments serve
    to pair the calls and do not count otherwise. Empty sides as in ``tool_precision``. Skipped
    without expected calls, and under a mode that has no order: set ``mode: in_order`` to ask for
    one.

    Kin: DeepEval's ToolCorrectness with ``should_consider_ordering`` (a longest common subsequence,
    weighted by the arguments if asked); RAGAS's ToolCallAccuracy is 0.0 at the first difference.
    """
    found = _compared(case, output, params)
    if isinstance(found, Measurement):
        return [found]
    if found.order is None:
        return [skip(f"mode {found.mode} asks for no order")]
    text = f"{_of(found.kept or 0, found.expected, 'expected call')} were made in order"
    return [_graded(found.order, text, found, NOT_IN_ORDER)]


def tool_schema(case: Case, output: Output, params: TrajectoryParams) -> list[Measurement]:
    """Share of the calls made that a tool on offer can carry out.

    Such a call names a tool that is offered (or expected), and its arguments are a JSON object that
    meets the tool's JSON Schema (2020-12: types at any depth, bounds, patterns, required and
    additional properties). What was expected does not matter. Skipped where no tools are on offer
    or no call was made.

    Kin: the type errors of BFCL's AST checker (required, unknown, types one level deep);
    promptfoo's ``is-valid-openai-tools-call``, which is all or nothing.
    """
    if not case.tools:
        return [skip("no tools on offer")]
    found = look(case, output, params)
    if found.broken_schema is not None:
        return [error_measurement(one_line(found.broken_schema))]
    if not found.actual:
        return [skip("no call was made")]
    good = found.actual - found.broken
    text = f"{_of(good, found.actual)} keep to their tools' contracts"
    return [_graded(good / found.actual, text, found, CONTRACT)]


def _compared(case: Case, output: Output, params: MatchParams) -> Comparison | Measurement:
    """The comparison, or why there is none."""
    if case.expected_calls is None:
        return skip("no expected calls")
    found = look(case, output, params)
    if found.undecided is not None:
        return error_measurement(one_line(found.undecided))
    return found


def _graded(value: float, text: str, found: Comparison, axes: frozenset[Axis]) -> Measurement:
    """A measurement with what lowered it: mismatches on some axes."""
    counts = {"expected": found.expected, "actual": found.actual, "matched": found.matched}
    first = next((each for each in found.mismatches if each.axis in axes), None)
    if value == 1.0 or first is None:
        return Measurement(value=value, reason=text, details=FrozenDict(counts))
    details = FrozenDict({**counts, "mismatches": found.listed(axes)})
    reason = one_line(f"{text}: {mismatch_text(first)}")
    return Measurement(value=value, reason=reason, details=details)


def _of(part: int, total: int, what: str = "call made") -> str:
    """``2 of 3 calls made``."""
    noun, _, rest = what.partition(" ") if what.startswith("call ") else (what, "", "")
    return " ".join(filter(None, [f"{part} of {total} {noun}{'s' * (total != 1)}", rest]))


RAGAS = "https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/agents/"
DEEPEVAL = "https://deepeval.com/docs/metrics-tool-correctness"


def _scorer(name: str, score: Any, summary: str, params: type[Any] = MatchParams) -> Scorer:
    return Scorer(
        name=name,
        version="1",
        score=score,
        params=params,
        threshold=GRADED,
        per_turn=has_scope_of_turn,
        summary=summary,
        source=() if params is TrajectoryParams else (RAGAS, DEEPEVAL),
    )


TOOL_PRECISION = _scorer(
    "tool_precision", tool_precision, "Share of the calls made that were expected."
)
TOOL_RECALL = _scorer("tool_recall", tool_recall, "Share of the expected calls that were made.")
TOOL_F1 = _scorer("tool_f1", tool_f1, "Harmonic mean of tool precision and recall.")
TOOL_ARGUMENTS = _scorer("tool_arguments", tool_arguments, "How far the arguments agree.")
TOOL_ORDER = _scorer("tool_order", tool_order, "Share of the expected calls that came in order.")
TOOL_SCHEMA = _scorer(
    "tool_schema", tool_schema, "Share of calls that meet their contract.", TrajectoryParams
)
