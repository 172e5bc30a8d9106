"""Which column is what, and the ids of rows."""

from __future__ import annotations

import pytest

from bridge.plugin.cases.columns import Ids, match_columns
from bridge.plugin.numbering import Numbered


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["question", "answer", "ground_truth"], {"input": "question", "output": "answer", "expected": "ground_truth"}),
        (["Expected Output", "INPUT"], {"input": "INPUT", "expected": "Expected Output"}),
        (["expectedOutput", "input", "retrievalContext"], {"input": "input", "expected": "expectedOutput", "retrieved_contexts": "retrievalContext"}),
        (["Frage", "Antwort"], {"input": "Frage", "expected": "Antwort"}),
        (["问题", "答案"], {"input": "问题", "expected": "答案"}),
        (["question", "user_input"], {"input": "user_input"}),
        (["colour"], {}),
    ],
)  # fmt: skip
def test_columns_are_told_by_their_names(names: list[str], found: dict[str, str]) -> None:
    assert match_columns(names) == found


def test_ids_are_unique_and_what_was_made_is_said() -> None:
    ids = Ids("row")
    given = [1, "1", None, " ", "a/b c", 2.0, float("inf"), True, "1"]
    made = [ids.of(value, number) for number, value in enumerate(given, 1)]
    assert made == ["1", "1#2", "row-3", "row-4", "a/b c", "2", "inf", "row-8", "1#3"]
    assert ids.notes() == [
        "3 rows have no id: named row-1, ... by their place",
        "2 ids stand twice ('1', '1'): numbered with #2, ...",
    ]


def test_a_name_that_stands_very_often_is_numbered_as_fast_as_any_other() -> None:
    names = Numbered()
    assert [names.of(each) for each in ("a", "a (2)", "a", "a", "a (2)")] == [
        "a",
        "a (2)",
        "a (3)",
        "a (4)",
        "a (2) (2)",
    ]
    many = [names.of("a") for _ in range(30_000)]  # 450 million looks if each began at 2
    assert many[-1] == "a (30004)"
