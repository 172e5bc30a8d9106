"""What the frameworks themselves wrote, read and written in the same format again.

Neutral: the very cases, outputs, scores and suite come back. Native: what people wrote in a dataset
or a config stands in its own fields again, whatever we carry beside it.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from bridge import convert
from bridge.conversion.guide.trace import document_of, target_name
from bridge.files.foreign.cells import parse_cell
from bridge.model import Bundle, Score
from bridge.plugin.carry import KEY
from bridge.plugin.cases.columns import folded
from bridge.plugin.format import Format, ReadOptions
from bridge.plugin.registry import detect_format, framework_names

NATIVE = ROOT / "tests" / "native"
SAMPLES = ROOT / "docs" / "migrate" / "samples"
FILES = [
    path
    for folder in (NATIVE, SAMPLES)
    for path in sorted(folder.glob("*/*"))
    if path.suffix not in (".py", ".md") and path.parent.name in framework_names()
]
DATASETS = [path for path in FILES if "scores" not in detect_format(path).info.reads]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def again(source: Path, folder: Path) -> tuple[Path, Format]:
    """A file written in its own format from what was read of it; nothing of it is lost."""
    format_ = detect_format(source)
    target = folder / "again" / target_name(format_)
    done = convert(source, target, reader=format_, writer=format_)
    lost = [line for line in done.written.lines if line.fate == "dropped"]
    assert not lost, lost
    return target, format_


def read(path: Path, format_: Format) -> Bundle:
    bundle, _ = format_.read(path, ReadOptions())
    return bundle


def test_files_of_every_framework_are_there() -> None:
    assert {path.parent.name for path in FILES} == {*framework_names()} - {"core"}
    assert {detect_format(path).info.name for path in FILES} == {
        f"{name}{kind}"
        for name in ("deepeval", "inspect", "ragas")
        for kind in ("", "_dataset")
    } | {"promptfoo", "promptfoo_config"}  # fmt: skip


@pytest.mark.parametrize("source", FILES, ids=named)
def test_the_neutral_form_comes_back(source: Path, tmp_path: Path) -> None:
    target, format_ = again(source, tmp_path)
    first, second = read(source, format_), read(target, format_)
    assert second.cases == first.cases
    assert second.outputs == first.outputs
    assert by_key(second) == by_key(first)
    assert second.suite == first.suite


def by_key(bundle: Bundle) -> dict[Any, Score]:
    """Rows join by key: those that are owed stand elsewhere in a file that has them."""
    found = {row.key: row for row in bundle.scores}
    assert len(found) == len(bundle.scores)
    return found


def rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return [dict(row) for row in csv.DictReader(file)]
    rows: list[dict[str, Any]] = document_of(path)
    return rows


def plain(value: Any) -> Any:
    """A value without what is empty or ours, its keys in one spelling, cells parsed."""
    if isinstance(value, Mapping):
        kept = {folded(key): plain(item) for key, item in value.items() if key != KEY}
        return {key: item for key, item in kept.items() if item not in (None, "", [], {})}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, str):
        parsed = parse_cell(value)
        return plain(parsed) if isinstance(parsed, list | dict) else value
    return value


@pytest.mark.parametrize("source", [path for path in DATASETS if path.suffix != ".yaml"], ids=named)
def test_what_people_wrote_in_a_dataset_stands_there_again(source: Path, tmp_path: Path) -> None:
    target, _ = again(source, tmp_path)
    before, after = rows_of(source), rows_of(target)
    assert len(after) == len(before)
    for wrote, reads in zip(before, after, strict=True):
        shown = plain(reads)
        for field, value in plain(wrote).items():
            assert shown.get(field) == value, field


def effective(config: Any, tests: list[Any]) -> list[dict[str, Any]]:
    """The tests of a config with its defaults, as promptfoo runs them."""
    default = config.get("defaultTest", {})
    found = []
    for test in tests:
        asserts = [*default.get("assert", ()), *test.get("assert", ())]
        options = {**default.get("options", {}), **test.get("options", {})}
        found.append({**test, "assert": asserts, "options": options})
    return found


def test_what_people_wrote_in_a_config_stands_there_again(tmp_path: Path) -> None:
    (source,) = (path for path in DATASETS if path.suffix == ".yaml")
    target, _ = again(source, tmp_path)
    wrote, reads = document_of(source), document_of(target)
    around = {key: value for key, value in wrote.items() if key not in ("tests", "defaultTest")}
    assert {key: reads[key] for key in around} == around
    tests = effective(reads, document_of(target.with_name(f"{target.stem}.tests.jsonl")))
    for before, after in zip(effective(wrote, wrote["tests"]), tests, strict=True):
        own = {"case_id", "epoch", KEY}
        metadata = {key: item for key, item in after["metadata"].items() if key not in own}
        assert {**after, "metadata": metadata} == {"metadata": {}, **before}
