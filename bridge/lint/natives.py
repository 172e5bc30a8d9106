"""Which frameworks of a suite have a metric of their own that a check names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from bridge.model.check import Check
from bridge.model.errors import InputError
from bridge.model.suite import Suite
from bridge.plugin.framework import FrameworkInfo
from bridge.plugin.metrics import by_name
from bridge.plugin.registry import get_framework
from bridge.plugin.scoring.applicable import leaves_of


def frameworks_with(suite: Suite, check: Check) -> list[str]:
    """The suite's frameworks that have all the native metrics of a check, which may be a group."""
    wanted = {leaf.scorer for leaf in leaves_of(check)}
    known = _frameworks(suite)
    return [info.name for info in known if wanted <= by_name(info.native_metrics).keys()]


def _frameworks(suite: Suite) -> Iterator[FrameworkInfo]:
    """The suite's frameworks; one that is not installed is told of elsewhere."""
    for framework in suite.frameworks:
        with suppress(InputError):
            yield get_framework(framework.name).info
