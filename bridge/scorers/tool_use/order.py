"""The order modes: which pairings satisfy one, and which pairs are out of order."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter

from bridge.model.case import ExpectedCall, OrderMode
from bridge.scorers.matching.matchers import json_key
from bridge.scorers.tool_use.comparison import Made, Pair, UndecidedError

MAX_STEPS = 10_000
"""Most states looked at for an assignment that keeps a partial order (NP-hard in general)."""

Chosen = list[tuple[int, int]]
"""(expected index, actual index) of every expected call."""


Fits = Callable[[ExpectedCall, Made], bool]
"""Whether a call is the expected one."""


def in_same_places(
    expected: Sequence[ExpectedCall], made: Sequence[Made], fits: Fits
) -> Chosen | None:
    """Every call in its place, or ``None``."""
    if len(expected) != len(made) or not all(map(fits, expected, made)):
        return None
    return [(index, index) for index in range(len(made))]


def as_subsequence(
    expected: Sequence[ExpectedCall], made: Sequence[Made], fits: Fits
) -> Chosen | None:
    """The expected calls in order among the actual ones, or ``None``.

    Taking each at the first chance is enough: it leaves most calls to those that follow.
    """
    chosen: Chosen = []
    for index, call in enumerate(made):
        if len(chosen) < len(expected) and fits(expected[len(chosen)], call):
            chosen.append((len(chosen), index))
    return chosen if len(chosen) == len(expected) else None


def predecessors(expected: Sequence[ExpectedCall]) -> list[int]:
    """For each call, the calls that ``after`` puts before it, as a bit set of indices.

    Raises:
        UndecidedError: If calls wait for each other in a circle.
    """
    place = {call.id: index for index, call in enumerate(expected) if call.id is not None}
    graph = {call.id: call.after for call in expected if call.id is not None}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise UndecidedError(
            f"after runs in a circle: {', '.join(map(str, error.args[1]))}"
        ) from None
    return [sum(1 << place[name] for name in set(call.after)) for call in expected]


def in_partial_order(
    expected: Sequence[ExpectedCall], made: Sequence[Made], before: Sequence[int], fits: Fits
) -> Chosen | None:
    """An assignment of all calls, each exact and after its predecessors, or ``None``.

    A depth-first search over the actual calls in order of time. Which expected calls are done
    decides what is left, so no such set is looked at twice; calls that are alike in pattern and
    constraints are tried once.

    Raises:
        UndecidedError: After ``MAX_STEPS`` states.
    """
    if len(expected) != len(made):
        return None
    kinds = _kinds(expected, before)
    fit = cache(lambda row, column: fits(expected[row], made[column]))
    stack: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    seen = {0}
    while stack:
        done, order = stack.pop()
        if len(order) == len(made):
            return sorted((row, column) for column, row in enumerate(order))
        for row in _next_rows(done, len(order), kinds, before, fit):
            state = done | 1 << row
            if state not in seen:
                seen.add(state)
                stack.append((state, (*order, row)))
        if len(seen) > MAX_STEPS:
            raise UndecidedError(
                "too many ways to satisfy after; make the expected calls more distinct"
            )
    return None


def _next_rows(
    done: int,
    column: int,
    kinds: Sequence[object],
    before: Sequence[int],
    fit: Callable[[int, int], bool],
) -> list[int]:
    """Expected calls that the actual call at ``column`` can be, one of each kind, last first."""
    tried: set[object] = set()
    found = []
    for row, kind in enumerate(kinds):
        free = not done >> row & 1 and not before[row] & ~done
        if free and kind not in tried and fit(row, column):
            tried.add(kind)
            found.append(row)
    return found[::-1]


def _kinds(expected: Sequence[ExpectedCall], before: Sequence[int]) -> list[object]:
    """A key of each call, equal for calls that may be swapped."""
    after = [0] * len(expected)
    for row, bits in enumerate(before):
        for index in range(len(expected)):
            after[index] |= (bits >> index & 1) << row
    return [
        (
            call.name,
            json_key(call.arguments),
            json_key(call.result),
            call.extra,
            before[index],
            after[index],
        )
        for index, call in enumerate(expected)
    ]


def out_of_order(
    mode: OrderMode, pairs: Sequence[Pair], before: Sequence[int]
) -> list[Pair] | None:
    """The pairs that are out of a mode's order; ``None`` where the mode has none."""
    if mode in ("strict", "in_order"):
        return _out_of_sequence(pairs)
    return _out_of_partial_order(pairs, before) if mode == "partial" else None


def _out_of_sequence(pairs: Sequence[Pair]) -> list[Pair]:
    """The fewest pairs without which the others are in the expected order.

    What stays is a longest increasing subsequence, found by patience sorting.
    """
    ends: list[int] = []
    lengths: list[int] = []
    for pair in pairs:
        length = bisect_left(ends, pair.actual)
        ends[length : length + 1] = [pair.actual]
        lengths.append(length)
    wrong: list[Pair] = []
    wanted, limit = len(ends) - 1, math.inf
    for pair, length in zip(reversed(pairs), reversed(lengths), strict=True):
        if length == wanted and pair.actual < limit:
            wanted, limit = wanted - 1, pair.actual
        else:
            wrong.append(pair)
    return wrong[::-1]


def _out_of_partial_order(pairs: Sequence[Pair], before: Sequence[int]) -> list[Pair]:
    """The pairs that come before one of their predecessors."""
    time = {pair.expected: pair.actual for pair in pairs}
    return [
        pair
        for pair in pairs
        if before[pair.expected]
        and any(before[pair.expected] >> row & 1 and at > pair.actual for row, at in time.items())
    ]
