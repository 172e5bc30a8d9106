"""What is wrong with a gate whatever a run measures: said before anything is asked or scored."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from bridge.execution.plan import Plan
from bridge.files.baseline import FIX
from bridge.gate.criteria.must_pass import TAG
from bridge.model.errors import InputError
from bridge.model.policy import GatePolicy


def ensure_decidable(plan: Plan, baseline: Path | None = None) -> None:
    """Make sure that the gate of a suite fits the run that is planned.

    Args:
        plan: The run.
        baseline: Baseline file or run; the policy's own if left out.

    Raises:
        InputError: If the baseline is not there, or the policy names a metric that no check has
            or a case that is not run.
    """
    policy, checks = plan.suite.gate, list(plan.suite.checks)
    checks += [check for case in plan.cases for check in case.all_checks]
    metrics = {check.metric for check in checks}
    for name in unmeasured(policy, metrics, [each.name for each in plan.suite.frameworks]):
        known = ", ".join(sorted(metrics)) or "none"
        what = f"the gate names metric {name!r}, which no check of this run has"
        raise InputError(what, where=plan.path, fix=f"use one of {known}, or run all cases")
    tags = {tag for case in plan.cases for tag in case.tags}
    for name in unknown_must_pass(policy, {case.id for case in plan.cases}, tags):
        what = f"must_pass names {name!r}, which is no case of this run and no tag of one"
        raise InputError(what, where=plan.path, fix="mend must_pass, or run all cases")
    baseline_path(baseline, policy, plan.path.parent)


def unmeasured(
    policy: GatePolicy, metrics: Collection[str], frameworks: Collection[str]
) -> list[str]:
    """Gated names, ``metric`` or ``framework/metric``, that nothing measures."""
    found = []
    for name in policy.metrics:
        framework, _, metric = name.partition("/")
        if name not in metrics and not (metric in metrics and framework in frameworks):
            found.append(name)
    return found


def unknown_must_pass(policy: GatePolicy, ids: Collection[str], tags: Collection[str]) -> list[str]:
    """Names in ``must_pass``, an id or ``tag:NAME``, that are those of no case."""
    known = {*ids, *(f"{TAG}{tag}" for tag in tags)}
    return [name for name in policy.must_pass if name not in known]


def baseline_path(named: Path | None, policy: GatePolicy, home: Path) -> Path | None:
    """Where the baseline is; ``None`` if there is none to compare with.

    Args:
        named: What the user named, which goes before what the policy names.
        policy: The gate's policy.
        home: The folder that paths in the policy are relative to.

    Raises:
        InputError: If one is named and not there.
    """
    path = named or (home / policy.baseline if policy.baseline else None)
    if path is None or path.exists():
        return path
    if named is None and not home.is_dir():
        fix = "work in the folder that bridge run was started in, or name --suite or --baseline"
        raise InputError("the baseline of the run's suite is not there", where=path, fix=fix)
    raise InputError("the baseline is not there", where=path, fix=FIX)
