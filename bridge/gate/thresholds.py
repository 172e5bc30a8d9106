"""Absolute thresholds: what a metric must reach whatever the baseline says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bridge.gate.align import Series
from bridge.gate.table import FAILED, Table
from bridge.model.errors import InputError
from bridge.model.policy import GatePolicy, MetricPolicy
from bridge.model.run import ExpectedRows, MetricRecord

DEFAULT = MetricPolicy(min_pass_rate=1.0)
"""Policy of a check that has a threshold and no entry."""

SHOW = MetricPolicy(gate=False)
"""Policy of a metric that nothing is asked of."""


def policies(
    policy: GatePolicy, series: Sequence[Series], metrics: Mapping[str, MetricRecord]
) -> dict[str, MetricPolicy]:
    """The policy of every series, by gated name.

    Raises:
        InputError: If an entry names a metric that nothing measured, or is ambiguous.
    """
    chosen = {_named(name, series): entry for name, entry in policy.metrics.items()}
    for each in series:
        record = metrics.get(each.metric)
        gated = each.thresholded and (record is None or record.gate)
        chosen.setdefault(each.name, DEFAULT if gated else SHOW)
    return chosen


def _named(name: str, series: Sequence[Series]) -> str:
    names = [each.name for each in series]
    if name in names:
        return name
    native = [each.name for each in series if each.metric == name or _spelled(each) == name]
    if len(native) == 1:
        return native[0]
    if native:
        raise InputError(f"gate: {name!r} is ambiguous", fix=f"write one of {', '.join(native)}")
    known = ", ".join(names) or "none"
    raise InputError(f"gate: nothing measured {name!r}", fix=f"the metrics are: {known}")


def _spelled(series: Series) -> str:
    return f"{series.framework}/{series.metric}"


def broken_thresholds(series: Series, entry: MetricPolicy) -> list[str]:
    """The thresholds of an entry that a series does not reach."""
    reasons = []
    if entry.min is not None and series.mean is not None and series.mean < entry.min:
        reasons.append(f"mean {series.mean:.4g} is below min {entry.min:g}")
    rate = series.pass_rate
    if entry.min_pass_rate is not None and rate is not None and rate < entry.min_pass_rate:
        decided = series.passed + series.failed
        reasons.append(
            f"{series.passed} of {decided} rows passed ({rate:.1%}), "
            f"below min_pass_rate {entry.min_pass_rate:.1%}"
        )
    return reasons


def must_pass_failures(
    policy: GatePolicy, table: Table, system: str, cases: Mapping[str, ExpectedRows]
) -> list[str]:
    """Failed rows of must-pass cases, one reason a case.

    Raises:
        InputError: If ``must_pass`` names a case or tag that is not there.
    """
    wanted: set[str] = set()
    for name in policy.must_pass:
        tag = name.removeprefix("tag:") if name.startswith("tag:") else None
        found = {
            case
            for case in table.case_names
            if case == name or (tag is not None and case in cases and tag in cases[case].tags)
        }
        if not found:
            raise InputError(f"gate: must_pass names {name!r}, which no case is", fix="mend it")
        wanted |= found
    if not wanted:
        return []
    codes = [code for code, case in enumerate(table.case_names) if case in wanted]
    own = table.system == table.system_names.index(system)
    rows = np.flatnonzero(own & np.isin(table.case, codes) & (table.status == FAILED))
    failed: dict[str, list[str]] = {}
    for row in rows:
        key = table.key(int(row))
        if key.metric not in failed.setdefault(key.case_id, []):
            failed[key.case_id].append(key.metric)
    return [f"must-pass case {case!r} failed {', '.join(each)}" for case, each in failed.items()]
