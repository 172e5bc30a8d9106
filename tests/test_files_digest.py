"""Digests: equal content has one name, other content another."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.files.digest import case_digest, digest, set_digest
from bridge.model import Case

CASE: dict[str, Any] = {"id": "a", "input": "x", "expected": "y"}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ([0.0], [-0.0]),
        (1e3, 1000),
        ({"é": 1}, json.loads('{"\\u00e9": 1}')),
    ],
)
def test_spelling_does_not_matter(left: Any, right: Any) -> None:
    assert digest(left) == digest(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, "1"),
        (1, True),
        (0, False),
        (None, "null"),
        ([], {}),
        ([1, 2], [2, 1]),
        (2**53 + 1, 2**53 + 2),
        (2**60, str(2**60)),
        (10**30, 10**30 + 1),
        ({"a": None}, {}),
        ("é", "e\u0301"),
    ],
)
def test_content_does(left: Any, right: Any) -> None:
    assert digest(left) != digest(right)


def test_a_digest_of_old_stays() -> None:
    """Committed baselines hold these: another digest for the same case is a breaking change."""
    assert digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert case_digest(Case(**CASE)) == digest(CASE)


def test_defaults_do_not_count() -> None:
    spelled = {**CASE, "tags": [], "metadata": {}, "persona": None, "checks": []}
    assert case_digest(Case(**CASE)) == case_digest(Case.model_validate(spelled))


@pytest.mark.parametrize(
    "change",
    [
        {"id": "b"},
        {"input": "z"},
        {"expected": ["y"]},
        {"expected": True},
        {"checks": [{"equals": {"value": 1}}]},
        {"checks": [{"equals": {"value": True}}]},
        {"turns": [{"user": "u"}]},
        {"tags": ["t"]},
        {"extras": {"f": {"k": 1}}},
    ],
)
def test_every_field_counts(change: dict[str, Any]) -> None:
    assert case_digest(Case.model_validate({**CASE, **change})) != case_digest(Case(**CASE))


@settings(max_examples=40)
@given(strategies.CASES, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(case: Case, chance: random.Random) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            keys = list(value)
            chance.shuffle(keys)
            return {key: shuffled(value[key]) for key in keys}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    data = shuffled(json.loads(case.model_dump_json()))
    assert case_digest(Case.model_validate(data)) == case_digest(case)


def test_the_order_of_cases_does_not_matter() -> None:
    digests = [digest(index) for index in range(5)]
    assert set_digest(digests) == set_digest(reversed(digests))
    assert set_digest(digests) != set_digest(digests[:4])
    assert set_digest([]) == set_digest(())
