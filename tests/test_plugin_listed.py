"""Cells of passages in every format that has such: read right, or kept whole with a line."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import get_format

HEADS = {
    "ragas": ("user_input", "response", "retrieved_contexts", "faithfulness"),
    "ragas_dataset": ("user_input", "response", "retrieved_contexts", "reference"),
    "deepeval_dataset": ("input", "actual_output", "retrieval_context", "expected_output"),
    "table": ("question", "answer", "contexts", "expected"),
}
"""Columns of question, answer, passages and something else, by format."""


def passages(tmp_path: Path, name: str, cells: list[str], **options: Any) -> tuple[Any, list[str]]:
    """The passages of each row, and the notes."""
    path = tmp_path / "x.csv"
    rows = [[f"q{number}", "a", cell, "1"] for number, cell in enumerate(cells)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADS[name], *rows])
    bundle, report = get_format(name).read(path, ReadOptions(options=options))
    return [list(each.retrieved_contexts) for each in bundle.outputs], list(report.notes)


@pytest.mark.parametrize("name", HEADS)
def test_a_list_in_any_spelling(tmp_path: Path, name: str) -> None:
    cells = ["['a' 'b']", "['a',\n \"it's\"]", '["[\\"x\\", \\"y, z\\"]"]', "one, two", ""]
    found, notes = passages(tmp_path, name, cells)
    assert found == [["a", "b"], ["a", "it's"], ["x", "y, z"], ["one, two"], []]
    assert not any("one text" in note for note in notes)


@pytest.mark.parametrize("name", HEADS)
def test_what_looks_like_a_list_and_is_none_is_kept_whole_and_told(
    tmp_path: Path, name: str
) -> None:
    cells = ["['it''s', 'b']", "['a', 'b' 'c']", "['a']"]
    found, notes = passages(tmp_path, name, cells)
    assert found == [[cells[0]], [cells[1]], ["a"]]
    column = HEADS[name][2]
    told = f"{column}: 2 cells look like a list and cannot be read as one: each is kept as one text"
    assert told in notes


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("mark", ["|", ";"])
def test_separators_split_where_they_are_named(tmp_path: Path, name: str, mark: str) -> None:
    cells = [f"a, b {mark} c", f"d{mark}e", '["f' + mark + 'g"]']
    split = [["a, b", "c"], ["d", "e"], [f"f{mark}g"]]
    assert passages(tmp_path, name, cells, separator=mark)[0] == split
    found, notes = passages(tmp_path, name, cells)
    if name == "deepeval_dataset" and mark == "|":  # DeepEval joins by it
        assert [[each.strip() for each in row] for row in found] == split
        return
    assert found == [[cells[0]], [cells[1]], split[2]]
    assert any(f"2 cells hold {mark!r}" in note and "separator=" in note for note in notes)


def test_a_semicolon_now_and_then_is_a_mark_in_a_sentence(tmp_path: Path) -> None:
    assert not any("hold" in note for note in passages(tmp_path, "table", ["a; b", "c", "d"])[1])


def test_tool_names_in_one_cell_are_separated_as_deepeval_does(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("input,expected_tools,tools_called\nq,look; book,look\n")
    bundle, _ = get_format("deepeval_dataset").read(path, ReadOptions())
    expected = bundle.cases[0].expected_calls
    assert expected is not None
    assert [call.name for call in expected.calls] == ["look", "book"]
    assert [call.name for call in bundle.outputs[0].tool_calls] == ["look"]
