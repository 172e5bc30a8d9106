"""How far a judge agrees with people: labels, and what a calibration found."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bridge.model.values import FirstVersion, Flag, Model, Name, Number, Text, Whole

Trust = Literal["trusted", "marginal", "unusable"]


class Label(Model):
    """One line of a labels file: what a person says of one row.

    Attributes:
        case_id: The case.
        label: True and false, or ``pass`` and ``fail``; one of the levels ``poor``, ``fair``,
            ``good``, ``excellent``; or a value in [0, 1].
        metric: The metric labelled; may be left out where the run has one judged metric.
        system: The system, where the run has several.
        epoch: 1-based.
        turn: 0-based, or null for the whole case.
        labeller: Who said so.
        note: Why.
    """

    case_id: Name
    label: Flag | Number | Text
    metric: Name | None = None
    system: Name | None = None
    epoch: Whole = Field(default=1, ge=1)
    turn: Whole | None = Field(default=None, ge=0)
    labeller: Text | None = None
    note: Text | None = None


class Rate(Model):
    """A share or a kappa with its two-sided 95 % interval; null where it is undefined."""

    value: Number | None = None
    low: Number | None = None
    high: Number | None = None
    n: Whole = 0


class Confusion(Model):
    """How often people said one thing and the judge another."""

    human: Text
    judge: Text
    n: Whole


class CalibrationSlice(Model):
    """One tag or failure mode: labels, raw agreement, and the judge's false passes."""

    by: Literal["tag", "failure_mode"]
    name: Text
    n: Whole
    agreement: Rate
    false_passes: Whole


BiasName = Literal[
    "inflation",
    "clustering",
    "length",
    "reference_wording",
    "rationale_length",
    "self_preference",
    "criteria_order",
    "shown_reference",
    "contexts_order",
    "position",
]
"""``inflation``: the judge's mean above people's. ``clustering``: the share of its commonest level
above that of people's. ``length``, ``reference_wording``, ``rationale_length``: how its excess over
people goes with the answer's length, its words in common with the reference, the length of its own
rationale. ``self_preference``: its excess on answers by models of its family above that on others.
``criteria_order``, ``shown_reference``: how its scores change when it is asked again with the
criteria in reverse, with the reference out of sight, and with the retrieved contexts in reverse.
``position``: its taste for the first or the second of two answers, which scores of one answer at a
time do not have.
"""


class Bias(Model):
    """One thing that should not matter to a judge, and how far it seems to.

    Attributes:
        name: What it is.
        measure: ``spearman``, a rank correlation in [-1, 1], or ``difference`` of two means.
        value: The measure; 0 where there is no bias.
        low: Lower end of its two-sided 95 % interval.
        high: Upper end of it.
        n: Rows behind it.
        found: Whether the interval leaves 0 out and the value is not small.
    """

    name: BiasName
    measure: Literal["spearman", "difference"]
    value: Number
    low: Number
    high: Number
    n: Whole
    found: Flag


class Unmeasured(Model):
    """A bias that was not measured, and why."""

    name: BiasName
    why: Text


Method = Literal["rogan_gladen", "prediction_powered"]


class CorrectedRate(Model):
    """The pass rate over all rows with the judge's errors taken out, with its 95 % interval.

    Attributes:
        method: How.
        judge: The judge's own pass rate.
        n: Rows that the judge scored.
    """

    method: Method
    value: Number
    low: Number
    high: Number
    judge: Number
    n: Whole


class CalibrationEntry(Model):
    """One judged metric held against people's labels.

    Attributes:
        metric: The metric, ``framework/metric`` for a framework's own.
        judges: Names of the judges it asks.
        models: Their models.
        judge_digest: Digest of what their scores depend on.
        scorer: The scorer and its version.
        params_digest: Digest of the check's parameters: of a rubric, all that it says.
        kind: What people said: pass or fail, or one of four levels.
        weights: How kappa counts disagreement between levels.
        n: Labels with a row of the judge.
        cases: Cases they are of: what is resampled.
        unscored: Labels whose row has no value: an error, or skipped.
        other_systems: Labels of other systems, which are left out.
        agreement: Share of equal verdicts.
        kappa: Agreement beyond chance.
        true_positive_rate: Of what people passed, the share that the judge passed.
        false_positive_rate: Of what people failed, the share that the judge passed.
        false_pass_rate: Of what the judge passed, the share that people failed: what would slip
            through a gate.
        verdict: Whether to believe the judge.
        reasons: Why.
        labels_needed: About how many labels would settle a marginal verdict; null where more would
            not.
        biases: What seems to lead the judge astray, and what was looked for and not found.
        not_measured: The biases that were not looked for, each with its reason.
        corrected: What people would pass of all rows; for labels on rows drawn at random.
        label_next: Cases without a label on which the judge is nearest to its threshold.
    """

    metric: Text
    judges: tuple[Text, ...]
    models: tuple[Text, ...] = ()
    judge_digest: Text
    scorer: Text
    scorer_version: Text
    params_digest: Text
    kind: Literal["binary", "levels"]
    weights: Literal["linear", "quadratic"] | None = None
    n: Whole
    cases: Whole
    unscored: Whole = 0
    other_systems: Whole = 0
    agreement: Rate
    kappa: Rate
    true_positive_rate: Rate
    false_positive_rate: Rate
    false_pass_rate: Rate
    confusion: tuple[Confusion, ...]
    slices: tuple[CalibrationSlice, ...] = ()
    verdict: Trust
    reasons: tuple[Text, ...] = ()
    labels_needed: Whole | None = None
    biases: tuple[Bias, ...] = ()
    not_measured: tuple[Unmeasured, ...] = ()
    corrected: tuple[CorrectedRate, ...] = ()
    label_next: tuple[Text, ...] = ()


class Calibration(Model):
    """A calibration file: one entry a judged metric.

    Attributes:
        created: When the last entry was made, ISO 8601 in UTC.
    """

    version: FirstVersion = 1
    created: Text
    bridge_version: Text = ""
    entries: tuple[CalibrationEntry, ...]
