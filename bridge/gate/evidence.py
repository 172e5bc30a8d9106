"""What the gate decides on: rows from runs and result files, and what is known about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from bridge.files.jsonl import read_lines
from bridge.files.scores import ScoreRow, score_line, stream_rows
from bridge.files.store import RunStore
from bridge.gate.table import Table, TableBuilder
from bridge.model.conversion import ConversionReport
from bridge.model.errors import InputError
from bridge.model.run import ExpectedRows, FrameworkRecord, MetricRecord, RunRecord
from bridge.plugin.format import ReadOptions
from bridge.plugin.registry import detect_format


class _OutputCost(msgspec.Struct, gc=False):
    latency_s: float | None = None
    cost_usd: float | None = None
    usage: dict[str, object] | None = None


@dataclass(slots=True)
class Spent:
    """What the system took for its answers."""

    latency_s: float = 0.0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Rows and their background.

    Attributes:
        table: The rows.
        expected: For each framework of a run, the rows it owes; empty for loose files.
        cases: What a run says of its cases, by id.
        metrics: What a run says of its metrics.
        records: The runs themselves.
        frameworks: What the runs say of their frameworks.
        notes: What a reader should know.
        spent: What the systems took.
    """

    table: Table
    expected: Mapping[str, Sequence[ExpectedRows]]
    cases: Mapping[str, ExpectedRows]
    metrics: Mapping[str, MetricRecord]
    records: Sequence[RunRecord]
    frameworks: Sequence[FrameworkRecord]
    notes: Sequence[str]
    spent: Spent


@dataclass(slots=True)
class _Gathering:
    builder: TableBuilder = field(default_factory=TableBuilder)
    expected: dict[str, list[ExpectedRows]] = field(default_factory=dict)
    cases: dict[str, ExpectedRows] = field(default_factory=dict)
    metrics: dict[str, MetricRecord] = field(default_factory=dict)
    records: list[RunRecord] = field(default_factory=list)
    frameworks: list[FrameworkRecord] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)


def gather(sources: Sequence[Path], frameworks: Sequence[str] = ()) -> Evidence:
    """Read runs and result files of any framework into one body of evidence.

    Args:
        sources: Run directories, scores files, native result files.
        frameworks: Only these frameworks of a run; all if empty.

    Raises:
        InputError: If a source is faulty, unknown, or holds no score.
    """
    so_far = _Gathering()
    for source in sources:
        before = len(so_far.builder.columns[0])
        if RunStore(source).exists():
            _add_run(RunStore(source), so_far, frameworks)
        else:
            _add_file(source, so_far)
        if len(so_far.builder.columns[0]) == before:
            raise InputError("holds no score", where=source, fix="nothing was measured there")
    return Evidence(
        table=so_far.builder.build(),
        expected=so_far.expected,
        cases=so_far.cases,
        metrics=so_far.metrics,
        records=so_far.records,
        frameworks=so_far.frameworks,
        notes=so_far.notes,
        spent=so_far.spent,
    )


def _add_run(store: RunStore, so_far: _Gathering, only: Sequence[str]) -> None:
    record = store.read_record()
    so_far.records.append(record)
    so_far.metrics.update(record.metrics)
    so_far.notes.extend(record.notes)
    rows = list(store.read_rows())
    so_far.cases.update((row.case_id, row) for row in rows)
    for config in record.suite.frameworks:
        if only and config.name not in only:
            continue
        so_far.expected.setdefault(config.name, []).extend(rows)
        path = store.scores_path(config.name)
        if path.is_file():
            _add_rows(path, so_far.builder)
    so_far.frameworks.extend(f for f in record.frameworks if not only or f.name in only)
    _add_spent(store.outputs_path, so_far.spent)


def _add_rows(path: Path, builder: TableBuilder) -> None:
    for number, row in stream_rows(path):
        _add_row(row, builder, path, number)


def _add_row(row: ScoreRow, builder: TableBuilder, path: Path, number: int | None) -> None:
    try:
        builder.add(row)
    except (ValueError, OverflowError) as error:
        what = f"{row.metric} of case {row.case_id!r}: {error}"
        raise InputError(what, where=path, line=number, fix="mend the row") from None


def _add_file(path: Path, so_far: _Gathering) -> None:
    if path.suffix == ".jsonl" and _is_scores(path):
        _add_rows(path, so_far.builder)
        return
    found = detect_format(path)
    bundle, report = found.read(path, ReadOptions())
    so_far.notes.extend(_noted(report))
    decoder = msgspec.json.Decoder(ScoreRow)
    for score in bundle.scores:
        _add_row(decoder.decode(score_line(score)), so_far.builder, path, None)


def _is_scores(path: Path) -> bool:
    line = next(iter(read_lines(path)), None)
    return line is not None and b'"metric"' in line[1] and b'"status"' in line[1]


def _noted(report: ConversionReport) -> list[str]:
    return [f"{report.source}: {note}" for note in report.notes]


def _add_spent(path: Path, spent: Spent) -> None:
    if not path.is_file():
        return
    decoder = msgspec.json.Decoder(_OutputCost)
    for _, line in read_lines(path):
        output = decoder.decode(line)
        spent.latency_s += output.latency_s or 0.0
        spent.cost_usd += output.cost_usd or 0.0
        usage = output.usage or {}
        spent.input_tokens += _whole(usage.get("input_tokens"))
        spent.output_tokens += _whole(usage.get("output_tokens"))


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
