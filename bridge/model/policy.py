"""The gate's policy as plain data: ``gate:`` in a suite."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from bridge.model.spelling import AlsoWritten
from bridge.model.values import EMPTY, Flag, Keyed, Model, Name, Number, Text, Whole

Change = Literal["refuse", "warn", "shared"]
SliceKind = Literal["tag", "failure_mode", "system"]
BudgetName = Literal["latency_s", "cost_usd", "tokens"]
Reducer = Literal["mean", "median", "mode", "min", "max"]
"""How the values of several epochs become one: ``min`` is pass^k, ``max`` pass@k."""


class MetricPolicy(Model):
    """What one metric must reach.

    Attributes:
        min: Least mean value, in [0, 1].
        min_pass_rate: Least share of passed rows, in [0, 1].
        by: What must reach ``min``: the mean itself (``point``), or the lower end of its one-sided
            interval at the policy's confidence (``bound``: Wilson, Clopper-Pearson, t or BCa).
        scale: Least and greatest native value, of a metric in a foreign result file whose values
            are not in [0, 1].
        weight: Share in the weighted score; all given weights sum to 1.
        gate: False shows the metric without letting it decide.
    """

    min: Number | None = Field(default=None, ge=0, le=1)
    min_pass_rate: Number | None = Field(default=None, ge=0, le=1)
    by: Literal["point", "bound"] = "point"
    scale: tuple[Number, Number] | None = None
    weight: Number | None = Field(default=None, ge=0, le=1)
    gate: Flag = True

    @model_validator(mode="after")
    def _a_bound_is_of_the_mean(self) -> MetricPolicy:
        if self.by == "bound" and self.min is None:
            raise ValueError("by: bound needs min, the mean that the bound must reach")
        return self

    @model_validator(mode="after")
    def _a_scale_rises(self) -> MetricPolicy:
        if self.scale is not None and not self.scale[0] < self.scale[1]:
            raise ValueError(f"scale is {list(self.scale)}, write [least, greatest]")
        return self


class BrokenRows(Model):
    """What becomes of rows that could not be scored.

    Attributes:
        treat: ``refuse`` makes the verdict ``error``; ``worst`` counts them as 0, since a missing
            score is not missing at random; ``exclude`` leaves them out.
        max_share: With ``worst`` and ``exclude``, the most of a metric's rows that may be broken;
            above it the verdict is ``error``.
    """

    treat: Literal["refuse", "worst", "exclude"] = "refuse"
    max_share: Number = Field(default=0.05, gt=0, lt=1)


class BudgetPolicy(Model):
    """What the answers to the cases may take, in the budget's own unit.

    Attributes:
        mean: Most that a case may take on average.
        total: Most that all cases may take, each counted once (its mean over epochs).
        p50: Most at the median.
        p95: Most at the 95th percentile.
        p99: Most at the 99th percentile.
        max_increase: Most that the mean may rise over the baseline's, as a share of it; a rise
            beyond it fails where the paired test shows it.
    """

    mean: Number | None = Field(default=None, gt=0)
    total: Number | None = Field(default=None, gt=0)
    p50: Number | None = Field(default=None, gt=0)
    p95: Number | None = Field(default=None, gt=0)
    p99: Number | None = Field(default=None, gt=0)
    max_increase: Number | None = Field(default=None, ge=0)


class Budgets(Model):
    """What answers may take: seconds, US dollars, and tokens in and out."""

    latency_s: BudgetPolicy | None = None
    cost_usd: BudgetPolicy | None = None
    tokens: BudgetPolicy | None = None

    @property
    def given(self) -> dict[BudgetName, BudgetPolicy]:
        """Those that are set, by name."""
        named: dict[BudgetName, BudgetPolicy | None] = {
            "latency_s": self.latency_s,
            "cost_usd": self.cost_usd,
            "tokens": self.tokens,
        }
        return {name: entry for name, entry in named.items() if entry is not None}


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


class CalibrationPolicy(Model):
    """When a judge is believed.

    Attributes:
        treat: What a judged metric in the gate is without a calibration that holds: ``require``
            makes the verdict ``error``, ``warn`` says so, ``off`` does not look.
        path: The calibration file, relative to the suite.
        kappa: Least lower bound of kappa of a judge that is trusted.
        agreement: Least lower bound of raw agreement of one that is trusted.
        unusable: An upper bound of kappa below this makes a judge unusable.
        labels: Fewest labels.
        max_age_days: Where set, an older calibration is stale.
    """

    treat: Literal["require", "warn", "off"] = "warn"
    path: Text = "calibration.json"
    kappa: Number = Field(default=0.6, ge=-1, le=1)
    agreement: Number = Field(default=0.85, ge=0, le=1)
    unusable: Number = Field(default=0.4, ge=-1, le=1)
    labels: Whole = Field(default=30, ge=2)
    max_age_days: Number | None = Field(default=None, gt=0)


def _calibration(value: Any) -> Any:
    if value is False:  # off, as YAML 1.1 and people's own tools write it
        return {"treat": "off"}
    return {"treat": value} if isinstance(value, str) else value


def _metric(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"min": value}
    return {} if value is None else value


_SHORT = AlsoWritten(({"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}))


_TREAT = AlsoWritten(({"enum": ["require", "warn", "off", False]},))


class GatePolicy(Model):
    """How the gate decides.

    Attributes:
        baseline: Path of the committed baseline, relative to the suite.
        metrics: Per metric (``name`` or ``framework/name``) what it must reach.
        confidence: 1 minus the level at which the Holm-adjusted one-sided p shows a regression.
        min_effect: Least drop of the mean that counts as a regression.
        margin: Where set, non-inferiority within this drop must be shown, else inconclusive.
        min_detectable: Where set, a run that could not have seen this drop is inconclusive.
        epochs: How the values of a case over several epochs become one.
        clusters: Beginning of the tags that say which cases belong together (``document:``): the
            cluster, not the case, is then the unit of inference.
        errors: What becomes of rows that could not be scored.
        max_skipped: Most of a metric's rows that may be skipped, as a share; above it the verdict
            is ``error``.
        max_baseline_age_days: Where set, an older baseline is refused.
        budgets: What answers may take: ``latency_s``, ``cost_usd``, ``tokens``.
        slices: What the list of places to look at is by; ``system`` lists the systems of the result
            that are not decided on, held against the same baseline.
        must_pass: Case ids, or ``tag:NAME``, whose rows must all pass.
        on_change: What to do on another golden set, scorer, judge or framework version.
        on_inconclusive: ``warn`` exits 0, ``fail`` exits 1.
        calibration: When a judge is believed; a text alone is ``treat``.
    """

    baseline: Text | None = None
    metrics: Keyed[Name, Annotated[MetricPolicy, BeforeValidator(_metric), _SHORT]] = EMPTY
    confidence: Number = Field(default=0.95, gt=0.5, lt=1)
    min_effect: Number = Field(default=0.0, ge=0, le=1)
    margin: Number | None = Field(default=None, gt=0, le=1)
    min_detectable: Number | None = Field(default=None, gt=0, le=1)
    epochs: Reducer = "mean"
    clusters: Name | None = None
    errors: BrokenRows = BrokenRows()
    max_skipped: Number | None = Field(default=None, ge=0, le=1)
    max_baseline_age_days: Number | None = Field(default=None, gt=0)
    budgets: Budgets = Budgets()
    slices: tuple[SliceKind, ...] = ("tag", "failure_mode", "system")
    must_pass: tuple[Name, ...] = ()
    on_change: OnChange = OnChange()
    on_inconclusive: Literal["warn", "fail"] = "warn"
    calibration: Annotated[CalibrationPolicy, BeforeValidator(_calibration), _TREAT] = (
        CalibrationPolicy()
    )

    @property
    def scales(self) -> dict[str, tuple[float, float]]:
        """The declared scales, by metric."""
        return {name: each.scale for name, each in self.metrics.items() if each.scale is not None}

    @model_validator(mode="after")
    def _weights_sum_to_one(self) -> GatePolicy:
        weights = [entry.weight for entry in self.metrics.values() if entry.weight is not None]
        if weights and not math.isclose(math.fsum(weights), 1.0, abs_tol=1e-9):
            raise ValueError(f"the given weights sum to {math.fsum(weights):g}, not to 1")
        return self
