"""Cells that hold lists and objects, in every spelling that people's tables have."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.files.foreign.cells import (
    is_blank,
    is_unread_list,
    parse_cell,
    parse_list,
    parse_object,
    to_number,
)

_SOME: list[Any] = [None, float("nan"), " ", "NA", 0, "0", []]

LISTS: dict[str, list[Any]] = {
    "['a', 'b']": ["a", "b"],
    """["it's", 'b']""": ["it's", "b"],
    '["a", "b"]': ["a", "b"],
    "('a', 'b')": ["a", "b"],
    "['a' 'b']": ["a", "b"],
    "['a'\n 'b'\n \"c's\"]": ["a", "b", "c's"],
    "array(['a', 'b'], dtype=object)": ["a", "b"],
    "array(['a', 'b'],\n      dtype='<U1')": ["a", "b"],
    "array([])": [],
    "[['a' 'b']\n ['c' 'd']]": [["a", "b"], ["c", "d"]],
    "[list(['a', 'b']) list([])]": [["a", "b"], []],
    "[array(['a'], dtype=object)\n array(['b', 'c'], dtype=object)]": [["a"], ["b", "c"]],
    "['say \"it\\'s\"' \"x's\"\n 'a\\nb']": ['say "it\'s"', "x's", "a\nb"],
    "[{'k': 'a'} {'k': 'b'}]": [{"k": "a"}, {"k": "b"}],
    "[(1, 2) (3, 4)]": [[1, 2], [3, 4]],
    "[ 1 -2  0.5]": [1, -2, 0.5],
    "[None nan 'a']": [None, None, "a"],
    "[nan, 'a', None, true]": [None, "a", None, True],
    """['["x", "y"]']""": ["x", "y"],
    '["[1, 2]"]': [1, 2],
    "[]": [],
    "": [],
    "nan": [],
    "None": [],
    "a, b": ["a, b"],
    "one | two": ["one | two"],
    "[1] says the source": ["[1] says the source"],
    "[see note]": ["[see note]"],
    "{'a': 1}": [{"a": 1}],
    "[{'role': 'user', 'ok': true}]": [{"role": "user", "ok": True}],
}


@pytest.mark.parametrize("cell", LISTS)
def test_a_list_is_read_in_every_spelling(cell: str) -> None:
    assert parse_list(cell) == LISTS[cell]


UNSURE = [
    "['it''s', 'b']",  # an apostrophe as SQL and YAML write it: Python would join the two
    "['a''b']",
    "['a', 'b' 'c']",  # a forgotten comma, or a text over two lines of source
    "['a' 'b' ... 'z']",  # numpy cut it short
    "['a', ..., 'z']",
    "[1 - 2]",
    "['a']['b']",
    "array(['a'], ['b'])",
    "[see note]",
]


@pytest.mark.parametrize("cell", UNSURE)
def test_what_cannot_be_told_for_sure_stays_one_text(cell: str) -> None:
    assert parse_list(cell) == [cell]
    assert is_unread_list(cell)


@pytest.mark.parametrize("cell", [*LISTS, "[]", "x", 3, None, ["a"], "{'a' 'b'}"])
def test_only_what_looks_like_a_list_is_called_unread(cell: Any) -> None:
    assert is_unread_list(cell) is (cell == "[see note]")


@given(st.lists(st.text(), min_size=2))
def test_what_numpy_shows_of_an_array_is_that_list(items: list[str]) -> None:
    import numpy as np

    array = np.empty(len(items), object)
    array[:] = items
    assert parse_list(str(array)) == items
    assert parse_list(repr(array)) == items


@given(st.lists(st.text(), min_size=2))
def test_what_python_shows_of_a_list_is_that_list(items: list[str]) -> None:
    assert parse_list(repr(items)) == items


def test_separators_count_where_they_are_named() -> None:
    assert parse_list("a | b|c", "|") == ["a", "b", "c"]
    assert parse_list("a; b", "|;") == ["a", "b"]
    assert parse_list('["a|b"]', "|") == ["a|b"]


def test_other_values_come_back_as_they_are() -> None:
    assert parse_cell(3) == 3
    assert parse_cell(" plain ") == " plain "
    assert parse_list(3) == [3]
    assert parse_list(["a"]) == ["a"]
    assert parse_object("{'a': None}") == {"a": None}
    assert parse_object("[1]") is None
    assert [is_blank(each) for each in _SOME] == [
        True, True, True, True, False, False, False,
    ]  # fmt: skip


def test_numbers_are_read_with_a_decimal_comma_too() -> None:
    given = ["1", "0,5", " 1.5e3 ", 2.5, 3, "1,000.5", "x", "", True, None, 10**400, "1e999"]
    wanted = [1, 0.5, 1500, 2.5, 3, *[None] * 7]
    assert [to_number(each) for each in given] == wanted


HOSTILE = [
    "[__import__('os').system('true')]",
    "[open('/etc/passwd').read()]",
    "[" * 5000 + "]" * 5000,
    "[" + "-" * 100_000 + "1]",
    "[" + "1+" * 50_000 + "1]",
    "[" + "(" * 90 + ")" * 90 + "]",
    "[" + "9" * 10_000 + "]",
    "[b'bytes']",
    "{1: 'a'}",
    "[{'a', 'b'}]",
    "['a\0b', ]",
    "['\ud800' 'b']",
    "['''a' 'b]",
    "[x for x in (1,)]",
    "[f'{1}']",
    "[1e999, 'a'" + " " * 2_000_000 + "]",
]


@pytest.mark.parametrize("cell", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_cells_stay_text(cell: str) -> None:
    start = time.process_time()
    value = parse_cell(cell)
    assert value == cell or isinstance(value, list)
    assert time.process_time() - start < 2
