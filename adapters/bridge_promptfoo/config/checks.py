"""The checks of a bundle in a config: those of all tests, and those of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.check import GROUP, Check, resolve_checks
from bridge.model.output import Output
from bridge.plugin.scoring.shared import SharedMetric
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.answers import told_of
from bridge_promptfoo.config.assertions import TEST, members_of
from bridge_promptfoo.config.kinds import kind_of
from bridge_promptfoo.config.to_assertions import (
    Place,
    merged,
    needs_of,
    to_native_or_shared,
    to_original,
    to_shared,
)
from bridge_promptfoo.rows import NAME


class DefaultChecks:
    """Puts checks into tests.

    Args:
        bundle: Whose checks.
        back: Whether the tests keep the options that they came with.

    Attributes:
        default: The assertions that all tests have.
    """

    def __init__(self, bundle: Bundle, *, back: bool) -> None:
        suite = bundle.suite
        self._suite: tuple[Check, ...] = () if suite is None else suite.checks
        self._place = Place({} if suite is None else suite.judges, back=back)
        self._apiece = [check for check in self._suite if self._is_apart(check)]
        alike = [check for check in self._suite if check not in self._apiece]
        kept = suite.extras.get(NAME) if suite is not None else None
        default = kept.get("defaultTest") if isinstance(kept, Mapping) else None
        foreign = default.get("assert") if isinstance(default, Mapping) else None
        self.default = [thawed(each) for each in merged(alike, foreign, self._place)]

    def _is_apart(self, check: Check) -> bool:
        """Whether an assertion is not the same in every test."""
        return bool(needs_of(check)) and to_original(check, self._place) is None

    def put(
        self, test: Fields, case: Case, kept: Mapping[str, Any], outputs: Sequence[Output]
    ) -> None:
        """Give a test its assertions, and the variables that graders are told of its case.

        Args:
            test: The test, with its variables.
            case: Its case.
            kept: What the case keeps of the config it came from.
            outputs: The answers that it replays.
        """
        told = told_of(case, outputs, test["vars"])
        if self._place.back:  # what is told is what it came with
            told = {name: value for name, value in told.items() if name in test["vars"]}
        place = replace(self._place, case=case, told=told)
        own = {check.metric for check in case.checks}
        replaces = any(check.metric in own for check in self._suite)
        if case.turns:
            self._apart(test, self._of_turns(case))
        elif replaces:
            self._apart(test, [to_native_or_shared(c, place) for c in self._in_force(case)])
        elif not self._suite and (members := _of_test(case.checks, place)) is not None:
            test["threshold"] = case.checks[0].threshold
            test["assert"] = members
        else:
            apiece = [to_native_or_shared(check, place) for check in self._apiece]
            test["assert"] = [*merged(case.checks, kept.get("assert"), place), *apiece]
            if "threshold" in kept:
                test["threshold"] = kept["threshold"]
        test["assert"] = [thawed(each) for each in test["assert"]]
        needed = {need for each in test["assert"] for need in _told_to(each)}
        given = {name: value for name, value in told.items() if name in needed}
        test["vars"] = {**given, **test["vars"]}

    def _apart(self, test: Fields, assertions: list[Fields]) -> None:
        """Assertions in place of those that all tests have."""
        test["assert"] = assertions
        if self.default:
            test["options"] = {**(test.get("options") or {}), "disableDefaultAsserts": True}

    def _in_force(self, case: Case) -> Sequence[Check]:
        return resolve_checks(self._suite, case.checks)

    def _of_turns(self, case: Case) -> list[Fields]:
        """A conversation is scored by our checks alone: promptfoo has no turns."""
        turns = [check for turn in case.turns for check in turn.checks]
        in_force = {check.metric: check for check in (*reversed(turns), *self._in_force(case))}
        suite = {check.metric: check for check in self._suite}
        return [
            to_shared(SharedMetric(metric, check.scorer, suite.get(metric)), check)
            for metric, check in in_force.items()
        ]


def _told_to(assertion: Mapping[str, Any]) -> Iterator[str]:
    """What an assertion, or those of a set, are told."""
    for each in members_of(assertion):
        yield from kind_of(str(each.get("type"))).needs


def _of_test(checks: Sequence[Check], place: Place) -> list[Fields] | None:
    """The members of the one group that stands for a test with a threshold."""
    if len(checks) != 1:
        return None
    check = checks[0]
    whole = (GROUP, TEST, 1.0, False, True)
    if (check.scorer, check.metric, check.weight, check.negate, check.gate) != whole:
        return None
    if check.threshold is None or check.extras or check.judge is not None:
        return None
    return [to_native_or_shared(member, place) for member in check.checks]


def thawed(value: Any) -> Any:
    """JSON data without the model's read-only kinds."""
    if isinstance(value, Mapping):
        return {key: thawed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thawed(item) for item in value]
    return value
