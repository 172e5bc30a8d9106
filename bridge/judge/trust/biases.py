"""What leads a judge astray, as far as labels and scores show it: no call is made.

Each probe holds the judge's excess (its value minus people's) against something that should not
matter. An association is no proof of a cause; it says where to look.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bridge.model.calibration import Bias, BiasName, Unmeasured
from bridge.stats import difference_interval, spearman, student_t_quantile
from bridge.stats.agreement import spearman_interval

Found = Bias | Unmeasured

BY_LABELS: tuple[BiasName, ...] = (
    "inflation",
    "clustering",
    "length",
    "reference_wording",
    "rationale_length",
    "self_preference",
)
"""The biases that labels and scores can show."""
LEAST = 20
"""Fewest labelled cases of a probe."""
LEAST_OF_A_FAMILY = 5
"""Fewest cases of either side of the comparison by families."""
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


def find_biases(observations: Sequence[Observation]) -> tuple[Found, ...]:
    """Every bias that labels and scores can show: measured, found or not, or why it is not."""
    return tuple(_probes(observations))


def _probes(observations: Sequence[Observation]) -> Iterator[Found]:
    cases = _cases(observations)
    if cases < LEAST:
        yield from (Unmeasured(name=name, why=too_few(cases)) for name in BY_LABELS)
        return
    yield _inflation(observations)
    if all(each.levels is not None for each in observations):
        yield _clustering(observations)
    else:
        yield Unmeasured(name="clustering", why="people said pass or fail, and no levels")
    going_by: dict[BiasName, Callable[[Observation], float | None]] = {
        "length": lambda each: each.length,
        "reference_wording": lambda each: each.overlap,
        "rationale_length": lambda each: each.rationale,
    }
    for name, read in going_by.items():
        yield _correlated(name, observations, read)
    yield _self_preference(observations)


def too_few(cases: int) -> str:
    """Why a bias is not measured on few cases."""
    return f"{cases} labelled cases; {LEAST} at least"


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
) -> Found:
    """Rank correlation of the judge's excess with what it may go by."""
    known = [(each, value) for each in observations if (value := read(each)) is not None]
    cases = _cases([each for each, _ in known])
    if cases < LEAST:
        why = f"known of {cases} labelled cases; {LEAST} at least"
        return Unmeasured(name=name, why=why)
    value = spearman([each.excess for each, _ in known], [gone_by for _, gone_by in known])
    interval = None if value is None else spearman_interval(value, cases)
    if value is None or interval is None:
        return Unmeasured(name=name, why="it, or the judge's excess, is the same in every row")
    apart = interval.low > 0.0 or interval.high < 0.0
    return Bias(
        name=name,
        measure="spearman",
        value=value,
        low=interval.low,
        high=interval.high,
        n=len(known),
        found=apart and abs(value) >= NOTABLE_CORRELATION,
    )


def _self_preference(observations: Sequence[Observation]) -> Found:
    """Mean excess on answers of the judge's own family above that on others', by Welch."""
    own = _means_by_case(each for each in observations if each.akin is True)
    others = _means_by_case(each for each in observations if each.akin is False)
    if min(len(own), len(others)) < LEAST_OF_A_FAMILY:
        known = f"{len(own)} cases answered by its family, {len(others)} by others"
        why = f"{known}; {LEAST_OF_A_FAMILY} of each at least"
        return Unmeasured(name="self_preference", why=why)
    (mean, spread), (other_mean, other_spread) = _moments(own), _moments(others)
    value, variance = mean - other_mean, spread + other_spread
    half = 0.0
    if variance > 0.0:
        df = variance**2 / (spread**2 / (len(own) - 1) + other_spread**2 / (len(others) - 1))
        half = student_t_quantile(0.975, df) * math.sqrt(variance)
    apart = value - half > 0.0 or value + half < 0.0
    return Bias(
        name="self_preference",
        measure="difference",
        value=value,
        low=max(-2.0, value - half),
        high=min(2.0, value + half),
        n=sum(each.akin is not None for each in observations),
        found=apart and abs(value) >= NOTABLE_DIFFERENCE,
    )


def _means_by_case(observations: Iterable[Observation]) -> list[float]:
    """The mean excess of each case: its rows say the same thing again."""
    by_case: dict[str, list[float]] = {}
    for each in observations:
        by_case.setdefault(each.case_id, []).append(each.excess)
    return [math.fsum(values) / len(values) for values in by_case.values()]


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and the variance of the mean."""
    n = len(values)
    mean = math.fsum(values) / n
    return mean, math.fsum((each - mean) ** 2 for each in values) / (n - 1) / n
