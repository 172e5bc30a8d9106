"""Conversion reports: what became of every field and assertion of a source."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from bridge.model.values import Model, Text
from bridge.model.verification import Verification

Fate = Literal["native", "carried", "dropped", "executable"]


class ConversionLine(Model):
    """What became of one kind of field.

    Attributes:
        field: Path in the source, with ``[]`` for list items (``tests[].assert[].type``).
        fate: ``native`` (used), ``carried`` (kept, unused), ``dropped``, or ``executable``
            (code or template that is kept as text and never run).
        count: How many of it.
        reason: Why, for everything that is not native.
    """

    field: Text
    fate: Fate
    count: int = 1
    reason: Text = ""


class ConversionReport(Model):
    """Accounts for every field and assertion of a source; its counts add up to the source's."""

    source: Text = ""
    format: Text = ""
    lines: tuple[ConversionLine, ...] = ()
    notes: tuple[Text, ...] = ()

    @property
    def counts(self) -> dict[Fate, int]:
        """Fields by fate."""
        counter: Counter[Fate] = Counter()
        for line in self.lines:
            counter[line.fate] += line.count
        return dict(counter)

    @property
    def total(self) -> int:
        """Fields accounted for."""
        return sum(line.count for line in self.lines)


class Conversion(Model):
    """A conversion report: both halves of the way from one format to another.

    Attributes:
        read: What the reader made of the source; counts the leaves of the source.
        written: What the writer made of the bundle in between; counts the leaves of the bundle.
        cases: Cases in the bundle.
        outputs: Outputs in it.
        scores: Scores in it.
        verification: The proof that both sides come to the same verdicts, where it was asked for.
    """

    read: ConversionReport
    written: ConversionReport
    cases: int = 0
    outputs: int = 0
    scores: int = 0
    verification: Verification | None = None

    @property
    def dropped(self) -> int:
        """Values lost on either half of the way."""
        return sum(half.counts.get("dropped", 0) for half in (self.read, self.written))
