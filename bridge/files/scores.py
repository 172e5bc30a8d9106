"""Score rows: one JSON line each, and read as columns without a model object a row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from bridge.files.jsonl import (
    parse_object,
    read_blocks,
    read_lines,
    read_models,
    write_atomically,
)
from bridge.model.errors import InputError
from bridge.model.score import Score
from bridge.model.values import clean_text

MAX_INDEX = 1_000_000
"""Largest epoch or turn: beyond it a row is damaged, not measured."""


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


Identifier = str | int
Unit = Annotated[float, msgspec.Meta(ge=0, le=1)]
Amount = Annotated[float, msgspec.Meta(ge=0)]


class ScoreRow(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A score row as the gate reads it: what it does not decide on is checked and left as bytes.

    The same rows are refused as by :class:`bridge.Score`, but for the range of ``value``, which
    whoever takes the row checks with the metric's name at hand.
    """

    framework: Identifier
    case_id: Identifier
    metric: Identifier
    status: str
    value: float | None = None
    system: Identifier = "default"
    epoch: Annotated[int, msgspec.Meta(ge=1, le=MAX_INDEX)] = 1
    turn: Annotated[int, msgspec.Meta(ge=0, le=MAX_INDEX)] | None = None
    framework_version: str = ""
    scorer: str = ""
    scorer_version: str = ""
    threshold: Unit | None = None
    weight: Amount = 1.0
    judge: str | None = None
    reason: str = ""
    error: str | None = None
    label: str | None = None
    latency_s: Amount | None = None
    cost_usd: Amount | None = None
    raw: msgspec.Raw = msgspec.Raw()
    usage: msgspec.Raw = msgspec.Raw()
    details: msgspec.Raw = msgspec.Raw()
    extras: msgspec.Raw = msgspec.Raw()


_DECODER = msgspec.json.Decoder(ScoreRow)
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_ENCODED = ("raw", "usage", "details", "extras")
_PLAIN = tuple(name for name in ScoreRow.__struct_fields__ if name not in _ENCODED)


def as_row(score: Score | ScoreRow) -> ScoreRow:
    """A score as the gate reads it, without what it does not decide on."""
    if isinstance(score, ScoreRow):
        return score
    fields = score.__dict__
    return ScoreRow(**{name: fields[name] for name in _PLAIN})


def as_score(row: Score | ScoreRow) -> Score:
    """A row as a model object, whole."""
    if isinstance(row, Score):
        return row
    fields: dict[str, Any] = {name: getattr(row, name) for name in _PLAIN}
    for name in _ENCODED:
        if value := bytes(getattr(row, name)):
            fields[name] = msgspec.json.decode(value)
    return Score.model_validate(fields)


def stream_rows(path: Path) -> Iterator[tuple[Sequence[int], Sequence[ScoreRow]]]:
    """Stream (line numbers, rows) of a scores file, some thousand rows at a time.

    Raises:
        InputError: At the first line that is no score row: bad JSON, NaN, text for a value, ...
    """
    for first, lines in read_blocks(path):
        try:
            yield range(first, first + len(lines)), list(map(_DECODER.decode, lines))
        except _UNREADABLE:
            numbered = [(n, line) for n, line in enumerate(lines, first) if line.strip()]
            rows = [_decoded(line, path, number) for number, line in numbered]
            yield [number for number, _ in numbered], rows


def _decoded(line: bytes, path: Path, number: int) -> ScoreRow:
    try:
        return _DECODER.decode(line)
    except _UNREADABLE as error:
        return _mended(line, path, number, error)


def _mended(line: bytes, path: Path, number: int, error: Exception) -> ScoreRow:
    """The row of a line whose only fault is a lone surrogate, half an emoji say; as U+FFFD."""
    if b"\\ud" in line.lower():
        try:
            text = json.dumps(parse_object(line, path, number), ensure_ascii=False)
            return _DECODER.decode(clean_text(text))
        except msgspec.MsgspecError as again:
            error = again
    what = f"not a score row ({error or 'nested too deeply'})"
    raise InputError(what, where=path, line=number, fix="see docs/schemas/score.schema.json")


class _Texts(msgspec.Struct, gc=False):
    reason: str = ""
    error: str | None = None


def read_reasons(path: Path, numbers: Iterable[int], limit: int) -> dict[int, str]:
    """The error or else the reason of some rows of a scores file, by line.

    Args:
        path: A file that :func:`stream_rows` has read.
        numbers: 1-based lines.
        limit: Most characters of each.
    """
    wanted = set(numbers)
    last = max(wanted, default=0)
    decoder = msgspec.json.Decoder(_Texts)
    found: dict[int, str] = {}
    for number, line in read_lines(path):
        if number > last:
            break
        if number in wanted:
            try:
                row: ScoreRow | _Texts = decoder.decode(line)
            except msgspec.MsgspecError as error:
                row = _mended(line, path, number, error)
            found[number] = (row.error or row.reason)[:limit]
    return found
