"""The native artefact: a RAGAS result as CSV and JSON Lines, with what its numbers cannot say.

A RAGAS value is a bare number and its rows have no id. So each row has one more column,
``bridge``: the case's id and epoch, what its sample carries, and status and reason of each metric.
Errors, which RAGAS shows as blanks, are told in a text file of their own.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bridge.files.jsonl import write_atomically
from bridge.model.errors import InputError
from bridge.plugin.carry import KEY
from bridge_ragas.cases import packed
from bridge_ragas.held import Kind
from bridge_ragas.records import column_of
from bridge_ragas.rows import to_number

if TYPE_CHECKING:
    from ragas.callbacks import MetricTrace
    from ragas.dataset_schema import EvaluationResult


def to_result(samples: Sequence[Any], traces: Sequence[MetricTrace], name: str) -> EvaluationResult:
    """Samples with what was found, as ``evaluate`` would return them.

    Args:
        samples: The samples, all of one kind.
        traces: What was found of each, in the same order.
        name: Name of the dataset.
    """
    from ragas.callbacks import ChainRun, ChainType
    from ragas.dataset_schema import EvaluationDataset, EvaluationResult

    root = ChainRun(
        run_id="root",
        parent_run_id=None,
        name="ragas evaluation",
        inputs={},
        metadata={"type": ChainType.EVALUATION},
    )
    result = EvaluationResult(
        scores=[
            {metric: _number_or_nan(value) for metric, value in each.scores.items()}
            for each in traces
        ],
        dataset=EvaluationDataset(samples=list(samples), name=name),
        ragas_traces={"root": root},
    )
    result.traces = list(traces)
    return result


def _number_or_nan(value: Any) -> float:
    """RAGAS's traces have ``{}`` where its scores have NaN: for a metric that raised."""
    number = to_number(value)
    return math.nan if number is None else number


def write_result(result: EvaluationResult, folder: Path, name: str, kind: Kind) -> None:
    """Write ``<name>.<kind>.csv`` and ``.jsonl``, and ``.errors.txt`` if there are any.

    Raises:
        InputError: If a case stands twice in an epoch.
        InfrastructureError: If the disk does not take it.
    """
    stamp = {"ragas": metadata.version("ragas")}
    extra = [
        {**packed(sample), "found": _found(trace), **stamp}
        for sample, trace in zip(result.dataset, result.traces, strict=True)
    ]
    _refuse_twice(extra)
    rows = [
        {**sample, **_blank(scores), KEY: msgspec.json.encode(each).decode()}
        for sample, scores, each in zip(result.dataset.to_list(), result.scores, extra, strict=True)
    ]
    write_atomically(folder / f"{name}.{kind}.csv", to_csv(rows))
    write_atomically(folder / f"{name}.{kind}.jsonl", map(to_line, rows))
    errors = [line for each in extra for line in _errors(each)]
    if errors:
        write_atomically(folder / f"{name}.{kind}.errors.txt", errors)


def _blank(scores: Mapping[str, float]) -> dict[str, float | None]:
    return {
        column_of(metric): None if math.isnan(value) else value for metric, value in scores.items()
    }


def _found(trace: Mapping[str, Any]) -> dict[str, Any]:
    """What each metric left of a row, which RAGAS's own columns cannot hold."""
    return {metric: left[KEY]["output"] for metric, left in trace.items() if KEY in left}


def _refuse_twice(extra: Iterable[Mapping[str, Any]]) -> None:
    seen = set()
    for each in extra:
        key = (each["case"]["id"], each["output"].get("epoch", 1))
        if key in seen:
            raise InputError(f"sample {key[0]!r} stands twice in epoch {key[1]}")
        seen.add(key)


def to_csv(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Rows as ``EvaluationResult.to_pandas().to_csv(index=False)`` has them.

    Other than there, a cell with a carriage return is quoted: no reader takes it for a new row.
    """
    columns = list(dict.fromkeys(column for row in rows for column in row if column != KEY))
    lines: list[str] = []
    writer = csv.writer(_Lines(lines))
    writer.writerow([*columns, KEY])
    for row in rows:
        writer.writerow([row.get(column) for column in (*columns, KEY)])
    yield from lines


class _Lines:
    r"""What a CSV writer writes to.

    A row comes with ``\r\n`` at its end, since before Python 3.11.9 the writer quotes only those
    line breaks that it ends rows with (python/cpython#67044).
    """

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def write(self, row: str) -> None:
        self._lines.append(row.removesuffix("\r\n") + "\n")


def to_line(row: Mapping[str, Any]) -> str:
    """A row as a line of JSON."""
    whole = {**row, KEY: msgspec.Raw(row[KEY].encode())}
    return f"{msgspec.json.encode(whole).decode()}\n"


def _errors(extra: Mapping[str, Any]) -> Iterator[str]:
    for metric, found in extra["found"].items():
        for row in found["rows"]:
            if row["status"] == "error":
                turn = f", turn {row['turn']}" if row.get("turn") is not None else ""
                place = f"{extra['case']['id']}, epoch {extra['output'].get('epoch', 1)}{turn}"
                text = f"{place}: {metric}: {row['error']}"
                yield "".join(char if char.isprintable() else " " for char in text) + "\n"
