"""Measurements and scores: what scorers say, and one row of the result."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from bridge.model.message import Usage
from bridge.model.values import EMPTY, Json, JsonObject, Model, Name, Number, Text, Whole

Status = Literal["passed", "failed", "scored", "error", "unsupported", "skipped"]
STATUSES: tuple[Status, ...] = ("passed", "failed", "scored", "error", "unsupported", "skipped")
VALUED: frozenset[Status] = frozenset({"passed", "failed", "scored"})
"""The statuses of rows that have a value; the others have none."""


class Raw(Model):
    """A native value before it was normalised to [0, 1], higher is better."""

    value: Json
    scale: tuple[Number, Number] | None = None
    direction: Literal["higher", "lower"] = "higher"


class Measurement(Model):
    """What a scorer says of one output.

    Attributes:
        metric: Filled from the check where a scorer leaves it empty.
        turn: 0-based turn, or null for the whole case.
        value: In [0, 1], higher is better; null with ``skipped``, ``error``, ``unsupported``.
        status: ``scored`` until a threshold decides.
        reason: One readable sentence.
        label: A category, where the scorer gives one.
        error: Why it could not be scored.
        details: Structured evidence.
        raw: The value before normalisation.
        usage: Tokens that judges took to find it.
        cost_usd: US dollars likewise.
    """

    metric: Text = ""
    turn: Whole | None = Field(default=None, ge=0)
    value: Number | None = Field(default=None, ge=0, le=1)
    status: Status = "scored"
    reason: Text = ""
    label: Text | None = None
    error: Text | None = None
    details: JsonObject = EMPTY
    raw: Raw | None = None
    usage: Usage | None = None
    cost_usd: Number | None = Field(default=None, ge=0)


class RowKey(NamedTuple):
    """What a score is joined by."""

    framework: str
    system: str
    case_id: str
    epoch: Whole
    turn: Whole | None
    metric: str


class Score(Model):
    """One row of the result; ``latency_s``, ``usage`` and ``cost_usd`` are those of scoring."""

    framework: Name
    framework_version: Text = ""
    system: Name = "default"
    metric: Name
    scorer: Text = ""
    scorer_version: Text = ""
    case_id: Name
    epoch: Whole = Field(default=1, ge=1)
    turn: Whole | None = Field(default=None, ge=0)
    value: Number | None = Field(default=None, ge=0, le=1)
    label: Text | None = None
    status: Status
    threshold: Number | None = Field(default=None, ge=0, le=1)
    weight: Number = Field(default=1.0, ge=0)
    reason: Text = ""
    error: Text | None = None
    raw: Raw | None = None
    latency_s: Number | None = Field(default=None, ge=0)
    usage: Usage | None = None
    cost_usd: Number | None = Field(default=None, ge=0)
    judge: Text | None = None
    details: JsonObject = EMPTY
    extras: JsonObject = EMPTY

    @model_validator(mode="after")
    def _value_fits_status(self) -> Score:
        if (self.status in VALUED) != (self.value is not None):
            has = "without" if self.value is None else "with"
            raise ValueError(f"status {self.status} {has} a value")
        return self

    @property
    def key(self) -> RowKey:
        """The row's key."""
        return RowKey(self.framework, self.system, self.case_id, self.epoch, self.turn, self.metric)


def error_measurement(error: str, **fields: Any) -> Measurement:
    """A measurement that could not be taken."""
    return Measurement(status="error", error=error, reason=error, **fields)
