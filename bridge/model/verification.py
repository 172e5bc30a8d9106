"""Proof of a migration: the same recorded outputs, scored on both sides, verdict by verdict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from bridge.model.score import Status
from bridge.model.values import Model, Name, Number, Text, Whole

Way = Literal["own", "shared", "recorded"]
"""How a side came to its verdicts: by the framework's own checks where it has them, by the shared
scorers alone, or read from a results file."""


class VerifiedSide(Model):
    """One side of a proof.

    Attributes:
        framework: The framework that scored.
        version: Its version; "" where it is not known.
        way: How it came to its verdicts.
    """

    framework: Name
    version: Text = ""
    way: Way = "shared"


class Ruling(Model):
    """What one side says of one output: status, value in [0, 1] if any, and the reason."""

    status: Status
    value: Number | None = Field(default=None, ge=0, le=1)
    reason: Text = ""


class Agreement(Model):
    """How often both sides say the same, for one type of assertion.

    Attributes:
        type: The assertion's type as the source has it (``icontains``), or a scorer's name.
        compared: Rows that both sides decided.
        agreed: Those of them with the same verdict.
        scores_differ: Those of ``agreed`` whose scores are not the same all the same.
    """

    type: Text
    compared: Whole = 0
    agreed: Whole = 0
    scores_differ: Whole = 0


class Disagreement(Model):
    """A row on which the sides do not agree; a side without a row is null."""

    type: Text
    metric: Name
    system: Name
    case_id: Name
    epoch: Whole = 1
    turn: Whole | None = None
    what: Literal["verdict", "score", "missing"]
    source: Ruling | None = None
    target: Ruling | None = None


class LeftOut(Model):
    """Assertions of one type that could not be compared, and why."""

    type: Text
    reason: Text
    count: Whole = 1


class Verification(Model):
    """The proof of a migration.

    Attributes:
        source: The side migrated from.
        target: The side migrated to.
        cases: Cases with an output and a check.
        outputs: Outputs that both sides scored.
        agreements: By type of assertion.
        disagreements: Every row on which the sides differ, in verdict or in score.
        left_out: What could not be compared.
        notes: What a reader should know.
    """

    source: VerifiedSide
    target: VerifiedSide
    cases: Whole = 0
    outputs: Whole = 0
    agreements: tuple[Agreement, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[Text, ...] = ()

    @property
    def compared(self) -> int:
        """Rows that both sides decided."""
        return sum(each.compared for each in self.agreements)

    @property
    def agreed(self) -> int:
        """Rows with the same verdict."""
        return sum(each.agreed for each in self.agreements)

    @property
    def proven(self) -> bool:
        """Whether something was compared, and every verdict is the same."""
        return 0 < self.compared == self.agreed


def total_left_out(left_out: Iterable[LeftOut]) -> tuple[LeftOut, ...]:
    """Like things added up: one entry a type and reason, in the order they were met."""
    counts: dict[tuple[str, str], int] = {}
    for each in left_out:
        counts[each.type, each.reason] = counts.get((each.type, each.reason), 0) + each.count
    return tuple(
        LeftOut(type=kind, reason=reason, count=count) for (kind, reason), count in counts.items()
    )
