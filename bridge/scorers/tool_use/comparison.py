"""What a comparison of calls found: one value that every tool metric is read from."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from bridge.model.case import OrderMode
from bridge.model.values import FrozenDict, FrozenList
from bridge.scorers.tool_use.shown import KEPT, cut, evidence

MAX_LISTED = 50
"""Most mismatches and pairs listed in the details; the counts are always complete."""

Axis = Literal[
    "missing",
    "extra",
    "missing_argument",
    "extra_argument",
    "wrong_value",
    "wrong_type",
    "wrong_result",
    "schema",
    "order",
    "unknown_tool",
    "malformed",
    "tool_error",
    "forbidden",
    "calls",
    "duplicate",
]
"""Ways to be wrong.

``missing`` and ``extra`` are whole calls; the next four are arguments of a call that was paired
with an expected one, ``wrong_result`` what its tool returned. ``schema``: the call breaks its
tool's JSON Schema. ``order``: a right call at the wrong time. ``unknown_tool``: neither offered nor
expected. ``malformed``: the arguments are no JSON object. The last four are the check's own
policy: a tool that failed, a call that must not be made, more calls than allowed, a call made
again.
"""

AXES: tuple[Axis, ...] = get_args(Axis)
CONTRACT: frozenset[Axis] = frozenset({"schema", "unknown_tool", "malformed"})
"""The axes on which a call fails whatever was expected."""


class UndecidedError(Exception):
    """There is no verdict, for the case is at fault; the text says why."""


class Made(NamedTuple):
    """An actual call: name, arguments (or the raw text that is no JSON object) and result."""

    name: str
    arguments: Mapping[str, Any] | str
    result: Any = None


class Pair(NamedTuple):
    """An expected call (by index) with the actual call (by index) nearest to it.

    ``agreement`` is the share of the arguments of either that agree, in [0, 1]; ``exact`` says
    that all do.
    """

    expected: int
    actual: int
    exact: bool
    agreement: float


class Mismatch(NamedTuple):
    """One thing that is not as expected.

    Attributes:
        axis: In which way.
        tool: Name of the tool.
        call: Index of the actual call; ``None`` where it is missing.
        path: JSON Pointer into the arguments; empty for the call as a whole.
        expected: The expected arguments or value, with matchers; for ``schema`` the broken rule,
            for ``order`` the index of the expected call, for ``calls`` and ``duplicate`` the limit.
        actual: The arguments or value found.
        tolerated: The mode allows it (an extra call in ``superset``, a missing one in ``subset``).
    """

    axis: Axis
    tool: str
    call: int | None = None
    path: str = ""
    expected: Any = None
    actual: Any = None
    tolerated: bool = False


@dataclass(frozen=True)
class Comparison:
    """Expected against actual calls.

    Attributes:
        mode: The order mode in force.
        expected: Number of expected calls.
        actual: Number of calls made (without failed ones where those are left out).
        pairs: Optimal assignment of expected to actual calls of the same tool.
        mismatches: Everything that differs, tolerated or not, calls first.
        kept: Paired calls that keep the mode's order, whatever their arguments; ``None`` where the
            mode has no order.
        tool_errors: Indices of actual calls whose tool reported an error.
        undecided: Why there is no verdict, where the case is at fault; ``None`` otherwise.
        broken_schema: Which tool's schema is none, so that contracts are undecided.
    """

    mode: OrderMode
    expected: int
    actual: int
    pairs: tuple[Pair, ...]
    mismatches: tuple[Mismatch, ...]
    kept: int | None = None
    tool_errors: tuple[int, ...] = ()
    undecided: str | None = None
    broken_schema: str | None = None
    _listed: dict[int, FrozenDict] = field(default_factory=dict, compare=False, repr=False)

    @property
    def faults(self) -> tuple[Mismatch, ...]:
        """The mismatches that the mode does not allow."""
        return tuple(each for each in self.mismatches if not each.tolerated)

    @property
    def passed(self) -> bool:
        """Whether the calls satisfy the mode, every argument and every contract."""
        if self.undecided is not None or self.broken_schema is not None:
            return False
        decided = all(each.tolerated for each in self.mismatches)
        return decided and all(pair.exact for pair in self.pairs)

    @property
    def matched(self) -> int:
        """Expected calls that were made with exactly the right arguments, in whatever order."""
        return sum(pair.exact for pair in self.pairs)

    @property
    def precision(self) -> float:
        """Share of the calls made that were expected; see ``recall`` where there are none."""
        return self._share(self.matched, self.actual)

    @property
    def recall(self) -> float:
        """Share of the expected calls that were made.

        1.0 where no call was expected and none was made, 0.0 where only one side is empty.
        """
        return self._share(self.matched, self.expected)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.expected + self.actual
        return 2 * self.matched / total if total else 1.0

    @property
    def arguments(self) -> float:
        """Agreement of the arguments, averaged over the expected calls; a missing call has none."""
        return self._share(math.fsum(pair.agreement for pair in self.pairs), self.expected)

    @property
    def order(self) -> float | None:
        """Share of the expected calls whose tool was called in order; ``None`` without an order."""
        return None if self.kept is None else self._share(self.kept, self.expected)

    @property
    def broken(self) -> int:
        """Calls that no tool on offer can carry out."""
        return len({each.call for each in self.mismatches if each.axis in CONTRACT})

    @property
    def counts(self) -> dict[Axis, int]:
        """Mismatches by axis, tolerated ones included; an axis without any is left out."""
        found: dict[Axis, int] = {}
        for each in self.mismatches:
            found[each.axis] = found.get(each.axis, 0) + 1
        return found

    def listed(self, axes: Collection[Axis] | None = None) -> FrozenList:
        """The first ``MAX_LISTED`` faults, all or on some axes, as JSON; each written once."""
        found: list[FrozenDict] = []
        for index, each in enumerate(self.mismatches):
            if each.tolerated or (axes is not None and each.axis not in axes):
                continue
            if index not in self._listed:
                self._listed[index] = _as_json(each)
            found.append(self._listed[index])
            if len(found) == MAX_LISTED:
                break
        return FrozenList(found)

    def _share(self, part: float, total: int) -> float:
        if total:
            return part / total
        return 0.0 if self.expected or self.actual else 1.0


def _as_json(each: Mismatch) -> FrozenDict:
    return FrozenDict(
        {
            "axis": each.axis,
            "tool": cut(each.tool, KEPT),
            "call": each.call,
            "path": cut(each.path, KEPT),
            "expected": evidence(each.expected),
            "actual": evidence(each.actual),
        }
    )
