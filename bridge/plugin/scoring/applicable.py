"""Whether a metric of a framework's own applies to an output: known before a judge is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache

from bridge.model.case import Case
from bridge.model.check import Check
from bridge.model.errors import InputError
from bridge.model.judge import JudgeConfig
from bridge.model.output import Output
from bridge.model.score import Measurement, error_measurement
from bridge.plugin.framework import FrameworkInfo
from bridge.plugin.metrics import NEEDED, NativeMetric, by_name
from bridge.plugin.registry import framework_names, get_framework
from bridge.scorers.native import nearest_shared
from bridge.scorers.registry import is_native, read_params, skip


def leaves_of(check: Check) -> Iterator[Check]:
    """The native checks in a check."""
    if check.checks:
        for member in check.checks:
            yield from leaves_of(member)
    elif is_native(check):
        yield check


def known_of(
    info: FrameworkInfo,
    judges: Mapping[str, JudgeConfig],
    check: Check,
    case: Case,
    output: Output,
) -> Measurement | None:
    """What is known of a native check in a framework without asking a judge.

    Args:
        info: The framework.
        judges: The suite's judges.
        check: The check, no group.
        case: The case as the metric sees it.
        output: Its output, likewise; without an error.

    Returns:
        An unsupported, skipped or error measurement; ``None`` where it is to be carried out.
    """
    metric = by_name(info.native_metrics).get(check.scorer)
    why = "" if metric is None else _short_of(metric, judges.get(check.judge or ""), check, case)
    if metric is None or why:
        reason = why_unsupported(info, check.scorer, why)
        return Measurement(status="unsupported", reason=reason)
    return scoreable(metric, case, output)


def _short_of(metric: NativeMetric, judge: JudgeConfig | None, check: Check, case: Case) -> str:
    """Why a framework cannot carry a check out as it stands; "" where it can."""
    if "expected_calls" in metric.needs and _has_matchers(case):
        return "expected arguments hold matchers, which it would compare as they are written"
    if metric.embeds and judge is not None and judge.embeddings is None:
        return f"it compares embeddings, and judge {check.judge} has none (embeddings: {{model:}})"
    return metric.refuses(read_params(check))


def _has_matchers(case: Case) -> bool:
    calls = () if case.expected_calls is None else case.expected_calls.calls
    return any(call.pattern != dict(call.arguments) for call in calls)


def scoreable(metric: NativeMetric, case: Case, output: Output) -> Measurement | None:
    """Why a metric has nothing to score, or nothing to score against; ``None`` where it has."""
    lacking = metric.lacking(case, output)
    if "answer" in lacking:
        return error_measurement("the answer is empty: there is nothing to judge")
    if lacking:
        return skip(f"no {' and no '.join(NEEDED[need] for need in lacking)}")
    return None


@lru_cache(maxsize=256)
def why_unsupported(info: FrameworkInfo, name: str, why: str = "") -> str:
    """Why a framework gives no value of a metric, and who else has it."""
    own = next((each.why_not for each in info.native_metrics if each.name == name), "")
    reason = why or own
    others = [
        other.title
        for other in _frameworks()
        if other.name != info.name and name in by_name(other.native_metrics)
    ]
    have = f"; {', '.join(others)} can" if others else ""
    lacks = f"{info.title} has no {name}" if not why else f"{info.title} cannot give {name}"
    said = f": {reason}" if reason else ""
    return f"{lacks}{said}{have}; the nearest shared scorer is {nearest_shared(name)}"


def _frameworks() -> list[FrameworkInfo]:
    found = []
    for name in framework_names():
        with suppress(InputError):
            found.append(get_framework(name).info)
    return found


def unsupported(info: FrameworkInfo, check: Check) -> Measurement:
    """The measurement of a native check in a framework that has no metrics of its own."""
    leaf = check
    while leaf.checks:
        leaf = next(member for member in leaf.checks if is_native(member))
    reason = why_unsupported(info, leaf.scorer)
    return Measurement(status="unsupported", reason=reason)
