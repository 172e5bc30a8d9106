"""Any bundle as a DeepEval dataset and back: nothing is lost, and what people change is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from dataset_bundles import a_case, answered
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import OUTPUTS
from strategies_suite import BUNDLES

from bridge.model import Bundle, Output
from bridge.plugin.accounts.accounting import count_leaves
from bridge.plugin.carry import plain
from bridge.plugin.format import ReadOptions, WriteOptions
from bridge_deepeval.dataset import DATASET

Folder = Callable[[], Path]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A new folder for each example."""
    return lambda: tmp_path_factory.mktemp("dataset")


def read(path: Path) -> Bundle:
    return DATASET.read(path, ReadOptions())[0]


@settings(max_examples=40)
@given(bundle=BUNDLES, outputs=st.lists(OUTPUTS, max_size=4))
def test_what_is_written_is_read(folder: Folder, bundle: Bundle, outputs: list[Output]) -> None:
    bundle = answered(bundle, outputs)
    path = folder() / "goldens.json"
    report = DATASET.write(bundle, path, WriteOptions())
    again = read(path)
    assert again.cases == bundle.cases
    assert again.outputs == bundle.outputs
    assert again.suite == bundle.suite
    assert report.total == count_leaves(plain(bundle))
    assert "dropped" not in report.counts


def test_the_order_of_cases_survives_two_files(tmp_path: Path) -> None:
    """DeepEval keeps conversations apart; the cases of a bundle stand in any order."""
    talk = [{"user": "hi"}]
    cases = [a_case(id=name, input="q", expected="", turns=talk if name in "ac" else []) for name in "abcd"]  # fmt: skip
    DATASET.write(Bundle(cases=tuple(cases)), tmp_path / "goldens.json", WriteOptions())
    assert [case.id for case in read(tmp_path / "goldens.json").cases] == list("abcd")
