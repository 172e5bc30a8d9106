"""JSON equality, the matchers, and where a value departs from a pattern."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from bridge.model.matcher import parse_pattern
from bridge.scorers.matching.assignment import assign
from bridge.scorers.matching.differences import differences, pattern_json
from bridge.scorers.matching.matchers import json_equal, json_key, matches

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.0, 1.0, 1.5]), st.text("ab")
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab$"), inner, max_size=3),
    max_leaves=6,
)
MATCHER_PATTERNS = st.one_of(
    st.builds(lambda value: {"$exact": value}, JSON),
    st.builds(lambda items: {"$one_of": items}, st.lists(SCALARS, max_size=3)),
    st.builds(lambda items: {"$unordered": items}, st.lists(SCALARS, max_size=3)),
    st.builds(lambda item: {"$contains": item}, SCALARS),
    st.sampled_from(
        [{"$any": True}, {"$regex": "^a"}, {"$approx": 1, "abs": 0.5}, {"$normalised": "A b"}]
    ),
    st.sampled_from(["string", "number", "integer", "array", "object", "null", "boolean"]).map(
        lambda name: {"$type": name}
    ),
)
PATTERNS = st.recursive(
    SCALARS | MATCHER_PATTERNS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=5,
).map(parse_pattern)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        (1, True, False),
        (0, False, False),
        (1.0, True, False),
        (True, True, True),
        (False, 0, False),
        (1, "1", False),
        (None, False, False),
        (None, None, True),
        (None, "", False),
        ("a", "a", True),
        ("a", "A", False),
        ("é", "e\u0301", False),
        (2**53 + 1, float(2**53), False),
        (10**400, 1e308, False),
        ([1, 2], [2, 1], False),
        ([1, 2], [1.0, 2.0], True),
        ([1], [True], False),
        ([], {}, False),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({"a": None}, {"b": None}, False),
        ({"a": {"b": [1, {"c": 2}]}}, {"a": {"b": [1, {"c": 3}]}}, False),
    ],
)
def test_equality_is_that_of_json(left: Any, right: Any, same: bool) -> None:
    assert json_equal(left, right) is same
    assert json_equal(right, left) is same


def test_nan_equals_nothing() -> None:
    nan = math.nan
    assert not json_equal(nan, nan)
    assert not json_equal([nan], [nan])
    assert not json_equal({"a": nan}, {"a": nan})
    assert json_equal(math.inf, math.inf)
    assert not matches(parse_pattern({"$any": True}), nan)
    assert not matches(parse_pattern({"$type": "number"}), nan)
    assert not matches(parse_pattern({"$approx": 1, "abs": 1e9}), nan)
    assert json_key(nan) != json_key(nan)


def test_what_is_no_json_equals_nothing_and_does_not_raise() -> None:
    marker = object()
    assert not json_equal(marker, marker)
    assert not json_equal({1: "a"}, {"1": "a"})
    assert not json_equal({1, 2}, {1, 2})
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert not json_equal(deep, deep)


@pytest.mark.parametrize(
    ("pattern", "accepted", "refused"),
    [
        ({"$exact": {"$any": True}}, [{"$any": True}], [1, {}, None]),
        ({"$one_of": ["a", 1, {"$regex": "^b"}]}, ["a", 1, 1.0, "bc"], ["c", True, None]),
        ({"$one_of": []}, [], [None, 1]),
        ({"$regex": "b+"}, ["b", "abbc"], ["a", "", None, 1, ["b"]]),
        ({"$regex": "^b+$"}, ["b", "bb"], ["abbc", "b\n"]),
        ({"$approx": 10}, [10, 10.0], [10.0001, "10", True, None]),
        ({"$approx": 10, "abs": 0.5}, [9.5, 10.5, 10], [9.4, 10.6]),
        ({"$approx": 100, "rel": 0.1}, [90, 111], [89, 112]),
        ({"$approx": 1, "abs": 1, "rel": 0}, [0, 2, 0.5], [True, False, 2.1]),
        ({"$approx": 10**400, "rel": 0.01}, [10**400, 10**400 + 1], [10**399, 1, math.inf]),
        ({"$contains": "b"}, ["abc", ["a", "b"], ["b"]], ["ac", ["ab"], [["b"]], None, 1]),
        ({"$contains": ["a", "b"]}, ["cab", ["b", 1, "a"]], ["a", ["a"], {}]),
        ({"$contains": [1, 1]}, [[1, 1.0], [1, 2, 1]], [[1], [1, True]]),
        (
            {"$contains": {"a": 1}},
            [{"a": 1, "b": 2}, [{"a": 1}]],
            [{"a": 2}, {}, [{"a": 1, "b": 2}]],
        ),
        ({"$contains": {"$approx": 1, "abs": 0.1}}, [[5, 1.05]], [[5], "1", {"a": 1}]),
        ({"$type": "string"}, ["", "a"], [1, None, [], {}]),
        ({"$type": "number"}, [1, 1.5], [True, "1", None]),
        ({"$type": "integer"}, [1, 1.0, 10**400], [1.5, True, "1", math.inf]),
        ({"$type": "boolean"}, [True, False], [0, 1]),
        ({"$type": "array"}, [[], [1]], [{}, "a"]),
        ({"$type": "object"}, [{}], [[], None]),
        ({"$type": "null"}, [None], [0, "", False, [], {}]),
        ({"$any": True}, [None, 0, "", [], {}, "x"], []),
        (
            {"$unordered": [1, 2, 2]},
            [[2, 1, 2], [2.0, 2, 1]],
            [[1, 2], [1, 1, 2], [1, 2, 2, 2], "122"],
        ),
        ({"$unordered": [{"$any": True}, "a"]}, [["a", "b"], ["b", "a"], ["a", "a"]], [["b", "b"]]),
        (
            {"$unordered": [{"$regex": "a"}, {"$regex": "b"}, {"$regex": "ab"}]},
            [["ab", "b", "a"], ["ab", "ab", "b"]],
            [["a", "b", "b"]],
        ),
        (
            {"$normalised": "  Straße  1 "},
            ["strasse 1", "STRASSE\t1"],
            ["strasse1", "strasse, 1", 1],
        ),
        ({"$normalised": "ﬁ"}, ["fi", "FI"], ["f i"]),
        (
            {"a": [{"$any": True}, {"b": {"$type": "null"}}]},
            [{"a": [1, {"b": None}]}],
            [{"a": [1, {}]}],
        ),
    ],
)
def test_matchers(pattern: Any, accepted: list[Any], refused: list[Any]) -> None:
    parsed = parse_pattern(pattern)
    assert [value for value in accepted if not matches(parsed, value)] == []
    assert [value for value in refused if matches(parsed, value)] == []


def test_a_regex_on_a_lone_surrogate_is_no_match() -> None:
    assert not matches(parse_pattern({"$regex": "."}), "\ud800")


@pytest.mark.parametrize(
    ("pattern", "value", "found"),
    [
        ({"a": 1}, {"a": 2}, [("/a", "wrong_value")]),
        ({"a": 1}, {"a": "1"}, [("/a", "wrong_type")]),
        ({"a": 1}, {"a": True}, [("/a", "wrong_type")]),
        ({"a": 1}, {}, [("/a", "missing_argument")]),
        ({}, {"a": 1}, [("/a", "extra_argument")]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, [("/a/b/1", "wrong_value")]),
        ({"a": [1]}, {"a": [1, 2]}, [("/a", "wrong_value")]),
        (
            {"a": {"b": 1}},
            {"a": {"c": 1}},
            [("/a/b", "missing_argument"), ("/a/c", "extra_argument")],
        ),
        ({"a": {"$exact": {"$x": 1}}}, {"a": {"$x": 2}}, [("/a/$x", "wrong_value")]),
        ({"a": {"$regex": "x"}}, {"a": 1}, [("/a", "wrong_type")]),
        ({"a": {"$regex": "x"}}, {"a": "y"}, [("/a", "wrong_value")]),
        ({"a": {"$one_of": [1, "b"]}}, {"a": "c"}, [("/a", "wrong_value")]),
        ({"a": {"$one_of": [1, "b"]}}, {"a": None}, [("/a", "wrong_type")]),
        ({"a": {"$type": "integer"}}, {"a": 1.5}, [("/a", "wrong_type")]),
        ({"a": {"$unordered": [1]}}, {"a": [2]}, [("/a", "wrong_value")]),
        ({"a/b~c": 1}, {"a/b~c": 2}, [("/a~1b~0c", "wrong_value")]),
    ],
)
def test_differences_name_the_place_and_the_kind(pattern: Any, value: Any, found: Any) -> None:
    seen = differences(parse_pattern(pattern), value)
    assert [(each.path, each.axis) for each in seen] == found


def test_extra_keys_are_allowed_at_the_top_only() -> None:
    pattern = {"a": {"b": 1}}
    assert differences(pattern, {"a": {"b": 1}, "c": 2}, extra=True) == []
    nested = differences(pattern, {"a": {"b": 1, "c": 2}}, extra=True)
    assert [each.path for each in nested] == ["/a/c"]


@given(PATTERNS, JSON)
def test_no_difference_exactly_where_it_matches(pattern: Any, value: Any) -> None:
    assert (differences(pattern, value) == []) is matches(pattern, value)


@given(JSON, JSON)
def test_equal_keys_exactly_where_values_are_equal(left: Any, right: Any) -> None:
    assert (json_key(left) == json_key(right)) is json_equal(left, right)


@given(JSON)
def test_a_value_equals_itself(value: Any) -> None:
    assert json_equal(value, value)
    assert matches(parse_pattern({"$exact": value}), value)


@given(PATTERNS)
def test_a_pattern_is_written_as_it_was_read(pattern: Any) -> None:
    assert parse_pattern(pattern_json(pattern)) == pattern


@given(st.lists(SCALARS | MATCHER_PATTERNS, max_size=4), st.lists(SCALARS, max_size=5))
def test_unordered_and_contains_find_a_pairing_where_there_is_one(
    raw: list[Any], items: list[Any]
) -> None:
    patterns = [parse_pattern(item) for item in raw]
    ways = permutations(items, len(patterns)) if len(patterns) <= len(items) else ()
    among = any(all(map(matches, patterns, way)) for way in ways)
    assert matches(parse_pattern({"$contains": raw}), items) is among
    whole = among and len(raw) == len(items)
    assert matches(parse_pattern({"$unordered": raw}), items) is whole


WEIGHTS = st.integers(1, 6).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(-9, 9), min_size=columns, max_size=columns), min_size=1, max_size=6
    )
)


def total(weights: list[list[int]], pairs: list[tuple[int, int]]) -> int:
    return sum(weights[row][column] for row, column in pairs)


@given(WEIGHTS)
def test_assignment_equals_brute_force_and_scipy(weights: list[list[int]]) -> None:
    rows, columns = len(weights), len(weights[0])
    pairs = assign(weights)
    assert len(pairs) == min(rows, columns)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    if rows <= columns:
        ways = (list(enumerate(way)) for way in permutations(range(columns), rows))
    else:
        ways = (
            [(row, j) for j, row in enumerate(way)] for way in permutations(range(rows), columns)
        )
    oracle = linear_sum_assignment(np.array(weights), maximize=True)
    best = total(weights, list(zip(*map(list, oracle), strict=True)))
    assert total(weights, pairs) == max(total(weights, way) for way in ways) == best


def test_assignment_is_exact_beyond_floats() -> None:
    big = 10**30
    assert assign([[big + 1, big], [big, big]]) == [(0, 0), (1, 1)]
    assert assign([[big, big + 1], [big, big]]) == [(0, 1), (1, 0)]
    assert assign([]) == []
    assert assign([[], []]) == []


@pytest.mark.parametrize("size", [30, 80])
def test_assignment_of_large_blocks_equals_scipy(size: int) -> None:
    random = np.random.default_rng(size)
    weights = random.integers(0, 50, (size, size + 7))
    rows, columns = linear_sum_assignment(weights, maximize=True)
    assert total(weights.tolist(), assign(weights.tolist())) == weights[rows, columns].sum()
