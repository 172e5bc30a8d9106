"""Where each field of a file goes: followed by its values, through a real conversion.

A sample file has a value of its own in every field. It is read and written, and each value is
looked up in the neutral form and in the files that were written; what becomes of a field, and why,
is what both conversion reports say of it.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.files.yaml import parse_yaml
from bridge.model.bundle import Bundle
from bridge.model.conversion import ConversionLine, ConversionReport
from bridge.plugin.accounts.accounting import EACH
from bridge.plugin.carry import KEY
from bridge.plugin.format import Format, ReadOptions, WriteOptions

Value = str | float
PARTS = ("cases", "outputs", "scores", "suite")
TELLING = 6
"""Least characters of a text that is looked up within longer ones."""
EXTRAS, CHECKS = "extras", "checks[]"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value with its field: keys joined by dots, ``[]`` for the items of a list."""

    field: str
    value: Value


@dataclass(frozen=True, slots=True)
class Trace:
    """What becomes of one field.

    Attributes:
        source: The field in the source.
        neutral: Where it is in the neutral form; empty where it is nowhere.
        target: Where it is in the target; empty where it is nowhere, or only carried.
        fate: What becomes of it on the whole way: ``native``, ``carried``, ``executable`` or
            ``dropped``.
        reason: Why, where it is not native.
    """

    source: str
    neutral: tuple[str, ...]
    target: tuple[str, ...]
    fate: str
    reason: str = ""


def trace(source: Path, reader: Format, writer: Format | None) -> list[Trace]:
    """Follow every field of a file.

    Args:
        source: The file.
        reader: Its format.
        writer: The format that it is written in; ``None`` where the neutral form is the target.
    """
    bundle, read = reader.read(source, ReadOptions())
    whole = bundle.model_dump(mode="json", exclude_defaults=True)
    neutral = {part: whole[part] for part in PARTS if part in whole}
    document = document_of(source) if reader.info.framework else neutral
    inner = leaves(neutral)
    written, outer = (None, []) if writer is None else _written(bundle, writer)
    return [
        _trace(line, found, inner, outer, written) for line, found in _lines(read, leaves(document))
    ]


def document_of(path: Path) -> Any:
    """The document in a file; rows are a list."""
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    if path.suffix == ".csv":
        return list(csv.DictReader(text.splitlines()))
    return parse_yaml(text.encode(), path)[0] if path.suffix == ".yaml" else json.loads(text)


def leaves(value: Any, field: str = "") -> list[Leaf]:
    """Every text and number of a document; truth values tell nothing."""
    if isinstance(value, dict):
        steps = ((f"{field}.{key}" if field else str(key), item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        steps = ((field + EACH, item) for item in value)
    else:
        told = isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
        return [Leaf(field, value)] if told else []
    return [leaf for below, item in steps for leaf in leaves(item, below)]


def _written(bundle: Bundle, writer: Format) -> tuple[ConversionReport, list[Leaf]]:
    with tempfile.TemporaryDirectory(prefix="bridge-guide-") as folder:
        dest = Path(folder) / target_name(writer)
        report = writer.write(bundle, dest, WriteOptions())
        paths = sorted(Path(folder).iterdir())
        read = [path for path in paths if path.suffix in (".json", ".jsonl", ".csv", ".yaml")]
        return report, [leaf for path in read for leaf in leaves(document_of(path))]


def target_name(writer: Format) -> str:
    """A name of a file that the format is told by, as text where it has a choice."""
    usual = writer.info.patterns[0].replace("*", "library")
    return str(Path(usual).with_suffix(".json")) if usual.endswith(".eval") else usual


def _lines(
    report: ConversionReport, found: Sequence[Leaf]
) -> Iterator[tuple[ConversionLine, list[Leaf]]]:
    """The lines of a report in the order of the source, each with the leaves below its field."""
    fields = {line.field for line in report.lines}
    below: dict[str, list[Leaf]] = {}
    for leaf in found:
        claimed = max(filter(None, (_within(leaf.field, field) for field in fields)), default="")
        below.setdefault(claimed, []).append(leaf)
    order = {field: number for number, field in enumerate(below)}
    for line in sorted(report.lines, key=lambda line: order.get(line.field, len(order))):
        yield line, below.get(line.field, [])


def _within(field: str, claimed: str) -> str:
    inside = field.startswith(claimed) and field[len(claimed) :][:1] in ("", ".", "[")
    return claimed if inside else ""


def _trace(
    line: ConversionLine,
    found: Sequence[Leaf],
    inner: Sequence[Leaf],
    outer: Sequence[Leaf],
    written: ConversionReport | None,
) -> Trace:
    if line.fate in ("dropped", "executable"):
        return Trace(line.field, (), (), line.fate, line.reason)
    if line.fate == "carried":
        return Trace(line.field, (EXTRAS,), (), line.fate, line.reason)
    inside = [place for leaf in found for place in _places(leaf, inner)]
    neutral = _common(place.field for place in inside)
    if written is None or not inside:
        return Trace(line.field, neutral, (), "native")
    outside = [place for leaf in inside for place in _outside(leaf, outer)]
    if outside:
        return Trace(line.field, neutral, _common(place.field for place in outside), "native")
    fate = _fate(written, inside[0].field)
    return Trace(line.field, neutral, (), fate.fate, fate.reason)


def _places(leaf: Leaf, inner: Sequence[Leaf]) -> list[Leaf]:
    """Where a value of the source is in the neutral form: within the first part that has it."""
    found = _holding(leaf, inner)
    plain = [place for place in found if EXTRAS not in place.field.split(".")]
    for part in PARTS:
        if here := [place for place in plain if place.field.startswith(part)]:
            return _same_key(leaf, here) or _distinct(here)[:2]
    return []


def _outside(leaf: Leaf, outer: Sequence[Leaf]) -> list[Leaf]:
    """Where a neutral value is in the target, but for what is carried: in the likest place."""
    found = [
        each
        for each in outer
        if KEY not in each.field.split(".")
        and (_is_same(leaf, each) or _overlap(leaf.value, each.value))
    ]
    main = Counter(_container(each) for each in outer)
    ranked = sorted(
        found,
        key=lambda each: (
            -len(_keys(leaf) & _keys(each)),
            not _is_same(leaf, each),
            -main[_container(each)],
            each.field.count("."),
        ),
    )
    return ranked[:1]


def _keys(leaf: Leaf) -> set[str]:
    """The keys of a field in the singular and without their case."""
    steps = (step.removesuffix(EACH).rstrip("s").lower() for step in leaf.field.split("."))
    return {step for step in steps if step}


def _container(leaf: Leaf) -> str:
    return leaf.field.partition(EACH)[0]


def _holding(leaf: Leaf, others: Sequence[Leaf]) -> list[Leaf]:
    """The leaves that hold a value, or a part of it; those with the very same if there are any."""
    same = [each for each in others if _is_same(leaf, each)]
    return same or [each for each in others if _overlap(leaf.value, each.value)]


def _is_same(leaf: Leaf, other: Leaf) -> bool:
    """Whether two values are the same, milliseconds and seconds too."""
    one, two = leaf.value, other.value
    if isinstance(one, str) or isinstance(two, str):
        return one == two
    return one in (two, two / 1000, two * 1000)


def _overlap(one: Value, other: Value) -> bool:
    if not isinstance(one, str) or not isinstance(other, str):
        return str(one) == str(other)
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= TELLING and shorter in longer


def _same_key(leaf: Leaf, found: Sequence[Leaf]) -> list[Leaf]:
    key = leaf.field.rpartition(".")[2]
    return [each for each in found if each.field.rpartition(".")[2] == key][:1]


def _distinct(found: Sequence[Leaf]) -> list[Leaf]:
    return list({each.field: each for each in found}.values())


def _common(fields: Iterable[str]) -> tuple[str, ...]:
    """Fields, or what they lie within; at most two."""
    within: dict[str, list[str]] = {}
    for field in dict.fromkeys(fields):
        steps = field.split(".")
        if CHECKS in steps:
            steps = steps[: steps.index(CHECKS) + 1]
        within.setdefault(".".join(steps[:2]), []).append(".".join(steps))
    shown = [_prefix(each).removesuffix(EACH) for each in within.values()]
    return tuple(dict.fromkeys(shown))[:2]


def _prefix(fields: Sequence[str]) -> str:
    first, *others = [field.split(".") for field in fields]
    for number, step in enumerate(first):
        if any(len(each) <= number or each[number] != step for each in others):
            return ".".join(first[:number])
    return ".".join(first)


def _fate(report: ConversionReport, field: str) -> ConversionLine:
    """What a writer says of a neutral field."""
    found = [line for line in report.lines if _within(field, line.field)]
    return max(found, key=lambda line: (len(line.field), line.fate != "native"))
