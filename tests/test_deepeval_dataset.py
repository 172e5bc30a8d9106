"""DeepEval datasets of other people: every spelling is read, and every value accounted for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Bridge

from bridge.model import Bundle
from bridge.model.errors import InputError
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge.plugin.registry import detect_format
from bridge.testing.accounted import assert_accounted
from bridge_deepeval.dataset import DATASET

GOLDEN = {
    "input": "Who wrote it?",
    "actual_output": "Ada did.",
    "expected_output": "Ada",
    "context": ["one | two", "three"],
    "retrieval_context": ["four", "deepeval_source=doc.md,deepeval_context=five\nsix"],
    "tools_called": [{"name": "look", "type": "MCP", "inputParameters": {"q": 1}, "output": [2]}],
    "expected_tools": [{"name": "look", "type": "FUNCTION", "inputParameters": {"q": "$1"}}],
    "additional_metadata": {"k": [1, {"n": None}]},
    "comments": "a remark",
    "source_file": "book.md",
    "custom_column_key_values": {"team": "red"},
    "token_cost": 0.5,
    "input_token_count": 7,
    "output_token_count": None,
    "name": "who",
    "expectations": None,
}


def camel(value: Any) -> Any:
    if isinstance(value, dict):
        parts = {key: key.split("_") for key in value}
        return {
            parts[key][0] + "".join(map(str.title, parts[key][1:])): item
            for key, item in value.items()
        }
    return value


def read(tmp_path: Path, name: str, content: Any, **options: Any) -> Bundle:
    """Read a file whose every leaf is accounted for."""
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    bundle, report = DATASET.read(path, ReadOptions(options=options))
    if not isinstance(content, str):
        assert_accounted(content, bundle, report, changed=["[].retrieval_context", "[].retrievalContext", "[].expected_tools", "[].expectedTools"])  # fmt: skip
    return bundle


@pytest.mark.parametrize("spelt", [GOLDEN, camel(GOLDEN)], ids=["snake", "camel"])
def test_a_golden_is_read_in_both_spellings(tmp_path: Path, spelt: dict[str, Any]) -> None:
    bundle = read(tmp_path, "goldens.json", [spelt])
    (case,), (output,) = bundle.cases, bundle.outputs
    assert (case.id, case.input, case.expected) == ("who", "Who wrote it?", "Ada")
    assert case.reference_contexts == ("one | two", "three")
    assert case.metadata == {"k": [1, {"n": None}]}
    assert case.expected_calls is not None
    call = case.expected_calls.calls[0]
    assert (call.name, call.arguments) == ("look", {"q": "$1"})
    assert {key: case.extras["deepeval"][key] for key in camel({"comments": 0})} == {
        "comments": "a remark"
    }
    assert (output.case_id, output.text, output.cost_usd) == ("who", "Ada did.", 0.5)
    assert output.usage is not None
    assert (output.usage.input_tokens, output.usage.output_tokens) == (7, None)
    assert output.retrieved_contexts[0] == "four"
    assert output.retrieved_contexts[1].model_dump(exclude_none=True) == {  # type: ignore[union-attr]
        "text": "five\nsix",
        "source": "doc.md",
    }
    made = output.tool_calls[0]
    assert (made.name, made.arguments, made.result) == ("look", {"q": 1}, [2])
    assert made.extras == {"deepeval": {"type": "MCP"}}


def test_it_goes_back_into_the_same_golden(tmp_path: Path) -> None:
    bundle = read(tmp_path, "goldens.json", [GOLDEN])
    again = tmp_path / "again.goldens.json"
    DATASET.write(bundle, again, WriteOptions(options={"tests": False}))
    (row,) = json.loads(again.read_bytes())
    row["additional_metadata"].pop("bridge")
    expected = {key: value for key, value in GOLDEN.items() if value is not None}
    expected["expected_tools"] = [{"name": "look", "inputParameters": {"q": "$1"}}]
    row["retrieval_context"] = sorted(row["retrieval_context"], reverse=True)
    assert row == expected
    assert not (tmp_path / "test_again_goldens.py").exists()


LINES = """{"input": "a", "context": "one|two", "expected_output": "x"}
{"input": "b", "context": ["one|two"], "expected_output": null}

{"question": "c", "answer": "y", "ground_truth": 5}
"""


def test_lines_join_contexts_with_pipes(tmp_path: Path) -> None:
    bundle = read(tmp_path, "goldens.jsonl", LINES)
    assert [case.reference_contexts for case in bundle.cases] == [("one", "two"), ("one|two",), ()]
    assert [case.expected for case in bundle.cases] == ["x", "", 5]
    assert [case.id for case in bundle.cases] == ["golden-1", "golden-2", "golden-3"]
    assert [output.text for output in bundle.outputs] == ["y"]


CSV = """,input,expected_output,retrieval_context,context,tools_called,additional_metadata,input_token_count,name
0,"Who, then?",Ada,"['a, b', ""c's""]",one|two,"[{""name"": ""f"", ""inputParameters"": {""x"": 1}}]","{'k': None}",7,n1
1,What?,,,,,,,n1
"""


def test_cells_are_read_in_every_spelling(tmp_path: Path) -> None:
    bundle = read(tmp_path, "goldens.csv", CSV)
    first, second = bundle.cases
    assert (first.id, second.id) == ("n1", "n1#2")
    assert first.metadata == {"k": None}
    assert first.reference_contexts == ("one", "two")
    assert first.extras["deepeval"] == {"": "0"}
    output = bundle.outputs[0]
    assert output.retrieved_contexts == ("a, b", "c's")
    assert output.tool_calls[0].arguments == {"x": 1}
    assert output.error == "the golden has no actual_output"
    assert len(bundle.outputs) == 1


def test_conversations_are_read(tmp_path: Path) -> None:
    turns = [
        {"role": "assistant", "content": "Welcome!"},
        {"role": "user", "content": "hi", "user_id": "u1"},
        {"role": "assistant", "content": "hello", "retrieval_context": ["p"]},
        {"role": "user", "content": "more"},
        {"role": "user", "content": "please"},
        {"role": "assistant", "content": "", "tools_called": [{"name": "f"}]},
    ]
    row = {"scenario": "A chat", "turns": turns, "expected_outcome": "done", "user_description": "curt", "name": "n"}  # fmt: skip
    for spelt in (turns, json.dumps(turns), repr(turns)):
        bundle = read(tmp_path, "goldens.json", json.dumps([{**row, "turns": spelt}]))
        (case,), (output,) = bundle.cases, bundle.outputs
        assert (case.input, case.expected, case.persona) == ("A chat", "done", "curt")
        assert [turn.user for turn in case.turns] == ["hi", "more", "please"]
        assert case.turns[0].extras == {"deepeval": {"user_id": "u1"}}
        assert case.extras["deepeval"]["opening"] == [turns[0]]
        assert output.turns is not None
        assert [turn.text for turn in output.turns] == ["hello", "", ""]
        assert output.turns[0].retrieved_contexts == ("p",)
        assert output.turns[2].tool_calls[0].name == "f"
    DATASET.write(bundle, tmp_path / "again.goldens.json", WriteOptions())
    (written,) = json.loads((tmp_path / "again.goldens.json").read_bytes())
    assert written["turns"] == turns


def test_what_a_tool_returned_is_the_calls_result_and_no_part_of_the_answer(tmp_path: Path) -> None:
    calls = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for name in ("one", "two")
    ]
    turns = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "two", "content": "2"},
        {"role": "tool", "content": "1"},
        {"role": "tool", "content": "to nobody"},
        {"role": "assistant", "content": "1 and 2"},
    ]
    bundle = read(tmp_path, "goldens.json", json.dumps([{"scenario": "s", "turns": turns}]))
    assert bundle.outputs[0].turns is not None
    (answer,) = bundle.outputs[0].turns
    assert answer.text == "1 and 2"
    assert [(call.name, call.result) for call in answer.tool_calls] == [("one", "1"), ("two", "2")]
    assert answer.extras == {"deepeval": {"content": "to nobody"}}


def test_home_made_turns_are_read(tmp_path: Path) -> None:
    document = {
        "module": "billing",
        "cases": [
            {"_comment": "copy me"},
            {"id": 1, "turns": [{"user": "a", "assistant": "b"}, {"user": "c", "mood": "sad"}]},
            {
                "id": "1",
                "turns": [{"input": "a", "expect": "b", "expected_tools": [{"name": "f", "params": {"x": 1}}, "g"]}],
            },
            {"id": "x/y z", "input": "q", "expected": {"a": [1]}, "messages": []},
            {"id": 9, "input": " "},
        ],
    }  # fmt: skip
    path = tmp_path / "goldens.json"
    path.write_text(json.dumps(document))
    bundle, report = DATASET.read(path, ReadOptions())
    first, second, third = bundle.cases
    assert [case.id for case in bundle.cases] == ["1", "1#2", "x/y z"]
    assert [turn.user for turn in first.turns] == ["a", "c"]
    assert first.turns[1].extras == {"deepeval": {"mood": "sad"}}
    assert bundle.outputs[0].turns is not None
    assert bundle.outputs[0].turns[0].text == "b"
    assert second.turns[0].expected == "b"
    assert second.turns[0].expected_calls is not None
    calls = second.turns[0].expected_calls.calls
    assert [(call.name, call.arguments, call.extra) for call in calls] == [("f", {"x": 1}, "forbid"), ("g", {}, "allow")]  # fmt: skip
    assert third.expected == {"a": [1]}
    assert report.counts["dropped"] == 4
    assert any("1 rows left out: a row that asks nothing" in note for note in report.notes)
    assert any("ids stand twice" in note for note in report.notes)


def test_columns_can_be_named(tmp_path: Path) -> None:
    row = {"saying": "q", "wish": "e"}
    bundle = read(tmp_path, "g.json", [row], fields={"input": "saying", "expected_output": "wish"})
    assert (bundle.cases[0].input, bundle.cases[0].expected) == ("q", "e")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"colour": "red"}], "no DeepEval dataset: no row asks anything"),
        ([{"input": "q", "tools_called": [3]}], "tools_called holds something that is no tool call"),
        ([{"input": "q", "turns": [{"colour": 1}]}], "turn 0 is no message"),
        ([{"input": "q", "name": "n", "additional_metadata": {"bridge": {"case": 3}}}], "damaged"),
        ([{"input": "q", "name": "n", "additional_metadata": {"bridge": {"case": {"kept": {"tags": 3}, "shown": {"tags": "74234e98afe7498f"}}}}}], "tags"),
        ([{"input": "q", "name": "n", "additional_metadata": {"bridge": {"case": {}, "beside": "../x.json"}}}], "does not lie beside it"),
        *(([{"input": "q", "name": "n", "additional_metadata": {"bridge": {"case": {}, "beside": name}}}], "does not lie beside it") for name in (".", "/", "..", "a\0b", "a" * 5000)),
        ([{"input": "q", "name": "n", "additional_metadata": {"bridge": {"case": {}, "set": {"order": 3}}}}], "damaged"),
        ([{"input": "q", "name": "n", "additional_metadata": {"bridge": {"case": {}, "set": {"suite": {"a": 1}}}}}], "name"),
        ([{"input": "q", "expected_output": json.loads("[" * 120 + "]" * 120)}], "nested deeper"),
    ],
)  # fmt: skip
def test_hostile_files_end_in_one_line(
    tmp_path: Path, bridge: Bridge, content: Any, message: str
) -> None:
    path = tmp_path / "goldens.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message) as caught:
        DATASET.read(path, ReadOptions())
    assert "\n" not in str(caught.value)


def test_unknown_fields_and_options_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "goldens.json"
    path.write_text('[{"input": "q"}]')
    for options in ({"fields": {"colour": "x"}}, {"fields": 3}, {"colour": 1}, {"encoding": 3}):
        with pytest.raises(InputError):
            DATASET.read(path, ReadOptions(options=options))
    bundle = DATASET.read(path, ReadOptions())[0]
    with pytest.raises(InputError, match="written as JSON"):
        DATASET.write(bundle, tmp_path / "goldens.csv", WriteOptions())
    with pytest.raises(InputError, match="there is no case"):
        DATASET.write(Bundle(), path, WriteOptions())


@pytest.mark.parametrize("name", ["goldens.json", "goldens.jsonl", "goldens.csv"])
def test_datasets_are_told_from_other_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    rows = {"json": json.dumps([GOLDEN]), "jsonl": LINES, "csv": CSV}
    path.write_text(rows[name.partition(".")[2]])
    assert detect_format(path) is DATASET


def test_a_change_in_a_written_row_is_read(tmp_path: Path) -> None:
    bundle = read(tmp_path, "goldens.json", [GOLDEN, {"input": "b", "name": "b", "tags": ["t"]}])
    path = tmp_path / "again.goldens.json"
    DATASET.write(bundle, path, WriteOptions())
    rows = json.loads(path.read_bytes())
    rows[1]["input"] = "changed"
    rows[1]["tags"] = ["u"]
    rows[0]["actual_output"] = "other"
    path.write_text(json.dumps(rows))
    again = DATASET.read(path, ReadOptions())[0]
    assert again.cases[0] == bundle.cases[0]
    assert (again.cases[1].input, again.cases[1].tags) == ("changed", ("u",))
    assert again.outputs[0] == bundle.outputs[0].model_copy(update={"text": "other"})


HOME_MADE: dict[str, Any] = {
    "two messages in one turn": (
        [{"turns": [{"user": "hi", "assistant": "hello"}, {"user": "more"}]}],
        {"id": "golden-1", "turns": [{"user": "hi"}, {"user": "more"}]},
    ),
    "what a turn should bring": (
        [{"name": "c", "turns": [{"input": "q", "expect": "a", "expected_tools": [{"name": "f", "params": {"a": 1}}]}]}],
        {"id": "c", "turns": [{"user": "q", "expected": "a", "expected_calls": {"calls": [{"name": "f", "arguments": {"a": 1}}]}}]},
    ),
    "tools by name and params": (
        [{"input": "q", "expected_tools": [{"name": "f", "params": {"a": 1}}]}],
        {"id": "golden-1", "input": "q", "expected_calls": {"calls": [{"name": "f", "arguments": {"a": 1}}]}},
    ),
    "a template row": (
        [{"_comment": "copy me", "input": "<question>", "expected_output": "TODO", "tags": ["..."]}, {"input": "q", "expected_output": "a"}],
        {"id": "golden-2", "input": "q", "expected": "a"},
    ),
    "a comment on a case": (
        [{"_comment": "hard", "input": "q", "expected_output": "a"}],
        {"id": "golden-1", "input": "q", "expected": "a", "extras": {"deepeval": {"_comment": "hard"}}},
    ),
    "a module around the cases": (
        {"module": "billing", "cases": [{"input": "q", "expected": "a"}]},
        {"id": "golden-1", "input": "q", "expected": "a"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOME_MADE)
def test_home_made_shapes_are_read(tmp_path: Path, name: str) -> None:
    content, case = HOME_MADE[name]
    path = tmp_path / "goldens.json"
    path.write_text(json.dumps(content))
    bundle, report = DATASET.read(path, ReadOptions())
    (found,) = bundle.cases
    told = found.model_dump(mode="json", exclude_defaults=True)
    assert {key: value for key, value in told.items() if value != ""} == case
    assert_accounted(content, bundle, report, changed=["[].expected_tools"])
    if isinstance(content, list):
        assert detect_format(path) is DATASET
    if name == "a template row":
        assert (
            "1 rows left out: a row that says nothing but a comment and placeholders"
            in report.notes
        )


REFUSED: dict[str, Any] = {
    "by id": ({"t1": {"input": "q"}, "t2": {"input": "r"}}, "no row asks anything (columns t1, t2); write a list of cases"),
    "by topic": ({"a": [{"input": "q"}], "b": [{"input": "r"}]}, "no row asks anything (columns a, b); write a list of cases"),
    "texts": (["q1", "q2"], "row 1 is a text, not an object; write a list of objects"),
    "another language": ([{"pytanie": "q", "odpowiedz": "a"}], "name it: --read-option fields={FIELD: COLUMN}"),
    "tools by name": ([{"input": "q", "expected_tools": {"f": {"a": 1}}}], "no tool call: write [{name, inputParameters}] or [name]"),
    "a turn of nothing": ([{"turns": [{"foo": 1}]}], ":1: turn 0 is no message, and no question with its answer: write {role, content}"),
    "placeholders alone": ([{"_comment": "x", "input": "..."}], "no row asks anything"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_home_made_shapes_that_are_refused_with_what_to_write(tmp_path: Path, name: str) -> None:
    content, told = REFUSED[name]
    path = tmp_path / "goldens.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError) as caught:
        DATASET.read(path, ReadOptions())
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
