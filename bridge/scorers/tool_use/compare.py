"""Compare the calls that were made with those that were expected, in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bridge.model.case import ExpectedCall, ExpectedCalls, OrderMode
from bridge.model.message import Tool, ToolCall
from bridge.scorers.calls import read_arguments
from bridge.scorers.contract import SchemaError, Violation, violations
from bridge.scorers.differences import differences
from bridge.scorers.tool_use import order
from bridge.scorers.tool_use.comparison import Comparison, Mismatch, Pair
from bridge.scorers.tool_use.pairing import Made, pair_calls
from bridge.scorers.tool_use.params import ToolUseParams

MISSING_ALLOWED: frozenset[OrderMode] = frozenset({"subset"})
EXTRA_ALLOWED: frozenset[OrderMode] = frozenset({"superset", "in_order"})


def compare_calls(
    expected: ExpectedCalls,
    actual: Sequence[ToolCall],
    tools: Sequence[Tool] = (),
    params: ToolUseParams | None = None,
) -> Comparison:
    """Compare actual calls with expected ones. Pure, and never raises.

    The modes: ``strict`` (call by call the same), ``in_order`` (the expected calls in order,
    others may come between), ``any_order`` (the same calls), ``subset`` (no call beyond the
    expected), ``superset`` (every expected call, others allowed), ``partial`` (the same calls,
    under some assignment each after those that its ``after`` names). Where no call is expected
    none may be made, in every mode.

    Args:
        expected: The expected calls with their mode.
        actual: The calls made, in order.
        tools: The tools on offer. A call of a tool that is neither offered nor expected is
            unknown; without any tools on offer only a call without a name is.
        params: ``mode`` overrides that of ``expected``; ``schemas`` turns contracts off.

    Returns:
        The comparison; its ``undecided`` is set where the case itself is broken (a tool's schema
        is none, ``after`` runs in a circle).
    """
    params = params or ToolUseParams()
    mode = params.mode or expected.mode
    made = [(call.name, read_arguments(call.arguments)) for call in actual]
    undecided: list[str] = []
    chosen, before = None, []
    try:
        before = order.predecessors(expected.calls) if mode == "partial" else []
        chosen = _choose(mode, expected.calls, made, before)
    except order.UndecidedError as error:
        undecided.append(str(error))
    pairs = _exact(chosen) if chosen is not None else pair_calls(expected.calls, made)
    mismatches = list(_calls(mode, expected.calls, made, pairs))
    if chosen is None and not undecided:
        mismatches += _order(mode, made, pairs, before)
    try:
        mismatches += _contracts(expected.calls, made, tools, check_schemas=params.schemas)
    except SchemaError as error:
        undecided.append(str(error))
    return Comparison(
        mode=mode,
        expected=len(expected.calls),
        actual=len(actual),
        pairs=tuple(pairs),
        mismatches=tuple(mismatches),
        tool_errors=tuple(i for i, call in enumerate(actual) if call.error is not None),
        undecided="; ".join(undecided) or None,
    )


def _choose(
    mode: OrderMode, expected: Sequence[ExpectedCall], made: Sequence[Made], before: Sequence[int]
) -> order.Chosen | None:
    """The pairing that satisfies a mode with an order; ``None`` if none does, or it has none."""
    if mode == "strict":
        return order.in_same_places(expected, made)
    if mode == "in_order":
        return order.as_subsequence(expected, made)
    return order.in_partial_order(expected, made, before) if mode == "partial" else None


def _exact(chosen: order.Chosen) -> list[Pair]:
    return [Pair(row, column, exact=True, agreement=1.0) for row, column in chosen]


def _calls(
    mode: OrderMode,
    expected: Sequence[ExpectedCall],
    made: Sequence[Made],
    pairs: Sequence[Pair],
) -> Iterator[Mismatch]:
    """What is wrong with each call, whatever the order."""
    for pair in pairs:
        if not pair.exact:
            yield from _arguments(expected[pair.expected], made[pair.actual], pair.actual)
    if len(pairs) < len(expected):
        found = {pair.expected for pair in pairs}
        tolerated = mode in MISSING_ALLOWED
        for index, call in enumerate(expected):
            if index not in found:
                wanted = call.arguments
                yield Mismatch("missing", call.name, expected=wanted, tolerated=tolerated)
    if len(pairs) < len(made):
        used = {pair.actual for pair in pairs}
        tolerated = mode in EXTRA_ALLOWED and bool(expected)
        for index, (name, arguments) in enumerate(made):
            if index not in used:
                yield Mismatch("extra", name, index, actual=arguments, tolerated=tolerated)


def _arguments(call: ExpectedCall, made: Made, index: int) -> Iterator[Mismatch]:
    name, arguments = made
    if isinstance(arguments, str):
        return  # reported as malformed
    for each in differences(call.pattern, arguments, extra=call.extra == "allow"):
        yield Mismatch(each.axis, name, index, each.path, each.expected, each.actual)


def _order(
    mode: OrderMode, made: Sequence[Made], pairs: Sequence[Pair], before: Sequence[int]
) -> Iterator[Mismatch]:
    """Right calls at the wrong time."""
    wrong: list[Pair] = []
    if mode in ("strict", "in_order"):
        wrong = order.out_of_sequence(pairs)
    elif mode == "partial":
        wrong = order.out_of_partial_order(pairs, before)
    for pair in wrong:
        name, arguments = made[pair.actual]
        yield Mismatch("order", name, pair.actual, expected=pair.expected, actual=arguments)


def _contracts(
    expected: Sequence[ExpectedCall],
    made: Sequence[Made],
    tools: Sequence[Tool],
    *,
    check_schemas: bool,
) -> Iterator[Mismatch]:
    """Calls that no tool on offer can carry out."""
    schemas = {tool.name: tool.parameters for tool in tools}
    known = {*schemas, *(call.name for call in expected)}
    for index, (name, arguments) in enumerate(made):
        if not name.strip() or (tools and name not in known):
            yield Mismatch("unknown_tool", name, index, actual=arguments)
        if isinstance(arguments, str):
            yield Mismatch("malformed", name, index, actual=arguments)
        elif check_schemas and name in schemas:
            for each in _violations(name, schemas[name], arguments):
                yield Mismatch("schema", name, index, each.path, each.message, each.value)


def _violations(
    name: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]
) -> list[Violation]:
    try:
        return violations(schema, arguments)
    except SchemaError as error:
        raise SchemaError(f"the schema of tool {name} is none: {error}") from None
