"""The six order modes, against their definitions; and the pairing against brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.model import ExpectedCall, ExpectedCalls, ToolCall
from bridge.scorers.matching import matches
from bridge.scorers.tool_use import ToolUseParams, compare_calls
from bridge.scorers.tool_use.pairing import Made, fits, pair_calls

MODES = ("strict", "in_order", "any_order", "subset", "superset", "partial")


def calls(text: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in text]


def passes(mode: str, expected: str | list[Any], actual: str) -> bool:
    wanted = calls(expected) if isinstance(expected, str) else expected
    given_calls = ExpectedCalls.model_validate({"mode": mode, "calls": wanted})
    return compare_calls(given_calls, [ToolCall(name=name) for name in actual]).passed


@pytest.mark.parametrize(
    ("expected", "actual", "passing"),
    [
        ("ab", "ab", {"strict", "in_order", "any_order", "subset", "superset", "partial"}),
        ("ab", "ba", {"any_order", "subset", "superset", "partial"}),
        ("ab", "acb", {"in_order", "superset"}),
        ("ab", "bca", {"superset"}),
        ("ab", "a", {"subset"}),
        ("ab", "", {"subset"}),
        ("ab", "c", set()),
        ("ab", "ac", set()),
        ("aa", "a", {"subset"}),
        ("a", "aa", {"in_order", "superset"}),
        ("aba", "baa", {"any_order", "subset", "superset", "partial"}),
        ("aba", "aabba", {"in_order", "superset"}),
        ("", "", set(MODES)),
        ("", "a", set()),
    ],
)
def test_modes(expected: str, actual: str, passing: set[str]) -> None:
    assert {mode for mode in MODES if passes(mode, expected, actual)} == passing


def step(name: str, *after: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "id": fields.pop("id", name), "after": list(after), **fields}


@pytest.mark.parametrize(
    ("actual", "passing"),
    [
        ("abcd", True),
        ("acbd", True),
        ("bacd", False),
        ("abdc", False),
        ("abc", False),
        ("abcdd", False),
    ],
)
def test_partial_order(actual: str, passing: bool) -> None:
    diamond = [step("a"), step("b", "a"), step("c", "a"), step("d", "b", "c")]
    assert passes("partial", diamond, actual) is passing
    assert passes("partial", diamond[::-1], actual) is passing


def test_partial_order_looks_for_the_assignment_that_keeps_it() -> None:
    any_x = {"x": {"$any": True}}
    wanted = [
        step("f", id="late", after=["g"], arguments=any_x),
        step("g"),
        step("f", id="early", arguments={"x": 1}),
    ]
    expected = ExpectedCalls.model_validate({"mode": "partial", "calls": wanted})
    made = [ToolCall(name=name, arguments={"x": 1} if name == "f" else {}) for name in "fgf"]
    found = compare_calls(expected, made)
    assert found.passed
    assert [(pair.expected, pair.actual) for pair in found.pairs] == [(0, 2), (1, 1), (2, 0)]
    late = compare_calls(expected, [made[0], made[2], made[1]])
    assert not late.passed
    assert late.counts["order"] == 1


def test_a_circle_of_after_is_an_error_of_the_case() -> None:
    expected = ExpectedCalls.model_validate(
        {"mode": "partial", "calls": [step("a", "b"), step("b", "a")]}
    )
    found = compare_calls(expected, [ToolCall(name="a"), ToolCall(name="b")])
    assert not found.passed
    assert found.undecided is not None
    assert found.undecided.startswith("after runs in a circle")


def test_a_partial_order_with_too_many_ways_is_undecided_not_green_and_not_slow() -> None:
    loose = [
        step("f", id=f"w{index}", arguments={"x": {"$one_of": [1, 2, index + 10]}})
        for index in range(24)
    ]
    wanted = [*loose, step("f", "last", id="first", arguments={"x": 1}), step("g", id="last")]
    expected = ExpectedCalls.model_validate({"mode": "partial", "calls": wanted})
    made = [ToolCall(name="f", arguments={"x": 1 + index % 2}) for index in range(25)]
    found = compare_calls(expected, [*made, ToolCall(name="g")])
    assert not found.passed
    assert found.undecided is not None
    assert "too many ways" in found.undecided


def test_many_alike_calls_in_partial_order_are_quick() -> None:
    wanted = [
        *(step("f", id=f"f{index}") for index in range(60)),
        step("g", *(f"f{i}" for i in range(60))),
    ]
    assert passes("partial", wanted, "f" * 60 + "g")
    assert not passes("partial", wanted, "f" * 59 + "gf")


def test_mode_of_the_check_overrides_that_of_the_case() -> None:
    expected = ExpectedCalls.model_validate({"mode": "any_order", "calls": calls("ab")})
    made = [ToolCall(name="b"), ToolCall(name="a")]
    assert compare_calls(expected, made).passed
    found = compare_calls(expected, made, params=ToolUseParams(mode="strict"))
    assert not found.passed
    assert found.mode == "strict"
    assert found.counts["order"] == 1


def test_order_is_blamed_on_the_fewest_calls() -> None:
    expected = ExpectedCalls.model_validate({"mode": "strict", "calls": calls("abcdef")})
    found = compare_calls(expected, [ToolCall(name=name) for name in "fabcde"])
    assert [(each.axis, each.tool, each.call) for each in found.faults] == [("order", "f", 0)]


# Properties

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
    return [(call.name, call.arguments) for call in actual]


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
    arguments = made[1]
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
        columns = [index for index, (other, _) in enumerate(made) if other == name]
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
