"""The checks of a bundle in a config: those of all tests, and those of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.model.bundle import Bundle
from bridge.model.case import Case
from bridge.model.check import GROUP, Check, resolve_checks
from bridge.plugin.shared import SharedMetric
from bridge_promptfoo.calls import Fields
from bridge_promptfoo.config.assertions import TEST
from bridge_promptfoo.config.to_assertions import merged, to_native_or_shared, to_shared
from bridge_promptfoo.rows import NAME


class DefaultChecks:
    """Puts checks into tests.

    Attributes:
        default: The assertions that all tests have.
    """

    def __init__(self, bundle: Bundle) -> None:
        suite = bundle.suite
        self._suite: tuple[Check, ...] = () if suite is None else suite.checks
        kept = suite.extras.get(NAME) if suite is not None else None
        default = kept.get("defaultTest") if isinstance(kept, Mapping) else None
        foreign = default.get("assert") if isinstance(default, Mapping) else None
        self.default = [thawed(each) for each in merged(self._suite, foreign)]

    def put(self, test: Fields, case: Case, kept: Mapping[str, Any]) -> None:
        """Give a test its assertions.

        Args:
            test: The test.
            case: Its case.
            kept: What the case keeps of the config it came from.
        """
        own = {check.metric for check in case.checks}
        replaces = any(check.metric in own for check in self._suite)
        if case.turns:
            self._apart(test, self._of_turns(case))
        elif replaces:
            self._apart(test, [to_native_or_shared(c) for c in self._in_force(case)])
        elif not self._suite and (members := _of_test(case.checks)) is not None:
            test["threshold"] = case.checks[0].threshold
            test["assert"] = members
        else:
            test["assert"] = merged(case.checks, kept.get("assert"))
            if "threshold" in kept:
                test["threshold"] = kept["threshold"]
        test["assert"] = [thawed(each) for each in test["assert"]]

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


def _of_test(checks: Sequence[Check]) -> list[Fields] | None:
    """The members of the one group that stands for a test with a threshold."""
    if len(checks) != 1:
        return None
    check = checks[0]
    whole = (GROUP, TEST, 1.0, False, True)
    if (check.scorer, check.metric, check.weight, check.negate, check.gate) != whole:
        return None
    if check.threshold is None or check.extras or check.judge is not None:
        return None
    return [to_native_or_shared(member) for member in check.checks]


def thawed(value: Any) -> Any:
    """JSON data without the model's read-only kinds."""
    if isinstance(value, Mapping):
        return {key: thawed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thawed(item) for item in value]
    return value
