"""A bundle as a dataset that DeepEval loads, and a pytest file that ``deepeval test run`` runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from bridge.files.jsonl import write_atomically
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import (
    NATIVE,
    Claims,
    account_bundle,
    carried,
    dropped,
    untouched,
)
from bridge.plugin.carry import KEY
from bridge.plugin.cases.dataset import (
    SET,
    Answered,
    answered,
    difference,
    named_checks,
    output_parts,
    set_parts,
)
from bridge.plugin.cases.script import identifier, literal
from bridge_deepeval.calls import Fields
from bridge_deepeval.dataset.reading import BESIDE, FORMAT_NAME, pair_of_row
from bridge_deepeval.dataset.rows import to_row

CONVERSATIONS = "conversations"
"""Middle of the name of the second file, where some cases have turns and some have not."""
NOT_LOADED = frozenset({"tags", "completion_time"})
"""Fields of test cases that are none of goldens: DeepEval's loaders leave them out."""
WHY = "DeepEval has no field for it: kept in additional_metadata"


def write_dataset(bundle: Bundle, dest: Path, *, tests: bool) -> ConversionReport:
    """Write goldens as JSON, in two files where there are both kinds.

    Args:
        bundle: What is written.
        dest: The file.
        tests: Whether a pytest file is written beside it.

    Raises:
        InputError: If there is no case, or ``dest`` is no JSON file.
        InfrastructureError: If it cannot be written.
    """
    if dest.suffix.lower() != ".json":
        fix = f"write {dest.with_suffix('.json').name}: CSV and JSON Lines cut contexts at '|'"
        raise InputError("a DeepEval dataset is written as JSON", where=dest, fix=fix)
    pairs = answered(bundle)
    if not pairs:
        raise InputError("there is no case", where=dest, fix="convert a file with cases")
    halves = _halves(dest, pairs)
    for number, (path, half) in enumerate(halves):
        rows = [_row(pair) for pair in half]
        if number == 0:
            _carry_set(rows[0], bundle, [pair for _, each in halves for pair in each], halves)
        write_atomically(path, _chunks(rows))
    script = test_file(dest)
    if tests:
        names = [path.name for path, _ in halves]
        write_atomically(dest.with_name(script), [_script(names, bundle)])
    return account_bundle(bundle, _claims(), dest, FORMAT_NAME, _notes(pairs, script, tests))


def _halves(dest: Path, pairs: Sequence[Answered]) -> list[tuple[Path, list[Answered]]]:
    """The rows of each file: DeepEval refuses goldens and conversational goldens in one."""
    single = [pair for pair in pairs if not pair[0].turns]
    turned = [pair for pair in pairs if pair[0].turns]
    beside = dest.with_name(f"{dest.stem}.{CONVERSATIONS}{dest.suffix}")
    halves = [(dest, single), (beside if single else dest, turned)]
    return [(path, half) for path, half in halves if half]


def _row(pair: Answered) -> Fields:
    """A golden with what it does not say."""
    case, output = pair
    row = to_row(case, output)
    read_case, read_output = pair_of_row(untouched(row, NOT_LOADED))
    parts: Fields = {"case": difference(case, read_case)}
    parts |= output_parts(output, read_output)
    row["additional_metadata"] = {**row.get("additional_metadata", {}), KEY: parts}
    return row


def _carry_set(
    row: Fields, bundle: Bundle, rows: Sequence[Answered], halves: Sequence[tuple[Path, object]]
) -> None:
    """Put what belongs to no case into a row."""
    parts = row["additional_metadata"][KEY]
    if found := set_parts(bundle, rows):
        parts[SET] = found
    for path, _ in halves[1:]:
        parts[BESIDE] = path.name


def _chunks(rows: Sequence[Fields]) -> Iterator[str]:
    yield "[\n"
    for number, row in enumerate(rows):
        end = ",\n" if number < len(rows) - 1 else "\n"
        yield json.dumps(row, ensure_ascii=False, allow_nan=False) + end
    yield "]\n"


def test_file(dest: Path) -> str:
    """The name of the pytest file beside a dataset."""
    return f"test_{identifier(dest.stem)}.py"


def _script(names: Sequence[str], bundle: Bundle) -> str:
    return _TEMPLATE.format(datasets=literal(names), checks=literal(named_checks(bundle)))


_TEMPLATE = '''"""Runs a dataset in DeepEval with the shared scorers: ``deepeval test run FILE``.

A golden without a recorded answer fails until ``answer`` asks your system.
"""

from pathlib import Path

import pytest
from bridge_deepeval.dataset.native import assert_scored, load_goldens, metrics_of, to_test_case
from deepeval import assert_test

DATASETS = {datasets}
CHECKS = {checks}
GOLDENS = load_goldens(Path(__file__).with_name(name) for name in DATASETS)


def answer(golden):
    """The golden as it is; put your system's answer into ``golden.actual_output`` here."""
    return golden


@pytest.mark.parametrize("golden", GOLDENS, ids=[golden.name for golden in GOLDENS])
def test_golden(golden):
    test_case = to_test_case(answer(golden))
    metrics = metrics_of(test_case, CHECKS)
    assert_test(test_case, metrics, run_async=False)
    assert_scored(metrics)
'''


def _claims() -> Claims:
    """What became of every neutral field."""
    native = ("id", "input", "expected", "reference_contexts", "expected_calls", "turns", "tags")
    answers = (
        "case_id",
        "text",
        "turns",
        "tool_calls",
        "retrieved_contexts",
        "usage",
        "cost_usd",
    )
    return Claims(
        {
            "cases[].*": carried(WHY),
            **{f"cases[].{field}": NATIVE for field in (*native, "metadata", "extras.deepeval")},
            "cases[].checks": carried("run by the pytest file; kept in additional_metadata"),
            "outputs[].*": carried(WHY),
            **{f"outputs[].{field}": NATIVE for field in answers},
            "suite.*": carried("no part of a DeepEval dataset: kept in additional_metadata"),
            "suite.checks": NATIVE,
            "scores[].*": dropped("a dataset holds no scores: write results"),
        }
    )


def _notes(pairs: Sequence[Answered], script: str, tests: bool) -> Iterator[str]:
    if tests:
        yield f"run it with: deepeval test run {script}"
    blank = sum(output is None for _, output in pairs)
    if tests and blank:
        yield f"{blank} goldens have no recorded answer: they fail until {script} asks your system"
    if len({bool(case.turns) for case, _ in pairs}) > 1:
        yield f"cases with turns stand in a second file (*.{CONVERSATIONS}.json)"
