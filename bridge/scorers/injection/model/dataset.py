"""Labelled texts from files, and what the model sees of each."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bridge.files.jsonl import read_lines
from bridge.model.errors import InputError
from bridge.scorers.injection.model import features
from bridge.scorers.injection.model.features import Buckets
from bridge.scorers.injection.model.phrases import Example, phrases
from bridge.scorers.injection.rules import load_rules
from bridge.scorers.injection.scanner import seen


class Prepared(NamedTuple):
    """An example as the model sees it.

    Attributes:
        example: the labelled text.
        signals: what the rules found in it.
        windows: buckets of the first windows of its plain reading, to train on.
    """

    example: Example
    signals: tuple[float, ...]
    windows: tuple[Buckets, ...]


def read_folder(folder: Path) -> list[Example]:
    """The rows of all ``*.jsonl`` files of a folder, files by name, rows in their order.

    A row is ``{"text": ..., "label": 0 or 1, "source": ...}``, 1 for an attack; ``source`` is the
    file's name where it is left out.

    Raises:
        InputError: if there is no row, or one is not as described.
    """
    files = sorted(folder.glob("*.jsonl"))
    rows = [_row(path, number, line) for path in files for number, line in read_lines(path)]
    if not rows:
        what = "no labelled texts"
        raise InputError(what, where=folder, fix='put *.jsonl files of {"text", "label"} there')
    return rows


def _row(path: Path, number: int, line: bytes) -> Example:
    try:
        data: Any = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        raise InputError("no object with a text", where=path, line=number, fix='write {"text": ..}')
    if data.get("label") not in (0, 1):
        raise InputError("label is neither 0 nor 1", where=path, line=number, fix="1 is an attack")
    return Example(data["text"], int(data["label"]), str(data.get("source", path.stem)))


def own_examples() -> Iterator[Example]:
    """The grammar's texts, and the rules' own examples."""
    yield from phrases()
    for rule in load_rules():
        yield from (Example(text, 1, "rules") for text in rule.positive)
        yield from (Example(text, 0, "rules") for text in rule.negative)


def prepare(examples: Iterable[Example], windows: int) -> list[Prepared]:
    """Read examples as the scanner does, with at most ``windows`` windows of each."""
    return [_prepared(example, windows) for example in examples]


def _prepared(example: Example, most: int) -> Prepared:
    (plain, *_), signals = seen(example.text)
    spans = features.windows(len(plain), most)
    windows = tuple(features.buckets(plain[start:end]) for start, end in spans)
    return Prepared(example, signals, windows)


def counts(examples: Sequence[Example]) -> dict[str, list[int]]:
    """Attacks and benign texts by source."""
    found = Counter((one.source, one.label) for one in examples)
    return {
        source: [found[source, 1], found[source, 0]] for source in sorted({s for s, _ in found})
    }


def digest(examples: Iterable[Example]) -> str:
    """SHA-256 over all examples in their order."""
    whole = hashlib.sha256()
    for one in examples:
        whole.update(json.dumps(one, ensure_ascii=True).encode() + b"\n")
    return whole.hexdigest()
