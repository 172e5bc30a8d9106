"""Whether the judges behind gated metrics are believed: their calibration, held against the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from bridge.gate.intake.align import Series
from bridge.gate.intake.evidence import Evidence
from bridge.gate.trust.judged import judged_metric
from bridge.model.calibration import Calibration, CalibrationEntry
from bridge.model.policy import CalibrationPolicy


def belief(
    evidence: Evidence,
    gated: Iterable[Series],
    policy: CalibrationPolicy,
    calibration: Calibration | None,
    now: datetime | None = None,
) -> tuple[list[str], list[str]]:
    """Why the judges of gated metrics are not to be believed, one line a metric.

    Args:
        evidence: Rows and their background.
        gated: The metrics that decide.
        policy: When a judge is believed.
        calibration: The calibration; ``None`` where there is none.
        now: The time that its age is counted to; the clock's if left out.

    Returns:
        What is an error, and what is only said: a judge that is marginal, and everything unless
        the policy requires a calibration.
    """
    if policy.treat == "off":
        return [], []
    entries = {entry.metric: entry for entry in calibration.entries} if calibration else {}
    stale = _stale(calibration, policy.max_age_days, now)
    doubts = [(each.name, *_doubt(evidence, each, entries, stale)) for each in gated]
    grave = [f"{name}: {why}" for name, why, is_grave in doubts if why and is_grave]
    slight = [f"{name}: {why}" for name, why, is_grave in doubts if why and not is_grave]
    return (grave, slight) if policy.treat == "require" else ([], [*grave, *slight])


def _doubt(
    evidence: Evidence, series: Series, entries: Mapping[str, CalibrationEntry], stale: str
) -> tuple[str, bool]:
    """Why one metric's judge is not to be believed ("" if it is or there is none); how grave."""
    framework = "" if series.name == series.metric else series.framework
    judged = judged_metric(evidence, series.metric, framework)
    if judged is None:
        own = series.stamp.judge
        text = f"judge {own} cannot be told from these rows; gate the run itself" if own else ""
        return text, True
    entry = entries.get(series.name)
    if entry is None:
        return "its judge is not calibrated; see bridge calibrate", True
    if changed := judged.change_since(entry):
        return f"its calibration is stale: {changed} changed since", True
    if stale or entry.verdict == "trusted":
        return stale, True
    why = "; ".join(entry.reasons)
    text = f"its judge is {entry.verdict} on {entry.cases} labelled cases ({why})"
    return text, entry.verdict == "unusable"


def _stale(calibration: Calibration | None, most: float | None, now: datetime | None) -> str:
    if calibration is None or most is None:
        return ""
    try:
        made = datetime.fromisoformat(calibration.created)
    except ValueError:
        return "its calibration does not say when it was made"
    made = made if made.tzinfo else made.replace(tzinfo=UTC)
    old = (now or datetime.now(UTC)) - made
    return f"its calibration is older than {most:g} days" if old > timedelta(days=most) else ""
