"""Pair expected with actual calls of the same tool, as well as can be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any

from bridge.model.case import ExpectedCall
from bridge.scorers.matching.assignment import assign
from bridge.scorers.matching.matchers import is_literal, json_key, matches
from bridge.scorers.tool_use.comparison import Made, Pair

SCALARS = frozenset({str, int, float, bool})
GRAIN = 10_000
"""Steps in which the agreement of two calls is weighed."""


def fits(expected: ExpectedCall, made: Made) -> bool:
    """Whether a call is the expected one in name, every argument and result."""
    arguments, pattern = made.arguments, expected.pattern
    if made.name != expected.name or isinstance(arguments, str):
        return False
    if len(arguments) != len(pattern) and (
        expected.extra == "forbid" or len(arguments) < len(pattern)
    ):
        return False
    for key, item in pattern.items():
        if key not in arguments or not matches(item, arguments[key]):
            return False
    return result_fits(expected, made)


def result_fits(expected: ExpectedCall, made: Made) -> bool:
    """Whether the tool returned what was expected, if anything was."""
    return expected.result is None or matches(expected.result_pattern, made.result)


def pair_calls(expected: Sequence[ExpectedCall], made: Sequence[Made]) -> list[Pair]:
    """An optimal assignment of expected to actual calls, within each tool's name.

    As many exact matches as possible, then the greatest total agreement, then the nearest
    positions. Every call is paired while both sides have one of that name left.

    Returns:
        The pairs by expected index.
    """
    if len(expected) == len(made) and all(map(fits, expected, made)):
        return [Pair(index, index, exact=True, agreement=1.0) for index in range(len(made))]
    found: list[Pair] = []
    columns_of: dict[str, list[int]] = {}
    for index, each in enumerate(made):
        columns_of.setdefault(each.name, []).append(index)
    rows_of: dict[str, list[int]] = {}
    for index, call in enumerate(expected):
        rows_of.setdefault(call.name, []).append(index)
    for name, rows in rows_of.items():
        if name in columns_of:
            found += _pair_block(expected, made, rows, columns_of[name])
    return sorted(found)


def pair_first_fit(
    expected: Sequence[ExpectedCall],
    made: Sequence[Made],
    fit: Callable[[ExpectedCall, Made], bool],
    agreement: Callable[[ExpectedCall, Made], float],
) -> list[Pair]:
    """Each expected call in turn with the first actual one left that fits it.

    What fits nothing is paired in turn within each tool's name.
    """
    found: list[Pair] = []
    left = list(range(len(made)))
    alone: list[int] = []
    for row, call in enumerate(expected):
        column = next((each for each in left if fit(call, made[each])), None)
        if column is None:
            alone.append(row)
        else:
            left.remove(column)
            found.append(Pair(row, column, exact=True, agreement=1.0))
    for row in alone:
        call = expected[row]
        column = next((each for each in left if made[each].name == call.name), None)
        if column is not None:
            left.remove(column)
            found.append(Pair(row, column, exact=False, agreement=agreement(call, made[column])))
    return sorted(found)


def _pair_block(
    expected: Sequence[ExpectedCall], made: Sequence[Made], rows: list[int], columns: list[int]
) -> list[Pair]:
    """The assignment within one name."""
    if len(rows) == 1 and len(columns) == 1:
        return [_pair(expected, made, rows[0], columns[0])]
    in_turn = list(zip(rows, columns, strict=False))
    if all(fits(expected[row], made[column]) for row, column in in_turn):
        return [Pair(row, column, exact=True, agreement=1.0) for row, column in in_turn]
    equal = _equal_calls(expected, made, rows, columns)
    taken_rows = {row for row, _ in equal}
    taken_columns = {column for _, column in equal}
    rows = [row for row in rows if row not in taken_rows]
    columns = [column for column in columns if column not in taken_columns]
    return [
        *(Pair(row, column, exact=True, agreement=1.0) for row, column in equal),
        *_assign_rest(expected, made, rows, columns),
    ]


def _pair(expected: Sequence[ExpectedCall], made: Sequence[Made], row: int, column: int) -> Pair:
    """The only pair there can be."""
    wanted, found = expected[row], made[column]
    arguments, pattern = found.arguments, wanted.pattern
    if isinstance(arguments, str):
        return Pair(row, column, exact=False, agreement=0.0)
    hits = shared = 0
    for key, item in pattern.items():
        if key in arguments:
            shared += 1
            hits += matches(item, arguments[key])
    total = len(pattern) if wanted.extra == "allow" else len(pattern) + len(arguments) - shared
    exact = hits == total and result_fits(wanted, found)
    return Pair(row, column, exact=exact, agreement=hits / total if total else 1.0)


def _equal_calls(
    expected: Sequence[ExpectedCall], made: Sequence[Made], rows: list[int], columns: list[int]
) -> list[tuple[int, int]]:
    """Pairs of equal calls, where no expected call of the block has a matcher.

    Equality then splits the calls into classes, so pairing equal ones costs no other match, and
    what is left is small in all but hopeless trajectories.
    """
    if not all(map(_is_plain, [expected[row] for row in rows])):
        return []
    waiting: defaultdict[Hashable, list[int]] = defaultdict(list)
    for column in reversed(columns):
        arguments = made[column].arguments
        if not isinstance(arguments, str):
            waiting[json_key(arguments)].append(column)
    found = []
    for row in rows:
        same = waiting.get(json_key(expected[row].pattern))
        if same:
            found.append((row, same.pop()))
    return found


def _is_plain(call: ExpectedCall) -> bool:
    """Whether equality of the arguments decides."""
    if call.extra == "allow" or call.result is not None:
        return False
    return all(map(is_literal, call.pattern.values()))


def _assign_rest(
    expected: Sequence[ExpectedCall], made: Sequence[Made], rows: list[int], columns: list[int]
) -> list[Pair]:
    if not rows or not columns:
        return []
    found = [_Found(made[column]) for column in columns]
    shares = [
        [wanted.share(each) for each in found]
        for wanted in [_Wanted(expected[row]) for row in rows]
    ]
    most = min(len(rows), len(columns))
    near = 1 + most * max(len(rows), len(columns)) ** 2
    whole = 1 + most * GRAIN
    worth = cache(lambda share: near * (whole * share[0] + int(GRAIN * share[1])))
    weights = [
        [worth(share) - (i - j) ** 2 for j, share in enumerate(line)]
        for i, line in enumerate(shares)
    ]
    return [Pair(rows[i], columns[j], *shares[i][j]) for i, j in assign(weights)]


class _Found:
    """The arguments of an actual call, hashed once for many comparisons."""

    def __init__(self, made: Made) -> None:
        self.made = made
        self.values = None if isinstance(made.arguments, str) else made.arguments
        self.names = frozenset(self.values or ())
        self.keys = {(key, json_key(item)) for key, item in (self.values or {}).items()}


class _Wanted:
    """The arguments of an expected call, the literal ones hashed once for many comparisons."""

    def __init__(self, call: ExpectedCall) -> None:
        self.call = call
        self.pattern = call.pattern
        self.totals: dict[frozenset[str], int] = {}
        self.known: dict[tuple[str, type, Any], bool] = {}
        self.literal = {
            (key, json_key(item)) for key, item in self.pattern.items() if is_literal(item)
        }
        self.loose = [(key, item) for key, item in self.pattern.items() if not is_literal(item)]

    def share(self, found: _Found) -> tuple[bool, float]:
        """Whether all agrees, and the share of the arguments of either call that do.

        Extra arguments that are allowed are no arguments.
        """
        values = found.values
        if values is None:
            return False, 0.0
        hits = len(self.literal & found.keys)
        for key, item in self.loose:
            if key in values:
                hits += self._matches(key, item, values[key])
        total = self.totals.get(found.names)
        if total is None:
            total = self.totals[found.names] = self._total(found.names)
        exact = hits == total and result_fits(self.call, found.made)
        return exact, hits / total if total else 1.0

    def _matches(self, key: str, item: Any, value: Any) -> bool:
        """Whether a value fits, looked at once for equal scalars of one type."""
        kind = type(value)
        if kind not in SCALARS:
            return matches(item, value)
        mark = (key, kind, value)
        if mark not in self.known:
            self.known[mark] = matches(item, value)
        return self.known[mark]

    def _total(self, names: frozenset[str]) -> int:
        """How many arguments there are to agree on with a call that has those."""
        if self.call.extra == "allow":
            return len(self.pattern)
        return len(self.pattern.keys() | names)
