"""Adapters that break the contract, each in one way; they lean on the example's sound ones."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from bridge_unittest.format import QuizFormat
from bridge_unittest.framework import UnittestFramework

from bridge.model import Bundle, ConversionReport, Job, Score
from bridge.plugin.format import ReadOptions, WriteOptions

Rows = Iterator[Score]


class Framework(UnittestFramework):
    """A sound framework whose rows go through a function."""

    def __init__(self, own: str, spoil: Callable[[Job, Rows], Rows], **info: Any) -> None:
        self.info = replace(UnittestFramework.info, **{"name": f"{__name__}:{own}", **info})
        self._spoil = spoil

    def run(self, job: Job) -> Rows:
        return self._spoil(job, super().run(job))


def _sound(job: Job, rows: Rows) -> Rows:
    return rows


def _drops(job: Job, rows: Rows) -> Rows:
    return (row for index, row in enumerate(rows) if index % 3)


def _repeats(job: Job, rows: Rows) -> Rows:
    return (each for index, row in enumerate(rows) for each in [row] * (2 if index == 4 else 1))


def _invents(job: Job, rows: Rows) -> Rows:
    first, *others = rows
    yield from (first, first.model_copy(update={"metric": "invented"}), *others)


def _by_position(job: Job, rows: Rows) -> Rows:
    """Results in the order in which they came, under keys in the order of the cases."""
    found = list(rows)
    for key, row in zip(found, reversed(found), strict=True):
        own = {
            name: getattr(key, name) for name in ("system", "case_id", "epoch", "turn", "metric")
        }
        yield row.model_copy(update=own)


def _not_a_number(job: Job, rows: Rows) -> Rows:
    for index, row in enumerate(rows):
        yield row.model_copy(update={"value": float("nan")}) if index == 0 else row


def _raises(job: Job, rows: Rows) -> Rows:
    yield from rows
    raise RuntimeError("boom")


def _stale(job: Job, rows: Rows) -> Rows:
    """A value is that of the case before, where both have one."""
    before: dict[str, Any] = {}
    for row in rows:
        if row.value is None:
            yield row
            continue
        yield row.model_copy(update={"value": before.get(row.metric, row.value)})
        before[row.metric] = row.value


def _litters(job: Job, rows: Rows) -> Rows:
    assert job.spec.import_dir is not None
    (job.spec.import_dir / ".acme_cache").write_text("x", "utf-8")
    return rows


def _unstamped(job: Job, rows: Rows) -> Rows:
    return (row.model_copy(update={"scorer_version": ""}) for row in rows)


class Heavy(Framework):
    """Imports its framework as soon as it is looked at."""

    def ensure_available(self) -> None:
        import hypothesis  # noqa: F401


class Untranslatable(Framework):
    """Has no native form for a bundle."""

    def to_native(self, bundle: Bundle) -> Any:
        raise NotImplementedError


sound = Framework("sound", _sound)
drops = Framework("drops", _drops)
repeats = Framework("repeats", _repeats)
invents = Framework("invents", _invents)
by_position = Framework("by_position", _by_position)
not_a_number = Framework("not_a_number", _not_a_number)
raises = Framework("raises", _raises)
stale = Framework("stale", _stale)
litters = Framework("litters", _litters)
unstamped = Framework("unstamped", _unstamped)
unnamed = Framework("unnamed", _sound, name="acme")
heavy = Heavy(
    "heavy", _sound, distribution="hypothesis", install="pip install hypothesis", version=""
)
untranslatable = Untranslatable("untranslatable", _sound)


class Format(QuizFormat):
    """A sound format under a name of its own."""

    def __init__(self, own: str, framework: str = "") -> None:
        self.info = replace(QuizFormat.info, name=f"{__name__}:{own}", framework=framework)

    def sniff(self, head: bytes, path: Path) -> float:
        return 0.95 if head.startswith(b'{"quiz":') else 0.0


class Loses(Format):
    """A field is in no line of the report."""

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        bundle, report = super().read(source, options)
        lines = tuple(line for line in report.lines if line.field != "questions[].ask")
        return bundle, report.model_copy(update={"lines": lines})


class Claims(Format):
    """Says that it read a field which is nowhere."""

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        bundle, report = super().read(source, options)
        cases = tuple(case.model_copy(update={"extras": {}}) for case in bundle.cases)
        return bundle.model_copy(update={"cases": cases}), report


class Executes(Format):
    """Takes a value for an expression."""

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        bundle, report = super().read(source, options)
        assert eval("1 + 1") == 2
        return bundle, report


class Unpickles(Format):
    """Tries pickle on what is no JSON."""

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        if source.read_bytes().startswith(b"cposix"):
            pickle.loads(source.read_bytes())
        return super().read(source, options)


class SniffsEverything(Format):
    """Takes every file for its own."""

    def sniff(self, head: bytes, path: Path) -> float:
        return 1.0


class Shy(Format):
    """Does not know its own files."""

    def sniff(self, head: bytes, path: Path) -> float:
        return 0.0


class Overwrites(Format):
    """Leaves another file than it found."""

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        found = super().read(source, options)
        source.write_bytes(source.read_bytes() + b"\n")
        return found


class Counts(Format):
    """Gives other ids each time."""

    seen = 0

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        bundle, report = super().read(source, options)
        self.seen += 1
        first = bundle.cases[0].model_copy(update={"tags": (str(self.seen),)})
        return bundle.model_copy(update={"cases": (first, *bundle.cases[1:])}), report


class Breaks(Format):
    """Shows people an exception of its own."""

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        json.loads(source.read_bytes())
        return super().read(source, options)


class Forgets(Format):
    """Writes without what was answered."""

    def write(self, bundle: Bundle, dest: Path, options: WriteOptions) -> ConversionReport:
        return super().write(bundle.model_copy(update={"outputs": ()}), dest, options)


class Imports(Format):
    """Imports the framework whose files it reads."""

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        import hypothesis  # noqa: F401

        return super().read(source, options)


class Starts(Format):
    """Asks another program."""

    def read(self, source: Path, options: ReadOptions) -> tuple[Bundle, ConversionReport]:
        os.system("true")
        return super().read(source, options)


plain = Format("plain")
loses = Loses("loses")
claims = Claims("claims")
executes = Executes("executes")
unpickles = Unpickles("unpickles")
starts = Starts("starts")
imports = Imports("imports", framework="hypothesis")
sniffs_everything = SniffsEverything("sniffs_everything")
shy = Shy("shy")
overwrites = Overwrites("overwrites")
counts = Counts("counts")
breaks = Breaks("breaks")
forgets = Forgets("forgets")
