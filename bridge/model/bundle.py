"""A bundle: suite, cases, outputs and scores together, any of them empty."""

from __future__ import annotations

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Score
from bridge.model.suite import Suite
from bridge.model.values import Model


class Bundle(Model):
    """What a format reads and writes."""

    suite: Suite | None = None
    cases: tuple[Case, ...] = ()
    outputs: tuple[Output, ...] = ()
    scores: tuple[Score, ...] = ()
