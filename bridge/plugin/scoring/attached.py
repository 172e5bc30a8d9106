"""A framework's own metrics as an adapter attaches them to the objects that it makes of a bundle.

Where the framework runs them itself they give what a run gives: what cannot be scored is told
apart before a judge is asked, counts are checked, a judge's failure is an error, and threshold,
negation, groups and turns are as of any check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.plugin.framework import FrameworkInfo, version_of
from bridge.plugin.scoring.measurer import Measure, Measurer, tag_of
from bridge.plugin.scoring.shared import Answer, SharedMetric
from bridge.scorers.evaluate import checks_with_turns, evaluate, native_version
from bridge.scorers.registry import is_native


@dataclass(frozen=True, slots=True)
class AttachedMetric(SharedMetric):
    """A metric name with a framework's own metric behind it.

    Attributes:
        measurer: Carries it out.
    """

    measurer: Measurer | None = None

    def measure(self, case: Case, output: Output) -> tuple[Answer, ...]:
        """One answer a row; none where the case has no such check."""
        suite = () if self.check is None else (self.check,)
        return tuple(
            (check, evaluate(check, case, output, turn, self._asked_for(check)))
            for check, turn in checks_with_turns(suite, case)
            if check.metric == self.metric and is_native(check)
        )

    def asking(self, measure: Measure) -> AttachedMetric:
        """The same, carried out by another function."""
        assert self.measurer is not None
        return replace(self, measurer=replace(self.measurer, measure=measure))

    def _asked_for(self, check: Check) -> Callable[[Check, Case, Output], Measurement]:
        def carry_out(leaf: Check, case: Case, output: Output) -> Measurement:
            assert self.measurer is not None
            tag = tag_of(self.measurer.info, check, output)
            return self.measurer.carry_out(leaf, case, output, tag)

        return carry_out


def attached_metrics(
    info: FrameworkInfo, bundle: Bundle, measure: Measure, cases: Iterable[Case] | None = None
) -> list[AttachedMetric]:
    """Every metric of a bundle that a framework's own carries out.

    Those come first that the suite has, then those that only cases have. Whoever measures one
    needs its judge in force (:func:`bridge.judge.judges_served`).

    Args:
        info: The framework.
        bundle: A bundle; the judges are its suite's.
        measure: Carries out one metric.
        cases: The cases; all of the bundle's if left out.
    """
    checks: Sequence[Check] = bundle.suite.checks if bundle.suite else ()
    measurer = Measurer(info, bundle.suite.judges if bundle.suite else {}, measure)
    stamp = native_version(info.name, version_of(info))
    found: dict[str, AttachedMetric] = {}
    for check in filter(is_native, checks):
        found[check.metric] = AttachedMetric(check.metric, check.scorer, check, stamp, measurer)
    for case in bundle.cases if cases is None else cases:
        for check in filter(is_native, case.all_checks):
            made = AttachedMetric(check.metric, check.scorer, None, stamp, measurer)
            found.setdefault(check.metric, made)
    return list(found.values())
