"""Inspect datasets of other people: field maps, chat inputs, choices, and what is left in extras."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.model import Bundle
from bridge.model.errors import InputError
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge.plugin.registry import detect_format
from bridge.testing.accounted import assert_accounted
from bridge_inspect.dataset import DATASET


def read(tmp_path: Path, name: str, content: Any, **options: Any) -> Bundle:
    """Read a file whose every leaf is accounted for."""
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    bundle, report = DATASET.read(path, ReadOptions(options=options))
    if not isinstance(content, str):
        assert_accounted(content, bundle, report)
    return bundle


SAMPLE = {
    "id": 7,
    "input": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Which?"}]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": "look", "arguments": {"x": None}}]},
        {"role": "tool", "content": "seen", "tool_call_id": "c1", "function": "look"},
    ],
    "target": ["A", "B"],
    "choices": ["red, or so", "blue"],
    "metadata": {"level": [1, {"n": None}]},
    "files": {"a.txt": "../../etc/passwd"},
    "setup": "echo hi",
    "sandbox": "docker",
}  # fmt: skip


def test_a_sample_is_read_and_goes_back(tmp_path: Path) -> None:
    bundle = read(tmp_path, "samples.json", [SAMPLE])
    (case,) = bundle.cases
    assert (case.id, case.expected, case.choices) == ("7", ["A", "B"], ("red, or so", "blue"))
    assert case.metadata == {"level": [1, {"n": None}]}
    assert isinstance(case.input, tuple)
    assert [message.role for message in case.input] == ["system", "user", "assistant", "tool"]
    assert case.input[2].tool_calls[0].name == "look"
    assert case.input[3].name == "look"
    assert case.extras["inspect"]["files"] == {"a.txt": "../../etc/passwd"}
    DATASET.write(bundle, tmp_path / "again.jsonl", WriteOptions())
    (line,) = (tmp_path / "again.jsonl").read_text().splitlines()
    row = json.loads(line)
    row["metadata"].pop("bridge")
    text = {"role": "user", "content": "Which?"}
    assert row == {**SAMPLE, "input": [SAMPLE["input"][0], text, *SAMPLE["input"][2:]]}  # type: ignore[index]
    assert DATASET.read(tmp_path / "again.jsonl", ReadOptions())[0] == bundle


CSV = """id,input,target,choices,metadata,colour
,What?,A,"red,blue","{""k"": 1}",x
a b/c,"[{""role"": ""user"", ""content"": ""hi""}]","['yes', 'no']",,,
,"Plain, text",5,"[""a, b"", ""c""]",,y
"""


def test_cells_are_read_as_inspect_means_them(tmp_path: Path) -> None:
    bundle = read(tmp_path, "samples.csv", CSV)
    first, second, third = bundle.cases
    assert [case.id for case in bundle.cases] == ["sample-1", "a b/c", "sample-3"]
    assert (first.choices, first.metadata) == (("red", "blue"), {"k": 1})
    assert first.extras == {"inspect": {"colour": "x"}}
    assert isinstance(second.input, tuple)
    assert second.expected == "['yes', 'no']"
    assert (third.choices, third.expected) == (("a, b", "c"), "5")


def test_the_field_map_is_inferred_and_shown_or_given(tmp_path: Path) -> None:
    rows = [{"question": "q", "answer": "a", "difficulty": 3, "topic": "t"}]
    bundle = read(tmp_path, "s.json", rows)
    assert (bundle.cases[0].input, bundle.cases[0].expected) == ("q", "a")
    _, report = DATASET.read(tmp_path / "s.json", ReadOptions())
    assert any("input from 'question', target from 'answer'" in note for note in report.notes)
    fields = {"input": "topic", "target": "difficulty", "metadata": ["answer", "question"]}
    bundle = read(tmp_path, "s.json", rows, fields=fields)
    case = bundle.cases[0]
    assert (case.input, case.expected) == ("t", 3)
    assert (case.metadata, case.extras) == ({"answer": "a", "question": "q"}, {})


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ([{"colour": "red"}], {}, "no Inspect dataset: no row asks anything"),
        ([{"input": "q"}], {"fields": {"colour": "x"}}, "no field is called colour"),
        ([{"input": "q"}], {"fields": {"metadata": [3]}}, "metadata is"),
        ([{"input": "q"}], {"colour": 3}, "takes no option colour"),
        ([{"id": "a", "input": "q", "metadata": {"bridge": {"case": 3}}}], {}, "damaged"),
        ([{"id": "a", "input": "q", "metadata": {"bridge": {"case": {}, "outputs": 3}}}], {}, "damaged"),
        ([{"id": "a", "input": "q", "metadata": {"bridge": {"case": {}, "outputs": [{"epoch": 0}]}}}], {}, "epoch"),
        ([{"id": "a", "input": "q", "metadata": {"bridge": {"case": {}, "outputs": [{}, {}]}}}], {}, "stands twice"),
    ],
)  # fmt: skip
def test_hostile_files_end_in_one_line(
    tmp_path: Path, content: Any, options: Any, message: str
) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message) as caught:
        DATASET.read(path, ReadOptions(options=options))
    assert "\n" not in str(caught.value)


def test_it_is_told_from_other_files_and_refuses_what_it_cannot_hold(tmp_path: Path) -> None:
    for name, text in (("s.jsonl", json.dumps(SAMPLE)), ("s.csv", CSV)):
        (tmp_path / name).write_text(text)
        assert detect_format(tmp_path / name) is DATASET
    bundle = read(tmp_path, "s.json", [SAMPLE])
    with pytest.raises(InputError, match="written as JSON Lines"):
        DATASET.write(bundle, tmp_path / "s.csv", WriteOptions())
    with pytest.raises(InputError, match="there is no case"):
        DATASET.write(Bundle(), tmp_path / "s.jsonl", WriteOptions())


def test_a_change_in_a_written_record_is_read(tmp_path: Path) -> None:
    bundle = read(tmp_path, "s.json", [SAMPLE, {"id": "b", "input": "q", "target": {"n": 1}}])
    path = tmp_path / "again.json"
    DATASET.write(bundle, path, WriteOptions())
    rows = json.loads(path.read_bytes())
    rows[1]["target"] = "changed"
    rows[1]["metadata"]["new"] = 1
    path.write_text(json.dumps(rows))
    again = DATASET.read(path, ReadOptions())[0]
    assert again.cases[0] == bundle.cases[0]
    assert (again.cases[1].expected, again.cases[1].metadata) == ("changed", {"new": 1})
