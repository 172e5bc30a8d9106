"""The committed baseline: an accepted run's per-case values and the digests they depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, model_validator

from bridge.model.policy import Reducer
from bridge.model.run import MetricRecord
from bridge.model.values import EMPTY, FirstVersion, Keyed, Model, Number, Text

Unit = Annotated[Number, Field(ge=0, le=1)]


class Baseline(Model):
    """``baseline.json``.

    Attributes:
        created: When it was made, ISO 8601 in UTC.
        suite: Name of the suite.
        system: Name of the system.
        golden_digest: Digest over all cases.
        cases: Digest of each case by id.
        metrics: Scorer and version behind each metric.
        frameworks: Version of each framework.
        judges: Digest of each judge's configuration.
        epochs: How the values of a case over several epochs became one.
        spent: What the answers took, by budget (``latency_s``, ``cost_usd``, ``tokens``) and case.
        scores: Per gated name (``metric``, or ``framework/metric`` for a native one), the mean
            value of each case by id; a number alone is a mean over cases, good for thresholds
            and nothing else.
    """

    version: FirstVersion = 1
    created: Text = ""
    suite: Text = ""
    system: Text | None = None
    golden_digest: Text = ""
    cases: Keyed[Text, Text] = EMPTY
    metrics: Keyed[Text, MetricRecord] = EMPTY
    frameworks: Keyed[Text, Text] = EMPTY
    judges: Keyed[Text, Text] = EMPTY
    epochs: Reducer = "mean"
    spent: Keyed[Text, Keyed[Text, Number]] = EMPTY
    scores: Keyed[Text, Unit | Keyed[Text, Unit]]

    @model_validator(mode="after")
    def _holds_scores_of_its_own_cases(self) -> Baseline:
        if not self.scores:
            raise ValueError("holds no score")
        for name, scores in self.scores.items():
            if not isinstance(scores, Mapping):
                continue
            if not scores:
                raise ValueError(f"holds no score of {name}")
            strange = next((case for case in scores if case not in self.cases), None)
            if self.cases and strange is not None:
                raise ValueError(f"scores case {strange!r} for {name}, which is not in its cases")
        return self
