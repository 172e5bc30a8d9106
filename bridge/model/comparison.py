"""Two runs, or two frameworks of one run, held against each other: nothing is decided."""

from __future__ import annotations

from typing import Literal

from bridge.model.run import JudgeRecord
from bridge.model.score import Status
from bridge.model.values import EMPTY, Keyed, Model, Text

Choice = Literal["first", "second", "tie"]


class ComparedMetric(Model):
    """One gated name in both runs, over the cases that both scored.

    Attributes:
        n: Paired cases.
        first: Mean in the first run.
        second: Mean in the second run.
        delta: Mean paired difference, second minus first.
        low: Lower end of its two-sided 95 % interval.
        high: Upper end of its two-sided 95 % interval.
        p: Two-sided p of the paired test, Holm-adjusted over the metrics compared.
        test: Name of the test.
        better: Cases whose value rose.
        worse: Cases whose value fell.
        note: What a reader must know before trusting p.
    """

    n: int
    first: float
    second: float
    delta: float
    low: float
    high: float
    p: float
    test: Text = ""
    better: int = 0
    worse: int = 0
    note: Text | None = None


class CaseChange(Model):
    """A case whose value changed in one metric, with both answers.

    Attributes:
        values: In the first and in the second run.
        reasons: Of its worst row in the first and in the second run; empty if it passed.
        answers: In the first and in the second run, where they are known.
        where: ``path:line`` of the case.
    """

    case_id: Text
    metric: Text
    values: tuple[float, float]
    reasons: tuple[Text, Text] = ("", "")
    answers: tuple[Text | None, Text | None] = (None, None)
    failure_mode: Text | None = None
    where: Text | None = None

    @property
    def delta(self) -> float:
        """Second minus first."""
        return self.values[1] - self.values[0]


class MetricAgreement(Model):
    """How far two frameworks agree in one metric, over the rows that both scored.

    Attributes:
        n: Common rows.
        first: Mean of the first framework.
        second: Mean of the second framework.
        agreement: Share of rows with the same verdict, passed or failed; null without thresholds.
        kappa: Cohen's kappa of these verdicts; null where chance alone explains everything.
        spearman: Rank correlation of the values; null where one side is constant.
        bias: Mean difference, second minus first (Bland and Altman 1986).
        low: Lower 95 % limit of agreement.
        high: Upper 95 % limit of agreement.
        flipped: Rows that one passes and the other fails.
    """

    n: int
    first: float
    second: float
    agreement: float | None = None
    kappa: float | None = None
    spearman: float | None = None
    bias: float | None = None
    low: float | None = None
    high: float | None = None
    flipped: int = 0


class Disagreement(Model):
    """A row on which two frameworks disagree, with both reasons."""

    case_id: Text
    metric: Text
    epoch: int = 1
    turn: int | None = None
    values: tuple[float, float]
    statuses: tuple[Status, Status]
    reasons: tuple[Text, Text] = ("", "")
    where: Text | None = None


class CasePreference(Model):
    """Which of two answers to one case a judge prefers.

    Attributes:
        choice: The side that it prefers in both orders, else a tie.
        flipped: Whether the order of the answers decided.
        rationales: Why, with the first side's answer shown first, then shown second.
        answers: Of the first and of the second side.
        sway: Sides whose answer speaks to its judge.
        where: ``path:line`` of the case.
    """

    case_id: Text
    choice: Choice
    flipped: bool = False
    rationales: tuple[Text, ...] = ()
    answers: tuple[Text, Text]
    sway: tuple[Choice, ...] = ()
    where: Text | None = None


class Preferences(Model):
    """Two runs by their answers, each pair shown to a judge in both orders.

    Attributes:
        judge: The judge's name.
        question: By what it compared.
        n: Cases on which it was heard.
        first: Cases in which it prefers the first side's answer, in both orders.
        second: Cases in which it prefers the second's.
        ties: The others: no answer is better, or the orders disagree.
        p: Two-sided exact sign test, ties left out.
        rate: Share of the second side's among the wins; null where there is none.
        low: Lower end of its two-sided 95 % interval (Wilson).
        high: Upper end of it.
        flips: Cases in which the order decided.
        flip_rate: Share of them.
        shown_first: Flips towards the answer that was shown first.
        errors: Cases on which the judge gave no usable answer, by kind.
        took: What it took.
        cases: Wins first, then flips; equal answers left out.
        more: Cases beyond those listed.
    """

    judge: Text
    question: Text
    n: int
    first: int
    second: int
    ties: int
    p: float
    rate: float | None = None
    low: float | None = None
    high: float | None = None
    flips: int = 0
    flip_rate: float = 0.0
    shown_first: int = 0
    errors: Keyed[Text, int] = EMPTY
    took: JudgeRecord | None = None
    cases: tuple[CasePreference, ...] = ()
    more: int = 0


class Comparison(Model):
    """What ``bridge compare`` finds.

    Attributes:
        kind: Two runs, or two frameworks.
        names: The first and the second side.
        notes: What a reader should know: faults of either side, what only one side has.
        metrics: Of two runs, by gated name.
        changes: Of two runs: cases that changed, the largest first.
        agreement: Of two frameworks, by metric.
        disagreements: Of two frameworks: flipped rows first, then the largest differences.
        more: Changes or disagreements beyond those listed.
        preferences: Of two runs: which answers a judge prefers, where it was asked.
    """

    kind: Literal["runs", "frameworks"]
    names: tuple[Text, Text]
    notes: tuple[Text, ...] = ()
    metrics: Keyed[Text, ComparedMetric] = EMPTY
    changes: tuple[CaseChange, ...] = ()
    agreement: Keyed[Text, MetricAgreement] = EMPTY
    disagreements: tuple[Disagreement, ...] = ()
    more: int = 0
    preferences: Preferences | None = None
