"""Runs and result files of any framework, read into one body of evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

import msgspec

from bridge.files.digest import case_digest, judge_digest, set_digest
from bridge.files.golden import GoldenSet
from bridge.files.jsonl import read_lines
from bridge.files.scores import ScoreRow, as_row, stream_rows
from bridge.files.store import RunStore
from bridge.gate.intake.evidence import REASON_LIMIT, Evidence, Source, Spent
from bridge.gate.intake.rows import RowError, TableBuilder
from bridge.model.errors import InputError
from bridge.model.output import Output
from bridge.model.run import ExpectedRows, FrameworkRecord, MetricRecord, RunRecord
from bridge.plugin.format import ReadOptions, ScoreStream, Streaming
from bridge.plugin.registry import detect_format
from bridge.plugin.results.attempts import attempts_at, notes_on, superseded

T = TypeVar("T")
Batch = tuple[Sequence[int], Sequence[ScoreRow]]

BATCH = 5000
"""Rows taken at a time."""
REMEMBERED = 2000
"""Most reasons of a streamed file that are kept; for more of them it is read again."""


NO_SCALES: Mapping[str, tuple[float, float]] = MappingProxyType({})


@dataclass(slots=True)
class _Gathering:
    native: ReadOptions
    builder: TableBuilder = field(default_factory=TableBuilder)
    sources: list[Source] = field(default_factory=list)
    owed: dict[str, list[Sequence[ExpectedRows]]] = field(default_factory=dict)
    cases: dict[str, ExpectedRows] = field(default_factory=dict)
    metrics: dict[str, MetricRecord] = field(default_factory=dict)
    judges: dict[str, str] = field(default_factory=dict)
    records: list[RunRecord] = field(default_factory=list)
    frameworks: list[FrameworkRecord] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spent: dict[str, dict[tuple[str, int], Spent]] = field(default_factory=dict)


def gather(
    sources: Sequence[Path], scales: Mapping[str, tuple[float, float]] = NO_SCALES
) -> Evidence:
    """Read runs and result files of any framework into one body of evidence.

    Args:
        sources: Run directories, scores files, native result files.
        scales: By metric, the native scale of values that are not in [0, 1].

    Raises:
        InputError: If a source is faulty, unknown, named twice, or holds no score.
    """
    so_far = _Gathering(native=_native_options(scales))
    attempts = attempts_at(sources) if len(sources) > 1 else {}
    earlier = superseded(attempts)
    so_far.notes.extend(notes_on(earlier, attempts))
    seen: set[Path] = set()
    for source in sources:
        if source.resolve() in seen:
            raise InputError("named twice", where=source, fix="name every result once")
        seen.add(source.resolve())
        if source in earlier:
            continue
        before = so_far.builder.count
        if RunStore(source).exists():
            _add_run(RunStore(source), so_far)
        else:
            _add_file(source, so_far)
        if so_far.builder.count == before:
            fix = "name results that were scored; a run that was broken off goes on with --resume"
            raise InputError("holds no score", where=source, fix=fix)
    return Evidence(
        table=so_far.builder.build(),
        sources=so_far.sources,
        owed=so_far.owed,
        cases=so_far.cases,
        metrics=so_far.metrics,
        judges=so_far.judges,
        records=so_far.records,
        frameworks=so_far.frameworks,
        conflicts=so_far.conflicts,
        notes=so_far.notes,
        spent=so_far.spent,
    )


def _native_options(scales: Mapping[str, tuple[float, float]]) -> ReadOptions:
    named = {name.rpartition("/")[2]: list(scale) for name, scale in scales.items()}
    return ReadOptions(options={"scale": named} if named else {})


def holds_rows(path: Path) -> bool:
    """Whether :func:`gather` reads a file or directory, rather than that it is a baseline."""
    if path.is_dir() or path.suffix == ".jsonl":
        return True
    try:
        return isinstance(detect_format(path, "scores"), Streaming)
    except InputError:
        return False


def with_golden_set(evidence: Evidence, golden: GoldenSet) -> Evidence:
    """Loose files beside the golden set they were scored on: every case owes a row."""
    cases = {
        case.id: ExpectedRows(
            system="default",
            case_id=case.id,
            digest=case_digest(case),
            tags=case.tags,
            failure_mode=case.failure_mode,
            where=":".join(map(str, golden.places[case.id])),
            rows=(),
        )
        for case in golden.cases
    }
    return replace(evidence, cases=cases, owed_cases=frozenset(cases))


def _add_run(store: RunStore, so_far: _Gathering) -> None:
    record = store.read_record()
    so_far.records.append(record)
    so_far.notes.extend(record.notes)
    so_far.frameworks.extend(record.frameworks)
    judges = {name: judge_digest(judge) for name, judge in record.suite.judges.items()}
    _merge(record.metrics, so_far.metrics, "metric", so_far.conflicts)
    _merge(judges, so_far.judges, "judge", so_far.conflicts)
    rows = list(store.read_rows())
    own = {row.case_id: row.digest for row in rows}
    if record.golden_digest and set_digest(own.values()) != record.golden_digest:
        so_far.conflicts.append(f"{store.rows_path.name} does not hold the cases of run.json")
    digests = {case_id: row.digest for case_id, row in so_far.cases.items()}
    _merge(own, digests, "case", so_far.conflicts)
    so_far.cases.update((row.case_id, row) for row in rows)
    for config in record.suite.frameworks:
        path = store.scores_path(config.name)
        named = _add_rows(path, so_far) if path.is_file() else set()
        # A framework given by import string names itself in its rows.
        name = named.pop() if ":" in config.name and len(named) == 1 else config.name
        so_far.owed.setdefault(name, []).append(rows)
    if store.outputs_path.is_file():
        _add_spent(_stream_outputs(store.outputs_path), so_far)


def _merge(new: Mapping[str, T], known: dict[str, T], kind: str, conflicts: list[str]) -> None:
    for name, value in new.items():
        if known.setdefault(name, value) != value:
            conflicts.append(f"{kind} {name!r} is not the same in all runs")


def _add_rows(path: Path, so_far: _Gathering) -> set[str]:
    """Add a scores file; returns the frameworks it names."""
    so_far.sources.append(Source(path))
    return _add_all(stream_rows(path), path, so_far)


def _add_all(batches: Iterable[Batch], path: Path, so_far: _Gathering) -> set[str]:
    named: set[str] = set()
    located = so_far.sources[-1].find is None
    for lines, rows in batches:
        try:
            named |= so_far.builder.extend(rows, len(so_far.sources) - 1, lines)
        except RowError as error:
            row = rows[error.index]
            what = f"{row.metric!r} of case {row.case_id!r}: {error}"
            line = lines[error.index] if located else None
            raise InputError(what, where=path, line=line, fix="mend the row") from None
    return named


def _batched(numbered: Iterable[tuple[int, ScoreRow]]) -> Iterator[Batch]:
    rest = iter(numbered)
    while batch := list(islice(rest, BATCH)):
        lines, rows = zip(*batch, strict=True)
        yield lines, rows


def _add_file(path: Path, so_far: _Gathering) -> None:
    if path.suffix == ".jsonl" and _is_scores(path):
        _add_rows(path, so_far)
        return
    if path.is_file() and not path.stat().st_size:
        raise InputError("is empty", where=path, fix="nothing was measured there")
    format_ = detect_format(path, "scores")
    native = format_.info.framework and "scores" in format_.info.reads
    options = so_far.native if native else ReadOptions()
    if isinstance(format_, Streaming):
        _add_stream(path, partial(format_.stream, path, options), so_far)
        return
    bundle, report = format_.read(path, options)
    so_far.notes.extend(_noted(report.source, report.notes))
    _add_spent(bundle.outputs, so_far)
    rows = list(map(as_row, bundle.scores))
    so_far.sources.append(Source(path, partial(_reasons, rows)))
    _add_all(_batched(enumerate(rows)), path, so_far)


def _add_stream(path: Path, walk: Callable[[], ScoreStream], so_far: _Gathering) -> None:
    """Add a file whose rows are taken as they are read."""
    stream = walk()
    kept: dict[int, str] = {}
    so_far.sources.append(Source(path, partial(_streamed_reasons, walk, kept)))
    _add_all(_batched(_remembered(_streamed(stream, so_far), kept)), path, so_far)
    so_far.notes.extend(_noted(str(path), stream.notes()))
    so_far.conflicts.extend(_noted(str(path), stream.faults()))


def _streamed(stream: ScoreStream, so_far: _Gathering | None = None) -> Iterator[ScoreRow]:
    for answer in stream:
        if so_far is not None:
            key, spent = answer.key, answer.spent
            took = Spent(*(_amount(spent.get(name)) for name in Spent._fields))
            _spend(str(key["system"]), str(key["case_id"]), key["epoch"], took, so_far)
        yield from map(as_row, answer.rows)


def _remembered(rows: Iterable[ScoreRow], kept: dict[int, str]) -> Iterator[tuple[int, ScoreRow]]:
    """Numbered rows; the first reasons of those that did not pass go into ``kept``."""
    for number, row in enumerate(rows):
        if row.status in ("failed", "error") and len(kept) < REMEMBERED:
            kept[number] = (row.error or row.reason)[:REASON_LIMIT]
        yield number, row


def _streamed_reasons(
    walk: Callable[[], ScoreStream], kept: Mapping[int, str], wanted: frozenset[int]
) -> Mapping[int, str]:
    if wanted <= kept.keys():
        return {number: kept[number] for number in wanted}
    return _reasons(_streamed(walk()), wanted)


def _reasons(rows: Iterable[ScoreRow], wanted: frozenset[int]) -> Mapping[int, str]:
    """The error or else the reason of some rows, by number."""
    first = islice(rows, max(wanted, default=-1) + 1)
    return {n: row.error or row.reason for n, row in enumerate(first) if n in wanted}


def _amount(value: Any) -> Any:
    """A count or an amount; 0 for what is none."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return value if good and value < math.inf else 0


def _is_scores(path: Path) -> bool:
    line = next(iter(read_lines(path)), None)
    return line is not None and b'"metric"' in line[1] and b'"status"' in line[1]


def _noted(source: str, notes: Iterable[str]) -> list[str]:
    return [f"{source}: {note}" for note in notes]


_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Amount = Annotated[float, msgspec.Meta(ge=0)]


class _Tokens(msgspec.Struct, gc=False):
    input_tokens: _Count | None = None
    output_tokens: _Count | None = None


class _Output(msgspec.Struct, gc=False):
    case_id: str | int
    system: str | int = "default"
    epoch: int = 1
    latency_s: _Amount | None = None
    cost_usd: _Amount | None = None
    usage: _Tokens | None = None


def _stream_outputs(path: Path) -> Iterator[_Output]:
    decoder = msgspec.json.Decoder(_Output)
    for number, line in read_lines(path):
        try:
            yield decoder.decode(line)
        except msgspec.MsgspecError as error:
            what = f"not an output ({error})"
            raise InputError(what, where=path, line=number, fix="run again") from None


def _add_spent(outputs: Iterable[_Output | Output], so_far: _Gathering) -> None:
    """Count every answer once, in however many files it stands."""
    for output in outputs:
        usage = output.usage
        took = Spent(
            output.latency_s or 0.0,
            output.cost_usd or 0.0,
            (usage.input_tokens or 0) if usage else 0,
            (usage.output_tokens or 0) if usage else 0,
        )
        _spend(str(output.system), str(output.case_id), output.epoch, took, so_far)


def _spend(system: str, case_id: str, epoch: int, took: Spent, so_far: _Gathering) -> None:
    own = so_far.spent.setdefault(system, {})
    own[case_id, epoch] = max(own.get((case_id, epoch), Spent()), took)
