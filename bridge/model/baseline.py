"""The committed baseline: an accepted run's per-case values and the digests they depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from bridge.model.run import MetricRecord
from bridge.model.values import EMPTY, Model, Text

Unit = Annotated[float, Field(ge=0, le=1)]


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
        scores: Per gated name (``metric``, or ``framework/metric`` for a native one), the mean
            value of each case by id; a number alone is a mean over cases, good for thresholds
            and nothing else.
    """

    version: Literal[1] = 1
    created: Text = ""
    suite: Text = ""
    system: Text | None = None
    golden_digest: Text = ""
    cases: Mapping[Text, Text] = EMPTY
    metrics: Mapping[Text, MetricRecord] = EMPTY
    frameworks: Mapping[Text, Text] = EMPTY
    scores: Mapping[Text, Unit | Mapping[Text, Unit]]
