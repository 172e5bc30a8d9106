"""Every built-in scorer on hostile answers: a measurement comes back, soon, and it is a sane one."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scorer_examples import CASES, CHECKS

from bridge.model import Case, Check, Output
from bridge.model.score import VALUED
from bridge.scorers import evaluate, validate_check

WRITTEN = [Check.model_validate(each) for checks in CHECKS.values() for each in checks]
READ = {case["id"]: Case.model_validate(case) for case in CASES if not case.get("turns")}

ANY = st.text(st.characters(codec=None), max_size=60)  # lone surrogates too
PIECES = st.sampled_from(
    [
        *"<>{}[]()\"'`$%&;:,.-_\\/\n\r\t\0\ud800 ", "ANSWER:", "A", "42", "½", "²", "1e999", "<p>",
        "</p>", "<a b='", "<!--", "-->", "<![CDATA[", "]]>", "<!DOCTYPE a [", "&lol;", "SELECT ", "--",
        "```sql\n", "```", '{"a":', "null", "NaN", "I can't ", "help", " enough", "日本", "👍", "\ufeff",
    ]
)  # fmt: skip
TEXTS = ANY | st.lists(PIECES, max_size=25).map("".join)


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": [value]} if levels % 2 else [value]
    return value


def measured(check: Check, case: Case, text: Any) -> None:
    """One measurement, and what errors it says are said on purpose."""
    output = Output(case_id=case.id).model_copy(update={"text": text, "stop_reason": "stop"})
    found = evaluate(check, case, output)
    assert found.metric == check.metric
    if found.status == "error":
        assert found.error is not None
        assert found.error.startswith("ValueError: "), found.error
    elif found.status in VALUED:
        assert found.value is not None
        assert 0.0 <= found.value <= 1.0
    else:
        assert found.status == "skipped"
    found.model_dump_json().encode("utf-8")


@pytest.mark.parametrize("check", WRITTEN, ids=lambda check: check.metric)
def test_any_text(check: Check) -> None:
    validate_check(check)

    @settings(max_examples=60, deadline=None)
    @given(TEXTS, st.sampled_from(sorted(READ)), TEXTS)
    def run(text: str, case: str, expected: str) -> None:
        measured(check, READ[case], text)
        measured(check, READ[case].model_copy(update={"expected": expected}), text)

    run()


@pytest.mark.parametrize("check", WRITTEN, ids=lambda check: check.metric)
def test_any_json(check: Check) -> None:
    values: list[Any] = [
        None,
        True,
        0,
        -1.5,
        10**40,
        "",
        [],
        {},
        {"": None},
        float("nan"),
        float("inf"),
    ]
    for value in (*values, {"a": float("nan")}, deep(99), deep(100), ["\ud800"] * 3):
        for case in READ.values():
            measured(check, case, value)


HUGE = 10_000_000
PATTERNS = [
    "x",
    "a ",
    "<a>",
    "<a b=",
    "<!--",
    '{"a":',
    "[",
    "(",
    '"',
    "ANSWER: ",
    "$ a ",
    ".",
    "1 ",
]
PATTERNS += ["I can't ", "`", "\n> ", "select (", "&a;", "日", "\ud800", "' ", "A,", "</a>", "*a* "]
PATTERNS += ["<![CDATA[", "```\n", ":(", "<p a='", "a-", "-", "% "]


@pytest.mark.parametrize("check", WRITTEN, ids=lambda check: check.metric)
def test_ten_megabytes(check: Check) -> None:
    """Slow where all of it must be read, never quadratic: those would take hours."""
    case = READ["paris"]
    measured(check, case, "x " * (HUGE // 2))
    for pattern in PATTERNS:
        start = time.process_time()
        measured(check, case, pattern * (300_000 // len(pattern)))
        took = time.process_time() - start
        assert took < 3, f"{pattern!r} took {took:.1f} s"
