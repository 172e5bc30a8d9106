"""DeepEval's metrics, and what says the same here (https://deepeval.com/docs/metrics-introduction).

Which of them agree is held against DeepEval itself by ``tests/test_agreement_deepeval.py``.
"""

from __future__ import annotations

from bridge.plugin.results.counterparts import JUDGED, Counterpart
from bridge_deepeval.metrics import METRICS

_UNSAID = "is not in a run file"


_NEUTRAL = {metric.own: metric.name for metric in METRICS if metric.own}


def _judged(recorded: str) -> Counterpart:
    """A metric of a judge by its name in run files; a metric of turns measures the same."""
    name = f"{recorded.replace(' ', '').replace('-', '')}Metric"
    judged = _NEUTRAL.get(name) or _NEUTRAL.get(name.removeprefix("Turn"), "")
    return Counterpart(name, (recorded,), judged=judged, note=JUDGED)


COUNTERPARTS = (
    Counterpart(
        "ExactMatchMetric", ("Exact Match",), "equals",
        note="JSON in an answer is compared with a reference that is JSON as JSON",
    ),
    Counterpart(
        "PatternMatchMetric", ("Pattern Match",),
        note=f"its pattern {_UNSAID}: `regex` with `full` and `strip` says the same",
    ),
    Counterpart(
        "JsonCorrectnessMetric", ("Json Correctness",),
        note=f"its schema {_UNSAID}: `is_json` with a `schema` says the same",
    ),
    Counterpart(
        "ToolCorrectnessMetric", ("Tool Correctness",),
        note="compares names alone unless told otherwise: `tool_recall` is the nearest",
    ),
    Counterpart("GEval", judged="g_eval", note=JUDGED),
    Counterpart("ConversationalGEval", judged="g_eval", note=JUDGED),
    *map(
        _judged,
        (
            "Answer Relevancy", "Argument Correctness", "Bias", "Contextual Precision",
            "Contextual Recall", "Contextual Relevancy", "Conversation Completeness",
            "Faithfulness", "Goal Accuracy", "Hallucination", "Knowledge Retention", "Misuse",
            "PII Leakage", "Plan Adherence", "Plan Quality", "Prompt Alignment",
            "Role Adherence", "Role Violation", "Step Efficiency", "Summarization",
            "Task Completion", "Tool Use", "Topic Adherence", "Toxicity",
            "Turn Contextual Precision", "Turn Contextual Recall", "Turn Contextual Relevancy",
            "Turn Faithfulness", "Turn Relevancy",
        ),
    ),
)  # fmt: skip
