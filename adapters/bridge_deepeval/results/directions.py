"""Which metrics of a run were better when lower.

DeepEval's Bias, Toxicity and Hallucination passed at or below their threshold once, and pass at or
above it today; a run file says neither its version nor a direction. The verdicts themselves do: a
metric that passes below its threshold, and never fails there, is better when lower.
"""

from __future__ import annotations

from collections.abc import Iterable

from bridge_deepeval.records import MetricData

ONCE_LOWER = frozenset({"bias", "toxicity", "hallucination"})
"""The metrics that changed sides, as their names begin."""


def lower_metrics(results: Iterable[MetricData]) -> frozenset[str]:
    """Names of the metrics whose verdicts all say that lower is better, and one does."""
    shown: dict[str, set[bool]] = {}
    for each in results:
        if (lower := _shows_lower(each)) is not None:
            shown.setdefault(each.name, set()).add(lower)
    return frozenset(name for name, sides in shown.items() if sides == {True})


def _shows_lower(native: MetricData) -> bool | None:
    """Whether a verdict can be had only if lower is better, or only if higher is; else ``None``."""
    score, threshold = native.score, native.threshold
    if native.success is None or native.error is not None or threshold is None:
        return None
    if not isinstance(score, int | float) or score == threshold:
        return None
    if native.success:
        return score < threshold
    # a failure above the threshold may have other reasons, but for these three
    if score < threshold:
        return False
    return True if native.name.lower().startswith(tuple(ONCE_LOWER)) else None
