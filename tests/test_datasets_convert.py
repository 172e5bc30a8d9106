"""`bridge convert` to and from the datasets of the frameworks, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Bridge
from dataset_bundles import a_case

from bridge.files.golden import write_cases
from bridge.model.errors import InputError
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import get_format

CASES = (
    a_case(id="a", input="Who?", expected="Ada", reference_contexts=["x"], tags=["t"], checks=["equals"]),
    a_case(id="b", input="Two", expected="", turns=[{"user": "hi"}, {"user": "ho"}]),
)  # fmt: skip
WRITTEN = {
    "deepeval_dataset": ("goldens.json", {"goldens.conversations.json", "test_goldens.py"}),
    "inspect_dataset": ("samples.jsonl", {"samples_task.py"}),
    "ragas_dataset": ("ragas.jsonl", {"run_ragas.py"}),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_there_and_back_loses_nothing(bridge: Bridge, tmp_path: Path, name: str) -> None:
    file, beside = WRITTEN[name]
    source, folder, back = tmp_path / "cases.jsonl", tmp_path / "out", tmp_path / "back.jsonl"
    write_cases(CASES, source)
    done = bridge("convert", str(source), str(folder / file), "--strict")
    assert done.returncode == 0, done
    assert {path.name for path in folder.iterdir()} == {file, *beside}
    for script in folder.glob("*.py"):
        compile(script.read_text(), script.name, "exec")
    done = bridge("convert", str(folder / file), str(back), "--to", "golden_set", "--strict")
    assert done.returncode == 0, done
    assert back.read_text() == source.read_text()


HOSTILE = [
    "",
    "[]",
    "{",
    "[[1]]",
    "\0\0",
    "[" * 50_000,
    "version https://git-lfs.github.com/spec/v1\n",
]


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_no_dataset_is_refused_in_one_line(tmp_path: Path, name: str, content: str) -> None:
    source = tmp_path / "x.json"
    source.write_text(content)
    with pytest.raises(InputError) as caught:
        get_format(name).read(source, ReadOptions())
    assert str(caught.value).startswith(str(source))
    assert "\n" not in str(caught.value)


def test_a_faulty_dataset_is_exit_2(bridge: Bridge, tmp_path: Path) -> None:
    source = tmp_path / "goldens.jsonl"
    source.write_text('{"input": "q"}\n{"input": ')
    done = bridge("convert", source, tmp_path / "y.jsonl", "--from", "deepeval_dataset", "--to", "golden_set")  # fmt: skip
    assert done.returncode == 2, done
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"{source}:2" in done.stderr


def test_between_two_frameworks(bridge: Bridge, tmp_path: Path) -> None:
    source = tmp_path / "old.csv"
    source.write_text("question,answer,contexts,ground_truth\nq,a,\"['c']\",e\n")
    done = bridge("convert", str(source), str(tmp_path / "goldens.json"))
    assert done.returncode == 0, done
    (row,) = json.loads((tmp_path / "goldens.json").read_text())
    assert (row["input"], row["actual_output"], row["expected_output"]) == ("q", "a", "e")
    assert row["retrieval_context"] == ["c"]
