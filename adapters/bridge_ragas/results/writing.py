"""Scores as a RAGAS result in CSV, as ``EvaluationResult.to_pandas().to_csv()`` leaves one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bridge.files.jsonl import write_atomically
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionReport
from bridge.model.message import as_text, passage_text
from bridge.plugin.accounts.accounting import account_bundle
from bridge.plugin.carry import KEY, held_input, held_reference, plain
from bridge.plugin.results.writing import Scored, encode_scores, scored, version_of, write_claims
from bridge.plugin.scoring.shared import summarise
from bridge_ragas.artefact import to_csv
from bridge_ragas.records import column_of
from bridge_ragas.rows import NAME

HELD = {
    "cases": ("input", "expected", "reference_contexts"),
    "outputs": ("text", "retrieved_contexts"),
    "scores": ("metric", "value"),
}


def write_result(bundle: Bundle, dest: Path) -> ConversionReport:
    """Write a result; tool calls and turns are carried, since a CSV row is one exchange.

    Raises:
        InfrastructureError: If the disk does not take it.
    """
    write_atomically(dest, to_csv(_rows(scored(bundle), version_of(bundle, NAME))))
    return account_bundle(bundle, write_claims(HELD, bundle, NAME), dest, NAME)


def _rows(answers: Sequence[Scored], version: str) -> list[Mapping[str, Any]]:
    metrics = dict.fromkeys(name for each in answers for name in each.metrics)
    return [_row(each, metrics, version) for each in answers]


def _row(each: Scored, metrics: Iterable[str], version: str) -> Mapping[str, Any]:
    """A row; a metric that this case has not is told from one that gave no value."""
    case, output = each.case, each.output
    found = {name: {"rows": encode_scores(each.metrics.get(name, ()))} for name in metrics}
    carried = {"case": plain(case), "output": plain(output), "found": found}
    carried |= {"ragas": version} if version else {}
    return {
        "user_input": held_input(plain(case.input)),
        "retrieved_contexts": [passage_text(one) for one in output.retrieved_contexts],
        "reference_contexts": [passage_text(one) for one in case.reference_contexts],
        "response": as_text(output.text),
        "reference": held_reference(case.expected),
        **{
            column_of(name): summarise(each.metrics[name]).value if name in each.metrics else None
            for name in metrics
        },
        KEY: msgspec.json.encode(carried).decode(),
    }
