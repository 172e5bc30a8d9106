"""DeepEval's metrics, and what says the same here (https://deepeval.com/docs/metrics-introduction).

Which of them agree is held against DeepEval itself by ``tests/test_agreement_deepeval.py``.
"""

from __future__ import annotations

from bridge.plugin.own_metrics import JUDGED, OwnMetric

_UNSAID = "is not in a run file"


def _judged(names: tuple[str, ...], judged: str = "") -> tuple[OwnMetric, ...]:
    """Metrics of a judge, by the names that run files have for them."""
    made = (each.replace(" ", "").replace("-", "") for each in names)
    return tuple(
        OwnMetric(f"{name}Metric", (recorded,), judged=judged, note=JUDGED)
        for name, recorded in zip(made, names, strict=True)
    )


METRICS = (
    OwnMetric(
        "ExactMatchMetric", ("Exact Match",), "equals",
        note="JSON in an answer is compared with a reference that is JSON as JSON",
    ),
    OwnMetric(
        "PatternMatchMetric", ("Pattern Match",),
        note=f"its pattern {_UNSAID}: `regex` with `full` and `strip` says the same",
    ),
    OwnMetric(
        "JsonCorrectnessMetric", ("Json Correctness",),
        note=f"its schema {_UNSAID}: `is_json` with a `schema` says the same",
    ),
    OwnMetric(
        "ToolCorrectnessMetric", ("Tool Correctness",),
        note="compares names alone unless told otherwise: `tool_recall` is the nearest",
    ),
    *_judged(("Faithfulness", "Turn Faithfulness"), "faithfulness"),
    *_judged(("Answer Relevancy",), "answer_relevancy"),
    *_judged(("Contextual Recall", "Turn Contextual Recall"), "context_recall"),
    *_judged(("Contextual Precision", "Turn Contextual Precision"), "context_precision"),
    *_judged(("Contextual Relevancy", "Turn Contextual Relevancy"), "context_relevancy"),
    *_judged(("Hallucination",), "hallucination"),
    OwnMetric("GEval", judged="g_eval", note=JUDGED),
    OwnMetric("ConversationalGEval", judged="g_eval", note=JUDGED),
    *_judged(("Turn Relevancy",), "conversation_relevancy"),
    *_judged(("Goal Accuracy",), "goal_success"),
    *_judged(
        (
            "Argument Correctness", "Bias", "Conversation Completeness", "Knowledge Retention",
            "Misuse", "PII Leakage", "Plan Adherence", "Plan Quality", "Prompt Alignment",
            "Role Adherence", "Role Violation", "Step Efficiency", "Summarization",
            "Task Completion", "Tool Use", "Topic Adherence", "Toxicity",
        )
    ),
)  # fmt: skip
