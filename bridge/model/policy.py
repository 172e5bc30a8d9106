"""The gate's policy as plain data: ``gate:`` in a suite."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from bridge.model.spelling import AlsoWritten
from bridge.model.values import EMPTY, Flag, Keyed, Model, Name, Number, Text

Change = Literal["refuse", "warn", "shared"]


class MetricPolicy(Model):
    """What one metric must reach.

    Attributes:
        min: Least mean value, in [0, 1].
        min_pass_rate: Least share of passed rows, in [0, 1].
        weight: Share in the weighted score; all given weights sum to 1.
        gate: False shows the metric without letting it decide.
    """

    min: Number | None = Field(default=None, ge=0, le=1)
    min_pass_rate: Number | None = Field(default=None, ge=0, le=1)
    weight: Number | None = Field(default=None, ge=0, le=1)
    gate: Flag = True


class OnChange(Model):
    """What to do when baseline and run differ in something that values depend on.

    ``refuse`` is a verdict ``error``; ``warn`` compares all the same, and says so.

    Attributes:
        golden_set: ``shared`` compares the cases whose content is the same in both, ``warn`` all
            cases of the same id.
        scorer: Another scorer, version of one, or parameters; a check that is gone.
        judge: Another judge, or another configuration of the same.
        framework: Another version of a framework, or one that did not run.
        unknown: One side does not say.
    """

    golden_set: Change = "shared"
    scorer: Literal["refuse", "warn"] = "refuse"
    judge: Literal["refuse", "warn"] = "refuse"
    framework: Literal["refuse", "warn"] = "warn"
    unknown: Literal["refuse", "warn"] = "warn"


def _metric(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"min": value}
    return {} if value is None else value


_SHORT = AlsoWritten(({"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}))


class GatePolicy(Model):
    """How the gate decides.

    Attributes:
        baseline: Path of the committed baseline, relative to the suite.
        metrics: Per metric (``name`` or ``framework/name``) what it must reach.
        confidence: 1 minus the level at which the Holm-adjusted one-sided p shows a regression.
        min_effect: Least drop of the mean that counts as a regression.
        margin: Where set, non-inferiority within this drop must be shown, else inconclusive.
        min_detectable: Where set, a run that could not have seen this drop is inconclusive.
        must_pass: Case ids, or ``tag:NAME``, whose rows must all pass.
        on_change: What to do on another golden set, scorer, judge or framework version.
        on_inconclusive: ``warn`` exits 0, ``fail`` exits 1.
    """

    baseline: Text | None = None
    metrics: Keyed[Name, Annotated[MetricPolicy, BeforeValidator(_metric), _SHORT]] = EMPTY
    confidence: Number = Field(default=0.95, gt=0.5, lt=1)
    min_effect: Number = Field(default=0.0, ge=0, le=1)
    margin: Number | None = Field(default=None, gt=0, le=1)
    min_detectable: Number | None = Field(default=None, gt=0, le=1)
    must_pass: tuple[Name, ...] = ()
    on_change: OnChange = OnChange()
    on_inconclusive: Literal["warn", "fail"] = "warn"

    @model_validator(mode="after")
    def _weights_sum_to_one(self) -> GatePolicy:
        weights = [entry.weight for entry in self.metrics.values() if entry.weight is not None]
        if weights and not math.isclose(math.fsum(weights), 1.0, abs_tol=1e-9):
            raise ValueError(f"the given weights sum to {math.fsum(weights):g}, not to 1")
        return self
