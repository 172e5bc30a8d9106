"""RAGAS datasets of other people: every generation of columns, every spelling of a cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from bridge.model import Bundle
from bridge.model.errors import InputError
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge.plugin.registry import detect_format
from bridge.testing.accounted import assert_accounted
from bridge_ragas.dataset import DATASET

NATIVE = ROOT / "tests" / "native" / "ragas"


def read(tmp_path: Path, name: str, content: Any, **options: Any) -> Bundle:
    """Read a file whose every leaf is accounted for."""
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    bundle, report = DATASET.read(path, ReadOptions(options=options))
    if not isinstance(content, str):
        assert_accounted(content, bundle, report, changed=["[].user_input", "[].contexts"])
    return bundle


CONTEXTS = ["one, two", "it's"]
GENERATIONS: dict[str, dict[str, Any]] = {
    "0.0": {"question": "q", "answer": "a", "contexts": CONTEXTS, "ground_truths": ["e"]},
    "0.1": {"question": "q", "answer": "a", "contexts": CONTEXTS, "ground_truth": "e"},
    "0.2": {"user_input": "q", "response": "a", "retrieved_contexts": CONTEXTS, "reference": "e"},
    "mixed": {"question": "old", "user_input": "q", "answer": "a", "contexts": CONTEXTS, "ground_truth": "e"},
    "by hand": {"Query": "q", "generated_answer": "a", "retrieved_docs": CONTEXTS, "expected answer": "e"},
}  # fmt: skip


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_generation_of_columns_is_the_same_case(tmp_path: Path, generation: str) -> None:
    row = GENERATIONS[generation]
    for name, content in (
        ("r.json", [row]),
        ("r.jsonl", json.dumps(row)),
        ("r.json", json.dumps({key: {"0": value} for key, value in row.items()})),
        ("r.csv", csv_of(row, repr)),
        ("r.csv", csv_of(row, json.dumps)),
    ):
        bundle = read(tmp_path, name, content)
        (case,), (output,) = bundle.cases, bundle.outputs
        assert (case.input, case.references) == ("q", ("e",)), name
        assert (output.text, list(output.retrieved_contexts)) == ("a", CONTEXTS), name
        assert output.case_id == case.id
    assert bool(case.extras) == (generation == "mixed")


def csv_of(row: dict[str, Any], spell: Any) -> str:
    cells = [item if isinstance(item, str) else spell(item) for item in row.values()]
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    return ",".join(row) + "\n" + ",".join(quoted) + "\n"


def test_parquet_is_read(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "r.parquet"
    parquet.write_table(arrow.Table.from_pylist([GENERATIONS["0.2"]]), path)
    bundle, _ = DATASET.read(path, ReadOptions())
    assert list(bundle.outputs[0].retrieved_contexts) == CONTEXTS


def test_testsets_hold_the_contexts_that_hold_the_answer(tmp_path: Path) -> None:
    older = {"question": "q", "contexts": CONTEXTS, "ground_truth": None, "evolution_type": "simple", "metadata": [{"source": "s"}], "episode_done": True}  # fmt: skip
    newer = {"user_input": "q", "reference_contexts": CONTEXTS, "reference": "e", "persona_name": "p", "query_style": "SHORT", "synthesizer_name": "x"}  # fmt: skip
    for row in (older, newer):
        bundle = read(tmp_path, "t.json", [row])
        assert list(bundle.cases[0].reference_contexts) == CONTEXTS
        assert bundle.outputs == ()
    assert bundle.cases[0].persona == "p"
    own = bundle.cases[0].extras["ragas"]
    assert own == {"query_style": "SHORT", "synthesizer_name": "x"}
    DATASET.write(bundle, tmp_path / "again.jsonl", WriteOptions())
    row = json.loads((tmp_path / "again.jsonl").read_text())
    assert {key: row[key] for key in newer} == newer


TALK = [
    {"content": "Book it.", "type": "human", "metadata": {"k": 1}},
    {"content": "", "type": "ai", "tool_calls": [{"name": "book", "args": {"n": None}}]},
    {"content": "ok", "type": "tool"},
    {"content": "Done.", "type": "ai"},
]


def test_conversations_are_read_and_go_back(tmp_path: Path) -> None:
    row = {"user_input": TALK, "reference": "booked", "reference_tool_calls": [{"name": "book", "args": {"n": "$x"}}], "reference_topics": ["t"]}  # fmt: skip
    for name, content in (("m.json", [row]), ("m.csv", csv_of(row, repr))):
        bundle = read(tmp_path, name, content)
        (case,), (output,) = bundle.cases, bundle.outputs
        assert (output.text, output.error) == ("Done.", None)
        call = output.tool_calls[0]
        assert (call.name, call.arguments, call.result) == ("book", {"n": None}, "ok")
        assert case.expected_calls is not None
        assert case.expected_calls.calls[0].arguments == {"n": "$x"}
        assert len(output.messages) == 4
    bundle = read(tmp_path, "m.json", [row])
    DATASET.write(bundle, tmp_path / "again.jsonl", WriteOptions())
    again = json.loads((tmp_path / "again.jsonl").read_text())
    assert {key: again[key] for key in ("reference", "reference_tool_calls", "reference_topics")} == {key: row[key] for key in ("reference", "reference_tool_calls", "reference_topics")}  # fmt: skip
    assert again["user_input"] == TALK
    assert DATASET.read(tmp_path / "again.jsonl", ReadOptions())[0] == bundle


@pytest.mark.parametrize("name", ["dataset.csv", "dataset.jsonl", "dataset_multi_turn.jsonl"])
def test_what_ragas_wrote_is_read_and_recognised(name: str) -> None:
    bundle, report = DATASET.read(NATIVE / name, ReadOptions())
    assert len(bundle.cases) == len(bundle.outputs) > 0
    assert "dropped" not in report.counts
    assert detect_format(NATIVE / name) is DATASET


def test_results_stay_results() -> None:
    for path in (NATIVE / "result.csv", NATIVE / "result_records.jsonl"):
        assert detect_format(path).info.name == "ragas"


def test_rows_without_a_question_are_left_out_and_named(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes("frage;antwort;punkte\nWas, wo?;Ä;0,5\n;;0,75\n".encode("cp1252"))
    bundle, report = DATASET.read(path, ReadOptions())
    assert [(case.input, case.expected) for case in bundle.cases] == [("Was, wo?", "Ä")]
    assert bundle.cases[0].extras == {"ragas": {"punkte": "0,5"}}
    assert report.counts == {"native": 2, "carried": 1, "dropped": 3}
    notes = " ".join(report.notes)
    for part in ("Windows-1252", "semicolons", "user_input from 'frage'", "1 rows left out"):
        assert part in notes


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"colour": "red"}], "no RAGAS dataset: no row asks anything"),
        ([{"user_input": "q", "reference_tool_calls": [3]}], "no tool call"),
        ([{"bridge": {"dataset": 1, "case": 3}, "user_input": "q"}], "damaged"),
        ([{"bridge": {"dataset": 1, "case": {}, "output": 3}, "user_input": "q"}], "damaged"),
        ([{"bridge": {"dataset": 1, "case": {}, "set": {"cases": 3}}, "user_input": "q"}], "damaged"),
    ],
)  # fmt: skip
def test_hostile_files_end_in_one_line(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message) as caught:
        DATASET.read(path, ReadOptions())
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="written as JSON Lines"):
        DATASET.write(Bundle(), tmp_path / "x.csv", WriteOptions())
