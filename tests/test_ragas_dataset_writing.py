"""Any bundle as a RAGAS dataset and back: nothing is lost, and what people change is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from dataset_bundles import answered
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import OUTPUTS
from strategies_suite import BUNDLES

from bridge.model import Bundle, Case, Output
from bridge.plugin.accounts.accounting import count_leaves
from bridge.plugin.carry import plain
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge_ragas.dataset import DATASET

Folder = Callable[[], Path]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A new folder for each example."""
    return lambda: tmp_path_factory.mktemp("dataset")


def read(path: Path) -> Bundle:
    return DATASET.read(path, ReadOptions())[0]


def test_malformed_arguments_are_seen_by_ragas_too(folder: Folder) -> None:
    call = {"name": "f", "arguments": "{cut"}
    case = Case(id="c", input="q", expected="")
    output = Output.model_validate({"case_id": "c", "text": "a", "tool_calls": [call]})
    bundle = Bundle(cases=(case,), outputs=(output,))
    path = folder() / "ragas.jsonl"
    DATASET.write(bundle, path, WriteOptions())
    said = json.loads(path.read_text("utf-8"))["user_input"]
    assert said[1]["tool_calls"] == [{"name": "f", "args": {"arguments": "{cut"}}]
    assert read(path) == bundle


UNANSWERED = Case.model_validate(
    {
        "id": "a",
        "input": [{"role": "assistant", "content": "Yes?"}],
        "expected": None,
        "expected_calls": {"calls": []},
    }
)
"""Its last message is the system's, and no answer to it all the same."""


@settings(max_examples=40)
@given(bundle=BUNDLES, outputs=st.lists(OUTPUTS, max_size=4))
@example(bundle=Bundle(cases=(UNANSWERED,)), outputs=[])
def test_what_is_written_is_read(folder: Folder, bundle: Bundle, outputs: list[Output]) -> None:
    bundle = answered(bundle, outputs)
    path = folder() / "ragas.jsonl"
    report = DATASET.write(bundle, path, WriteOptions())
    again = read(path)
    assert again.cases == bundle.cases
    assert again.outputs == bundle.outputs
    assert again.suite == bundle.suite
    assert report.total == count_leaves(plain(bundle))
    assert "dropped" not in report.counts
