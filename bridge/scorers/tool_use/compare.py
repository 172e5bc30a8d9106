"""Compare the calls that were made with those that were expected, in one pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bridge.model.case import ExpectedCall, ExpectedCalls, OrderMode
from bridge.model.message import Tool, ToolCall
from bridge.scorers.calls import read_arguments
from bridge.scorers.structure.contract import SchemaError, Violation, violations
from bridge.scorers.tool_use import order
from bridge.scorers.tool_use.comparison import Comparison, Made, Mismatch, Pair, UndecidedError
from bridge.scorers.tool_use.pairing import result_fits
from bridge.scorers.tool_use.params import MatchParams
from bridge.scorers.tool_use.profile import Profile, profile_for

MISSING_ALLOWED: frozenset[OrderMode] = frozenset({"subset"})
EXTRA_ALLOWED: frozenset[OrderMode] = frozenset({"superset", "in_order"})
DEFAULTS = MatchParams()


def compare_calls(
    expected: ExpectedCalls | None,
    actual: Sequence[ToolCall],
    tools: Sequence[Tool] = (),
    params: MatchParams = DEFAULTS,
) -> Comparison:
    """Compare actual calls with expected ones. Pure, and never raises.

    The modes: ``strict`` (call by call the same), ``in_order`` (the expected calls in order,
    others may come between), ``any_order`` (the same calls), ``subset`` (no call beyond the
    expected), ``superset`` (every expected call, others allowed), ``partial`` (the same calls,
    under some assignment each after those that its ``after`` names). Where no call is expected
    none may be made, in every mode.

    Args:
        expected: The expected calls with their mode; ``None`` to look at contracts only.
        actual: The calls made, in order.
        tools: The tools on offer. A call of a tool that is neither offered nor expected is
            unknown; without any tools on offer only a call without a name is.
        params: ``mode`` overrides that of ``expected``; ``profile`` says when two calls are the
            same; with ``failed_calls: ignore`` those whose tool failed are left out.

    Returns:
        The comparison; its ``undecided`` is set where the case itself is broken (``after`` runs
        in a circle, a profile lacks what it needs), its ``broken_schema`` where a tool's schema is.
    """
    failed = [index for index, call in enumerate(actual) if call.error is not None]
    if failed and params.failed_calls == "ignore":
        kept = [index for index, call in enumerate(actual) if call.error is None]
        found = _compare(expected, [actual[index] for index in kept], tools, params)
        return _renumbered(found, kept, failed)
    return _compare(expected, actual, tools, params, tuple(failed))


def _compare(
    expected: ExpectedCalls | None,
    actual: Sequence[ToolCall],
    tools: Sequence[Tool],
    params: MatchParams,
    failed: tuple[int, ...] = (),
) -> Comparison:
    made = [Made(call.name, read_arguments(call.arguments), call.result) for call in actual]
    wanted = expected.calls if expected is not None else ()
    mode = params.mode or (expected.mode if expected is not None else "any_order")
    profile = profile_for(params.profile, tools)
    pairs: list[Pair] = []
    mismatches: list[Mismatch] = []
    kept: int | None = None
    undecided = broken = None
    if expected is not None:
        try:
            pairs, kept, mismatches = _match(mode, wanted, made, profile)
        except UndecidedError as error:
            undecided = str(error)
    try:
        mismatches += _contracts(wanted, made, tools, check_schemas=profile.contracts)
    except SchemaError as error:
        broken = str(error)
    return Comparison(
        mode,
        len(wanted),
        len(made),
        tuple(pairs),
        tuple(mismatches),
        kept,
        failed,
        undecided,
        broken,
    )


def _renumbered(found: Comparison, kept: Sequence[int], failed: Sequence[int]) -> Comparison:
    """A comparison of some of the calls, told by the places of all."""
    return dataclasses.replace(
        found,
        pairs=tuple(pair._replace(actual=kept[pair.actual]) for pair in found.pairs),
        mismatches=tuple(
            each if each.call is None else each._replace(call=kept[each.call])
            for each in found.mismatches
        ),
        tool_errors=tuple(failed),
    )


def _match(
    mode: OrderMode, expected: Sequence[ExpectedCall], made: Sequence[Made], profile: Profile
) -> tuple[list[Pair], int | None, list[Mismatch]]:
    """The pairs, how many of them keep the mode's order, and what is wrong."""
    before = order.predecessors(expected) if mode == "partial" else []
    chosen = _choose(mode, expected, made, before, profile)
    if chosen is not None:
        pairs = [Pair(row, column, exact=True, agreement=1.0) for row, column in chosen]
        return pairs, len(pairs), list(_calls(mode, expected, made, pairs, profile))
    pairs = profile.pair(expected, made)
    mismatches = list(_calls(mode, expected, made, pairs, profile))
    wrong = order.out_of_order(mode, pairs, before)
    if wrong is None:
        return pairs, None, mismatches
    mismatches += _order(mode, made, pairs, before)
    return pairs, len(pairs) - len(wrong), mismatches


def _choose(
    mode: OrderMode,
    expected: Sequence[ExpectedCall],
    made: Sequence[Made],
    before: Sequence[int],
    profile: Profile,
) -> order.Chosen | None:
    """The pairing that satisfies a mode with an order; ``None`` if none does, or it has none."""
    if mode == "strict":
        return order.in_same_places(expected, made, profile.fits)
    if mode == "in_order":
        return order.as_subsequence(expected, made, profile.fits)
    if mode == "partial":
        return order.in_partial_order(expected, made, before, profile.fits)
    return None


def _calls(
    mode: OrderMode,
    expected: Sequence[ExpectedCall],
    made: Sequence[Made],
    pairs: Sequence[Pair],
    profile: Profile,
) -> Iterator[Mismatch]:
    """What is wrong with each call, whatever the order."""
    for row, column, exact, _ in pairs:
        if not exact:
            yield from _pair(expected[row], made[column], column, profile)
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
        for index, (name, arguments, _) in enumerate(made):
            if index not in used:
                yield Mismatch("extra", name, index, actual=arguments, tolerated=tolerated)


def _pair(call: ExpectedCall, made: Made, index: int, profile: Profile) -> Iterator[Mismatch]:
    for path, axis, wanted, found in profile.differences(call, made):
        yield Mismatch(axis, made.name, index, path, wanted, found)
    if not result_fits(call, made):
        yield Mismatch("wrong_result", made.name, index, expected=call.result, actual=made.result)


def _order(
    mode: OrderMode, made: Sequence[Made], pairs: Sequence[Pair], before: Sequence[int]
) -> Iterator[Mismatch]:
    """Right calls at the wrong time."""
    exact = [pair for pair in pairs if pair.exact]
    for pair in order.out_of_order(mode, exact, before) or ():
        name, arguments, _ = made[pair.actual]
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
    for index, (name, arguments, _) in enumerate(made):
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
