"""What leads a judge astray, as far as labels and scores show it: no call is made.

Each probe holds the judge's excess (its value minus people's) against something that should not
matter. An association is no proof of a cause; it says where to look.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bridge.model.calibration import Bias, BiasName
from bridge.stats import difference_interval, spearman, student_t_quantile
from bridge.stats.agreement import spearman_interval

LEAST = 20
"""Fewest labelled cases of a probe."""
LEAST_OF_A_FAMILY = 5
"""Fewest rows of either side of the comparison by families."""
NOTABLE_CORRELATION = 0.2
NOTABLE_DIFFERENCE = 0.05
"""What is less is not called a bias, whatever its interval."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One labelled row, and what a judge might go by instead of the answer's worth.

    Attributes:
        case_id: The case.
        human: People's value in [0, 1].
        judge: The judge's.
        levels: People's level and the judge's; ``None`` where people said pass or fail.
        length: Characters of the answer; ``None`` where it is not known, as for all that follow.
        overlap: Word F1 of the answer and the reference.
        rationale: Characters of the judge's rationale.
        akin: Whether the answering model is of a judge's family.
    """

    case_id: str
    human: float
    judge: float
    levels: tuple[str, str] | None = None
    length: int | None = None
    overlap: float | None = None
    rationale: int | None = None
    akin: bool | None = None

    @property
    def excess(self) -> float:
        """How far the judge is above people."""
        return self.judge - self.human


def find_biases(observations: Sequence[Observation]) -> tuple[Bias, ...]:
    """Every bias that can be measured, found or not; none with too few labels."""
    return tuple(_probes(observations))


def _probes(observations: Sequence[Observation]) -> Iterator[Bias]:
    if _cases(observations) < LEAST:
        return
    yield _inflation(observations)
    if all(each.levels is not None for each in observations):
        yield _clustering(observations)
    going_by: dict[BiasName, Callable[[Observation], float | None]] = {
        "length": lambda each: each.length,
        "reference_wording": lambda each: each.overlap,
        "rationale_length": lambda each: each.rationale,
    }
    for name, read in going_by.items():
        yield from _correlated(name, observations, read)
    yield from _self_preference(observations)


def _cases(observations: Sequence[Observation]) -> int:
    return len({each.case_id for each in observations})


def difference_bias(
    name: BiasName, people: Sequence[float], judge: Sequence[float], cases: Sequence[str]
) -> Bias:
    """A bias as the mean difference of paired values in [0, 1], rows of one case together.

    Args:
        name: What it is.
        people: What it is held against, one value a row.
        judge: The values that a bias raises, one a row.
        cases: The rows' cases.
    """
    several = len(set(cases)) < len(cases)
    interval = difference_interval(people, judge, clusters=cases if several else None)
    value = math.fsum(judge) / len(judge) - math.fsum(people) / len(people)
    apart = interval.low > 0.0 or interval.high < 0.0
    return Bias(
        name=name,
        measure="difference",
        value=value,
        low=interval.low,
        high=interval.high,
        n=len(judge),
        found=apart and abs(value) >= NOTABLE_DIFFERENCE,
    )


def _inflation(observations: Sequence[Observation]) -> Bias:
    """The judge's mean above people's."""
    people, judge = [each.human for each in observations], [each.judge for each in observations]
    return difference_bias("inflation", people, judge, [each.case_id for each in observations])


def _clustering(observations: Sequence[Observation]) -> Bias:
    """The share of the judge's commonest level above that of people's."""
    sides = list(zip(*(each.levels for each in observations if each.levels), strict=True))
    people, judge = ([float(level == _commonest(side)) for level in side] for side in sides)
    found = difference_bias("clustering", people, judge, [each.case_id for each in observations])
    return found.model_copy(update={"found": found.found and (found.value or 0.0) > 0.0})


def _commonest(levels: Sequence[str]) -> str:
    counts = Counter(levels)
    return max(sorted(counts), key=counts.__getitem__)


def _correlated(
    name: BiasName,
    observations: Sequence[Observation],
    read: Callable[[Observation], float | None],
) -> Iterator[Bias]:
    """Rank correlation of the judge's excess with what it may go by."""
    known = [(each, value) for each in observations if (value := read(each)) is not None]
    cases = _cases([each for each, _ in known])
    if cases < LEAST:
        return
    value = spearman([each.excess for each, _ in known], [gone_by for _, gone_by in known])
    interval = None if value is None else spearman_interval(value, cases)
    if value is None or interval is None:
        return
    apart = interval.low > 0.0 or interval.high < 0.0
    yield Bias(
        name=name,
        measure="spearman",
        value=value,
        low=interval.low,
        high=interval.high,
        n=len(known),
        found=apart and abs(value) >= NOTABLE_CORRELATION,
    )


def _self_preference(observations: Sequence[Observation]) -> Iterator[Bias]:
    """Mean excess on answers of the judge's own family above that on others', by Welch."""
    own = [each.excess for each in observations if each.akin is True]
    others = [each.excess for each in observations if each.akin is False]
    if min(len(own), len(others)) < LEAST_OF_A_FAMILY:
        return
    (mean, spread), (other_mean, other_spread) = _moments(own), _moments(others)
    value, variance = mean - other_mean, spread + other_spread
    half = 0.0
    if variance > 0.0:
        df = variance**2 / (spread**2 / (len(own) - 1) + other_spread**2 / (len(others) - 1))
        half = student_t_quantile(0.975, df) * math.sqrt(variance)
    apart = value - half > 0.0 or value + half < 0.0
    yield Bias(
        name="self_preference",
        measure="difference",
        value=value,
        low=max(-2.0, value - half),
        high=min(2.0, value + half),
        n=len(own) + len(others),
        found=apart and abs(value) >= NOTABLE_DIFFERENCE,
    )


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and the variance of the mean."""
    n = len(values)
    mean = math.fsum(values) / n
    return mean, math.fsum((each - mean) ** 2 for each in values) / (n - 1) / n
