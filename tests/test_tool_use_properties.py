"""Properties of the comparison of calls, against definitions and brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.model import ExpectedCall, ExpectedCalls, ToolCall
from bridge.scorers.matching.matchers import matches
from bridge.scorers.tool_use import Made, compare_calls
from bridge.scorers.tool_use.pairing import fits, pair_calls

MODES = ("strict", "in_order", "any_order", "subset", "superset", "partial")

VALUES = st.sampled_from([0, 1, True, 1.0, "s", None, [1], {"k": 1}])
ARGUMENTS = st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=3)
MATCHERS = st.sampled_from(
    [{"$any": True}, {"$one_of": [0, "s"]}, {"$approx": 1, "abs": 1}, {"$type": "number"}]
)
EXPECTED = st.builds(
    lambda name, arguments, extra: ExpectedCall(name=name, arguments=arguments, extra=extra),
    st.sampled_from("fg"),
    st.dictionaries(st.sampled_from("xyz"), VALUES | MATCHERS, max_size=3),
    st.sampled_from(["forbid", "forbid", "allow"]),
)
MADE = st.builds(
    lambda name, arguments: ToolCall(name=name, arguments=arguments),
    st.sampled_from("fgh"),
    ARGUMENTS | st.just("{broken"),
)


@st.composite
def trajectories(draw: st.DrawFn) -> tuple[list[ExpectedCall], list[ToolCall]]:
    """Expected and actual calls, often alike; up to four constraints among the expected."""
    expected = draw(st.lists(EXPECTED, max_size=4))
    after: list[tuple[str, ...]] = [()] * len(expected)
    for later in range(1, len(expected)):
        after[later] = tuple(
            str(earlier) for earlier in range(later) if draw(st.integers(0, 3)) == 0
        )
    shuffled = draw(st.permutations(range(len(expected))))
    named = [
        call.model_copy(update={"id": str(index), "after": after[index]})
        for index, call in enumerate(expected)
    ]
    alike = [
        ToolCall(name=call.name, arguments=literal(call)) for call in draw(st.permutations(named))
    ]
    actual = draw(st.lists(MADE, max_size=5)) if draw(st.booleans()) else alike
    extra = draw(st.lists(MADE, max_size=1))
    return [named[index] for index in shuffled], [*actual, *extra]


def literal(call: ExpectedCall) -> dict[str, Any]:
    """Arguments that mostly fit an expected call."""
    return {
        key: (1 if isinstance(item, dict) and set(item) != {"k"} else item)
        for key, item in call.arguments.items()
    }


def injections(shorter: int, longer: int) -> Iterator[tuple[int, ...]]:
    return permutations(range(longer), shorter)


def holds(mode: str, expected: Sequence[ExpectedCall], made: Sequence[Made]) -> bool:
    """The mode by its definition, over every way to pair the calls."""
    n, m = len(expected), len(made)

    def fit(rows: Sequence[int], columns: Sequence[int]) -> bool:
        return all(fits(expected[i], made[j]) for i, j in zip(rows, columns, strict=True))

    everyone = range(n)
    if n == 0:
        return m == 0
    if mode == "strict":
        return n == m and fit(everyone, range(m))
    if mode == "in_order":
        return any(fit(everyone, way) for way in combinations(range(m), n))
    if mode == "superset":
        return any(fit(everyone, way) for way in injections(n, m))
    if mode == "subset":
        return any(fit(way, range(m)) for way in injections(m, n))
    if n != m:
        return False
    ways = (way for way in injections(n, m) if fit(everyone, way))
    if mode == "any_order":
        return any(True for _ in ways)
    place = {call.id: index for index, call in enumerate(expected)}
    return any(
        all(way[place[name]] < way[i] for i, call in enumerate(expected) for name in call.after)
        for way in ways
    )


def as_made(actual: Sequence[ToolCall]) -> list[Made]:
    return [Made(call.name, call.arguments) for call in actual]


@pytest.mark.parametrize("mode", MODES)
@given(trajectories())
def test_every_mode_is_what_its_definition_says(
    mode: Any, both: tuple[list[ExpectedCall], list[ToolCall]]
) -> None:
    expected, actual = both
    found = compare_calls(ExpectedCalls(calls=tuple(expected), mode=mode), actual)
    sound = not any(isinstance(call.arguments, str) for call in actual)
    assert found.passed is (sound and holds(mode, expected, as_made(actual)))
    assert found.undecided is None
    assert found.passed is not bool(found.faults)


def agreement(expected: ExpectedCall, made: Made) -> float:
    """The share of the arguments of either call that agree."""
    arguments = made.arguments
    if isinstance(arguments, str):
        return 0.0
    keys = set(expected.pattern) if expected.extra == "allow" else {*expected.pattern, *arguments}
    agreeing = [
        key in arguments
        and key in expected.pattern
        and matches(expected.pattern[key], arguments[key])
        for key in keys
    ]
    return sum(agreeing) / len(keys) if keys else 1.0


@given(st.lists(EXPECTED, max_size=6), st.lists(MADE, max_size=6))
def test_pairing_equals_brute_force(expected: list[ExpectedCall], actual: list[ToolCall]) -> None:
    made = as_made(actual)
    pairs = pair_calls(expected, made)
    assert len({pair.expected for pair in pairs}) == len({pair.actual for pair in pairs})
    for name in "fg":
        rows = [index for index, call in enumerate(expected) if call.name == name]
        columns = [index for index, each in enumerate(made) if each.name == name]
        block = [
            (pair.expected, pair.actual) for pair in pairs if expected[pair.expected].name == name
        ]
        assert len(block) == min(len(rows), len(columns))
        if len(rows) <= len(columns):
            ways = (list(zip(rows, way, strict=True)) for way in permutations(columns, len(rows)))
        else:
            ways = (
                list(zip(way, columns, strict=True)) for way in permutations(rows, len(columns))
            )

        def worth(way: list[tuple[int, int]]) -> tuple[int, float]:
            exact = sum(fits(expected[i], made[j]) for i, j in way)
            return exact, round(sum(agreement(expected[i], made[j]) for i, j in way), 2)

        assert worth(block) == max(map(worth, ways))
    for pair in pairs:
        assert pair.exact is fits(expected[pair.expected], made[pair.actual])
        assert pair.agreement == agreement(expected[pair.expected], made[pair.actual])


@given(
    st.lists(EXPECTED, max_size=5), st.lists(MADE, max_size=5), st.randoms(use_true_random=False)
)
def test_unordered_modes_do_not_see_order(
    expected: list[ExpectedCall], actual: list[ToolCall], random: Any
) -> None:
    for mode in ("any_order", "subset", "superset"):
        first = compare_calls(ExpectedCalls(calls=tuple(expected), mode=mode), actual)
        wanted, made = list(expected), list(actual)
        random.shuffle(wanted)
        random.shuffle(made)
        second = compare_calls(ExpectedCalls(calls=tuple(wanted), mode=mode), made)
        assert (first.passed, first.precision, first.recall) == (
            second.passed,
            second.precision,
            second.recall,
        )
        assert first.f1 == second.f1


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ANY_CALLS = st.lists(
    st.builds(
        lambda name, arguments: ToolCall(name=name, arguments=arguments),
        st.text(min_size=1).filter(str.strip),
        st.dictionaries(st.text(), JSON, max_size=3),
    ),
    max_size=5,
)


@given(ANY_CALLS, st.sampled_from(MODES))
def test_calls_match_themselves(actual: list[ToolCall], mode: Any) -> None:
    expected = tuple(
        ExpectedCall(
            name=call.name,
            arguments={key: {"$exact": item} for key, item in call.arguments.items()},
        )
        for call in actual
        if not isinstance(call.arguments, str)
    )
    found = compare_calls(ExpectedCalls(calls=expected, mode=mode), actual)
    assert found.passed
    assert (found.precision, found.recall, found.f1) == (1.0, 1.0, 1.0)
    assert not any(found.counts.values())


@given(st.lists(EXPECTED, max_size=4), st.lists(MADE, max_size=4), MADE, st.sampled_from(MODES))
def test_an_unexpected_call_never_helps(
    expected: list[ExpectedCall], actual: list[ToolCall], more: ToolCall, mode: Any
) -> None:
    wanted = ExpectedCalls(calls=tuple(expected), mode=mode)
    useless = more.model_copy(update={"name": "unexpected"})
    before, after = compare_calls(wanted, actual), compare_calls(wanted, [*actual, useless])
    assert after.precision <= before.precision
    assert after.recall <= before.recall
    assert after.f1 <= before.f1
    assert before.passed or not after.passed
    repeated = compare_calls(wanted, [*actual, more])
    assert repeated.matched >= before.matched
