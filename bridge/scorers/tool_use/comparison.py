"""What a comparison of calls found: one value that every tool metric is read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from bridge.model.case import OrderMode

Axis = Literal[
    "missing",
    "extra",
    "missing_argument",
    "extra_argument",
    "wrong_value",
    "wrong_type",
    "schema",
    "order",
    "unknown_tool",
    "malformed",
]
"""Ways to be wrong.

``missing`` and ``extra`` are whole calls; the next four are arguments of a call that was paired
with an expected one. ``schema``: the call breaks its tool's JSON Schema. ``order``: a right call
at the wrong time. ``unknown_tool``: neither offered nor expected. ``malformed``: the arguments are
no JSON object.
"""

AXES: tuple[Axis, ...] = get_args(Axis)


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
            for ``order`` the index of the expected call.
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


@dataclass(frozen=True, slots=True)
class Comparison:
    """Expected against actual calls.

    Attributes:
        mode: The order mode in force.
        expected: Number of expected calls.
        actual: Number of calls made.
        pairs: Optimal assignment of expected to actual calls of the same tool.
        mismatches: Everything that differs, tolerated or not, calls first.
        tool_errors: Indices of actual calls whose tool reported an error.
        undecided: Why there is no verdict, where the case is at fault; ``None`` otherwise.
    """

    mode: OrderMode
    expected: int
    actual: int
    pairs: tuple[Pair, ...]
    mismatches: tuple[Mismatch, ...]
    tool_errors: tuple[int, ...] = ()
    undecided: str | None = None

    @property
    def faults(self) -> tuple[Mismatch, ...]:
        """The mismatches that the mode does not allow."""
        return tuple(each for each in self.mismatches if not each.tolerated)

    @property
    def passed(self) -> bool:
        """Whether the calls satisfy the mode, every argument and every contract."""
        decided = self.undecided is None and all(each.tolerated for each in self.mismatches)
        return decided and all(pair.exact for pair in self.pairs)

    @property
    def matched(self) -> int:
        """Expected calls that were made with exactly the right arguments, in whatever order."""
        return sum(pair.exact for pair in self.pairs)

    @property
    def precision(self) -> float:
        """Share of the calls made that were expected; see ``recall`` where there are none."""
        return self._share(self.actual)

    @property
    def recall(self) -> float:
        """Share of the expected calls that were made.

        1.0 where no call was expected and none was made, 0.0 where only one side is empty.
        """
        return self._share(self.expected)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.expected + self.actual
        return 2 * self.matched / total if total else 1.0

    @property
    def counts(self) -> dict[Axis, int]:
        """Mismatches by axis, tolerated ones included."""
        found = dict.fromkeys(AXES, 0)
        for each in self.mismatches:
            found[each.axis] += 1
        return found

    def _share(self, total: int) -> float:
        if total:
            return self.matched / total
        return 0.0 if self.expected or self.actual else 1.0
