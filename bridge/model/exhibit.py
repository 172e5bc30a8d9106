"""The cases behind a verdict, as columns: what a report lets a person browse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ShownCase:
    """A case as it is shown; every text may come from anywhere.

    Attributes:
        input: What was asked, turns on a line each.
        expected: What was expected; empty where nothing is.
        now: The answer, epochs and turns one after the other.
        before: The answer of the run compared with; ``None`` where that is not known.
    """

    id: str
    input: str = ""
    expected: str = ""
    now: str = ""
    before: str | None = None
    tags: tuple[str, ...] = ()
    failure_mode: str | None = None
    where: str | None = None


@dataclass(frozen=True, slots=True)
class ShownMetric:
    """A gated name over all cases; sequences are as long as the cases and in their order.

    Attributes:
        now: Mean value of each case, in [0, 1]; ``None`` where it was not scored.
        before: The same in the baseline.
        status: The worst status of each case's rows; empty where it has none.
        reasons: Why, of the rows that failed or broke, by the case's place.
    """

    name: str
    framework: str
    now: Sequence[float | None]
    before: Sequence[float | None]
    status: Sequence[str]
    reasons: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exhibit:
    """Cases with their values in every gated name."""

    cases: Sequence[ShownCase] = ()
    metrics: Sequence[ShownMetric] = ()
