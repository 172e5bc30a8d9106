"""The rows of a run, complete and in order, from what the workers left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from bridge.files.jsonl import write_atomically
from bridge.files.scores import score_line
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.run import ExpectedRows
from bridge.model.score import Score
from bridge.scorers.evaluate import checks_with_turns, native_version, threshold_of, version_of

Key = tuple[str, str, int, int | None, str]
"""(system, case_id, epoch, turn, metric) within one framework."""


class _Head(msgspec.Struct, frozen=True, gc=False):
    system: str
    case_id: str
    epoch: int
    turn: int | None
    metric: str
    status: str


_DECODER = msgspec.json.Decoder(_Head)


@dataclass(frozen=True, slots=True)
class Found:
    """What the workers of one framework left: raw lines by key, and the keys seen twice."""

    lines: Mapping[Key, bytes]
    twice: frozenset[Key]
    errors: int


def read_found(paths: Sequence[Path]) -> Found:
    """Read the workers' rows; a last line cut off by a crash does not count."""
    lines: dict[Key, bytes] = {}
    twice: set[Key] = set()
    errors = 0
    for path in paths:
        if not path.is_file():
            continue
        for line in path.read_bytes().split(b"\n"):
            try:
                head = _DECODER.decode(line)
            except msgspec.MsgspecError:
                continue
            key = (head.system, head.case_id, head.epoch, head.turn, head.metric)
            if key in lines:
                twice.add(key)
            lines[key] = line
            errors += head.status == "error"
    return Found(lines, frozenset(twice), errors)


@dataclass(frozen=True, slots=True)
class Assembly:
    """One framework's scores file, as written.

    Attributes:
        rows: Rows written, which is the rows expected.
        errors: Rows with status ``error``.
        missing: Rows no worker gave.
        unexpected: Rows nobody asked for, left out.
    """

    rows: int
    errors: int
    missing: int
    unexpected: int


def assemble(
    framework: str,
    found: Found,
    expected: Sequence[ExpectedRows],
    checks: Sequence[Check],
    cases: Mapping[str, Case],
    why_missing: str,
    path: Path,
) -> Assembly:
    """Write every expected row once, in order; what no worker gave is an ``error`` row."""
    counts = {"rows": 0, "errors": found.errors, "missing": 0}

    def lines() -> Iterator[str]:
        for owed in expected:
            for metric, turn in owed.rows:
                key = (owed.system, owed.case_id, owed.epoch, turn, metric)
                counts["rows"] += 1
                if key in found.lines and key not in found.twice:
                    yield found.lines[key].decode() + "\n"
                    continue
                reason = "scored twice" if key in found.twice else why_missing
                counts["missing"] += key not in found.lines
                counts["errors"] += 1
                row = _error_row(framework, owed, (metric, turn), reason, checks, cases)
                yield score_line(row) + "\n"

    write_atomically(path, lines())
    owed_total = counts["rows"] - counts["missing"]
    return Assembly(unexpected=len(found.lines) - owed_total, **counts)


def _error_row(
    framework: str,
    owed: ExpectedRows,
    row: tuple[str, int | None],
    reason: str,
    checks: Sequence[Check],
    cases: Mapping[str, Case],
) -> Score:
    metric, turn = row
    case = cases[owed.case_id]
    check = next(
        each for each, at in checks_with_turns(checks, case) if (each.metric, at) == (metric, turn)
    )
    return Score(
        framework=framework,
        system=owed.system,
        case_id=owed.case_id,
        epoch=owed.epoch,
        metric=metric,
        turn=turn,
        scorer=check.scorer,
        scorer_version=version_of(check, native_version(framework, "")),
        threshold=threshold_of(check),
        weight=check.weight,
        judge=check.judge_name,
        status="error",
        error=reason,
        reason=reason,
    )
