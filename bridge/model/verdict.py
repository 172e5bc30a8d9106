"""The gate's decision, with every reason: ``eval-report.json``."""

from __future__ import annotations

from typing import Literal

from bridge.model.policy import SliceKind
from bridge.model.values import EMPTY, Keyed, Model, Text

VerdictName = Literal["passed", "failed", "inconclusive", "error"]
MetricStatus = Literal["passed", "failed", "inconclusive", "error", "shown"]


NO_MODE = "(none)"
"""What stands for the failure mode of a case that names none."""


class MetricResult(Model):
    """One metric of the report.

    Attributes:
        mean: Mean value over cases, in [0, 1]; null where nothing was scored.
        ci_low: Lower end of the two-sided interval of the mean.
        ci_high: Upper end of the two-sided interval of the mean.
        n: Cases scored.
        pass_rate: Share of rows that passed, of those with a threshold.
        baseline: Mean of the paired cases in the baseline.
        delta: Mean paired difference, now minus baseline.
        delta_low: Lower end of its two-sided interval.
        delta_high: Upper end of its two-sided interval.
        n_paired: Cases in both.
        p: One-sided p of the paired test, Holm-adjusted over the gated metrics.
        p_raw: The same before adjustment.
        test: Name of the paired test.
        note: What a reader must know before trusting that test.
        min_detectable: Least drop this run could have shown at 80 % power.
        n_needed: Cases that would decide a drop as large as the one seen.
        status: What the metric says of itself; ``shown`` is not gated.
        reasons: Why.
        errors: Rows that could not be scored.
        skipped: Rows with nothing to score against.
        unsupported: Rows the framework cannot score.
        weight: Share in the weighted score.
        framework: The framework whose rows these are.
    """

    mean: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    pass_rate: float | None = None
    baseline: float | None = None
    delta: float | None = None
    delta_low: float | None = None
    delta_high: float | None = None
    n_paired: int = 0
    p: float | None = None
    p_raw: float | None = None
    test: Text | None = None
    note: Text | None = None
    min_detectable: float | None = None
    n_needed: int | None = None
    status: MetricStatus = "shown"
    reasons: tuple[Text, ...] = ()
    errors: int = 0
    skipped: int = 0
    unsupported: int = 0
    weight: float | None = None
    framework: Text = ""


class Regression(Model):
    """A metric that became worse; ``ci_high`` is the upper end of the difference's interval."""

    metric: Text
    baseline: float
    now: float
    delta: float
    ci_high: float | None = None
    p: float
    cases: tuple[Text, ...] = ()
    failure_modes: Keyed[Text, int] = EMPTY


class FailedCase(Model):
    """A row that failed or broke, worst first in the report.

    Attributes:
        value: Value of the row.
        case_value: Mean of the case over its epochs and turns.
        baseline: That mean in the baseline.
        failure_mode: The case's own, from its golden set.
        where: ``path:line`` of the case.
    """

    case_id: Text
    metric: Text
    system: Text
    epoch: int = 1
    turn: int | None = None
    status: Literal["failed", "error"]
    value: float | None = None
    case_value: float | None = None
    baseline: float | None = None
    reason: Text = ""
    failure_mode: Text | None = None
    where: Text | None = None


class FrameworkMean(Model):
    """What one framework says of a metric that several scored.

    Attributes:
        mean: Mean value over rows, in [0, 1].
        n: Rows scored.
        agreement: 1 minus the mean absolute difference from the first framework, over the rows
            that both scored; null where there is none.
    """

    mean: float
    n: int
    agreement: float | None = None


class BudgetResult(Model):
    """What the answers took, in seconds, US dollars or tokens a case.

    Attributes:
        n: Cases.
        mean: Mean over cases; each case counts by its mean over epochs.
        total: Sum over cases.
        p50: Median.
        p95: 95th percentile.
        p99: 99th percentile.
        baseline: Mean of the paired cases in the baseline.
        increase: Relative increase over the paired cases.
        p: One-sided p of the paired test, Holm-adjusted over the budgets.
    """

    n: int = 0
    mean: float | None = None
    total: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    baseline: float | None = None
    increase: float | None = None
    p: float | None = None
    status: MetricStatus = "passed"
    reasons: tuple[Text, ...] = ()


class SliceResult(Model):
    """A metric in the cases of one tag or failure mode, or in another system; it decides nothing.

    Attributes:
        kind: What the slice is by.
        name: The tag, failure mode or system.
        n: Cases of the slice that were scored.
        mean: Their mean value, in [0, 1].
        baseline: Mean of the paired cases in the baseline.
        delta: Mean paired difference, now minus baseline.
        p: One-sided p, adjusted over all slices (Benjamini and Hochberg); null where not tested.
    """

    kind: SliceKind
    name: Text
    metric: Text
    n: int
    mean: float
    baseline: float | None = None
    delta: float | None = None
    p: float | None = None


class Flakiness(Model):
    """How far the answers to one case differ between epochs, in one metric.

    Attributes:
        epochs: Least number of answers to a case.
        pass_all: Share of cases that passed in every epoch (pass^k); null without thresholds.
        pass_any: Share of cases that passed in some epoch (pass@k); null without thresholds.
        within_variance: Mean variance of a case's values over its epochs.
        between_variance: Variance of the case means.
        changing: Cases that passed in some epochs and failed in others.
        cases: Some of them.
    """

    epochs: int
    pass_all: float | None = None
    pass_any: float | None = None
    within_variance: float
    between_variance: float
    changing: int = 0
    cases: tuple[Text, ...] = ()


class Totals(Model):
    """What the run took, and its rows.

    Attributes:
        latency_s: Seconds that the system's answers took.
        cost_usd: US dollars, of the answers and of scoring them.
        input_tokens: Tokens of the system, read.
        output_tokens: Tokens of the system, written.
        judge_calls: Requests sent to judges, over all systems of the runs.
        judge_tokens: Tokens that they took, in and out.
        judge_cost_usd: The judges' part of ``cost_usd``.
    """

    cases: int = 0
    rows: int = 0
    errors: int = 0
    latency_s: float = 0.0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    judge_calls: int = 0
    judge_tokens: int = 0
    judge_cost_usd: float = 0.0


class Verdict(Model):
    """The decision of the gate.

    Attributes:
        passed: True exactly when the gate exits 0.
        verdict: The decision.
        suite: Name of the suite.
        system: The system decided on.
        frameworks: The frameworks that have rows.
        reasons: Every reason for a verdict that is not ``passed``: errors, failures, doubts.
        notes: What a reader should know besides.
        metrics: Every metric, by gated name.
        regressed: The gated metrics that became worse.
        failures: Failed and broken rows, worst first.
        agreement: Metrics that several frameworks scored, by framework.
        budgets: What the answers took, of the budgets that are set.
        slices: Gated metrics by tag, failure mode and other system, the likeliest drops first.
        flaky: By gated name, what several epochs show.
        weighted_score: Sum of weight times mean, where weights are given.
        totals: What the answers took, and the rows by number.
        confidence: 1 minus the level of the decision.
        family: Metrics that the p values are adjusted over.
        min_effect: Least drop that counts as a regression.
        seed: Seed of every resampling.
        baseline: Where the baseline was read.
        added_cases: Cases the baseline does not have.
        removed_cases: Cases only the baseline has.
        changed_cases: Cases whose content is not the baseline's.
    """

    passed: bool
    verdict: VerdictName
    suite: Text = ""
    system: Text | None = None
    frameworks: tuple[Text, ...] = ()
    reasons: tuple[Text, ...] = ()
    notes: tuple[Text, ...] = ()
    metrics: Keyed[Text, MetricResult] = EMPTY
    regressed: tuple[Regression, ...] = ()
    failures: tuple[FailedCase, ...] = ()
    agreement: Keyed[Text, Keyed[Text, FrameworkMean]] = EMPTY
    budgets: Keyed[Text, BudgetResult] = EMPTY
    slices: tuple[SliceResult, ...] = ()
    flaky: Keyed[Text, Flakiness] = EMPTY
    weighted_score: float | None = None
    totals: Totals = Totals()
    confidence: float = 0.95
    family: int = 0
    min_effect: float = 0.0
    seed: int = 0
    baseline: Text | None = None
    added_cases: tuple[Text, ...] = ()
    removed_cases: tuple[Text, ...] = ()
    changed_cases: tuple[Text, ...] = ()
