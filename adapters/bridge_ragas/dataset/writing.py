"""A bundle as a dataset that RAGAS loads, and a script that scores it there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bridge.files.jsonl import write_atomically
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.plugin.accounts.accounting import NATIVE, Claims, account_bundle, carried, dropped
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
from bridge_ragas.calls import Fields
from bridge_ragas.dataset.reading import FORMAT_NAME, MARK, TURNED, pair_of_row
from bridge_ragas.dataset.rows import id_of, line_of, to_row

WHY = "RAGAS has no column for it: kept in the column bridge, which RAGAS leaves alone"

MULTI_LACKS = carried("a multi-turn sample has no column for it: kept in the column bridge")


def write_dataset(bundle: Bundle, dest: Path, *, script: bool) -> ConversionReport:
    """Write samples as JSON Lines.

    Args:
        bundle: What is written.
        dest: The file.
        script: Whether a script that runs it is written beside it.

    Raises:
        InputError: If there is no case, or ``dest`` is no JSON Lines file.
        InfrastructureError: If it cannot be written.
    """
    if dest.suffix.lower() != ".jsonl":
        fix = f"write {dest.with_suffix('.jsonl').name}: RAGAS reads lists in CSV as texts"
        raise InputError("a RAGAS dataset is written as JSON Lines", where=dest, fix=fix)
    pairs = answered(bundle)
    if not pairs:
        raise InputError("there is no case", where=dest, fix="convert a file with cases")
    rows = [_row(pair) for pair in pairs]
    if found := set_parts(bundle, pairs):
        rows[0][KEY][SET] = found
    write_atomically(dest, map(line_of, rows))
    name = script_file(dest)
    if script:
        values = {"dataset": literal(dest.name), "checks": literal(named_checks(bundle))}
        write_atomically(dest.with_name(name), [_TEMPLATE.format(**values)])
    notes = _notes(pairs, rows, name, script)
    return account_bundle(bundle, _claims(bundle, pairs, rows), dest, FORMAT_NAME, notes)


def _row(pair: Answered) -> Fields:
    """A sample with what it does not say, which comes first and marks the file as ours."""
    case, output = pair
    row = to_row(case, output)
    if id_of(row) != case.id:
        row = {"id": case.id, **row}
    turned = bool(case.turns)
    read_case, read_output = pair_of_row(row, turned=turned)
    parts: Fields = {MARK: 1, "case": difference(case, read_case)}
    if turned:
        parts[TURNED] = True
    parts |= output_parts(output, read_output)
    return {KEY: parts, **row}


def script_file(dest: Path) -> str:
    """The name of the script beside a dataset."""
    return f"run_{identifier(dest.stem)}.py"


_TEMPLATE = '''"""Scores recorded outputs in RAGAS with the shared scorers: ``python FILE``.

The scores of each row are left in ``*.scores.csv`` beside the dataset. Exits 1 where a check of the
suite failed or could not be scored.
"""

import sys
from pathlib import Path

from bridge_ragas.dataset.native import failures, load_datasets, metrics, write_scores
from ragas import evaluate

DATASET = Path(__file__).with_name({dataset})
CHECKS = {checks}

if __name__ == "__main__":
    failed = []
    for dataset in load_datasets(DATASET):
        result = evaluate(dataset, metrics(DATASET, CHECKS), show_progress=False)
        print(result)
        print(write_scores(result, dataset, DATASET))
        failed += failures(result, dataset)
    sys.exit("\\n".join(failed) or None)  # a text is printed, and the exit code is 1
'''


def _claims(bundle: Bundle, pairs: Sequence[Answered], rows: Sequence[Fields]) -> Claims:
    """What became of every neutral field."""
    native = ("input", "expected", "reference_contexts", "expected_calls", "turns")
    held = ("text", "turns", "messages", "tool_calls", "retrieved_contexts")
    claims = Claims(
        {
            "cases[].*": carried(WHY),
            "cases[].id": carried("the column id, which RAGAS leaves alone"),
            **{f"cases[].{field}": NATIVE for field in (*native, "persona", "extras.ragas")},
            "cases[].checks": carried("run by the script; kept in the column bridge"),
            "outputs[].*": carried(WHY),
            **{f"outputs[].{field}": NATIVE for field in (*held, "extras.ragas")},
            "suite.*": carried("no part of a RAGAS dataset: kept in the column bridge"),
            "suite.checks": NATIVE,
            "scores[].*": dropped("a dataset holds no scores: write results"),
        }
    )
    places = {case.id: number for number, case in enumerate(bundle.cases)}
    answers = {output.key: number for number, output in enumerate(bundle.outputs)}
    for (case, output), row in zip(pairs, rows, strict=True):
        if isinstance(row["user_input"], list):
            lacks = ("reference_contexts", "persona", *(["input"] if case.turns else []))
            for field in lacks:
                claims.put(MULTI_LACKS, "cases", places[case.id], field)
            if output is not None:
                claims.put(MULTI_LACKS, "outputs", answers[output.key], "retrieved_contexts")
    return claims


def _notes(
    pairs: Sequence[Answered], rows: Sequence[Fields], name: str, script: bool
) -> Iterator[str]:
    if script:
        yield f"run it with: python {name}"
    if len({isinstance(row["user_input"], list) for row in rows}) > 1:
        yield (
            "it holds single- and multi-turn samples, which one dataset of RAGAS's cannot: "
            f"{name} makes two of them"
        )
    blank = sum(output is None for _, output in pairs)
    if blank:
        yield f"{blank} cases have no recorded output: they are scored as errors"
