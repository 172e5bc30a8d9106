"""Score rows: one JSON line each, and read as columns without a model object a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from bridge.files.jsonl import read_lines, read_models, write_atomically
from bridge.model.errors import InputError
from bridge.model.score import Score


def score_line(score: Score) -> str:
    """A score as one line of JSON."""
    return score.model_dump_json(exclude=None if score.extras else {"extras"})


def read_scores(path: Path) -> list[Score]:
    """Read a scores file whole, as model objects.

    Raises:
        InputError: At the first faulty line.
    """
    return [score for _, score in read_models(path, Score)]


def write_scores(scores: Iterable[Score], path: Path) -> None:
    """Write a scores file, atomically."""
    write_atomically(path, (f"{score_line(score)}\n" for score in scores))


class ScoreRow(msgspec.Struct, frozen=True, gc=False):
    """The part of a score row that the gate decides on; the rest of the line is never built."""

    framework: str
    case_id: str
    metric: str
    status: str
    value: float | None = None
    system: str = "default"
    epoch: int = 1
    turn: int | None = None
    framework_version: str = ""
    scorer: str = ""
    scorer_version: str = ""
    threshold: float | None = None
    weight: float = 1.0
    judge: str | None = None
    reason: str = ""
    error: str | None = None
    latency_s: float | None = None
    cost_usd: float | None = None


_DECODER = msgspec.json.Decoder(ScoreRow)


def stream_rows(path: Path) -> Iterator[tuple[int, ScoreRow]]:
    """Stream (line number, row) of a scores file.

    Raises:
        InputError: At the first line that is no score row: bad JSON, NaN, text for a value, ...
    """
    for number, line in read_lines(path):
        try:
            yield number, _DECODER.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            what = f"not a score row ({error})"
            fix = "see docs/schemas/score.schema.json"
            raise InputError(what, where=path, line=number, fix=fix) from None
