"""Inspect's own model-graded scorers under neutral names. It has no others of this kind."""

from __future__ import annotations

from bridge.plugin.metrics import NativeMetric

_CRITERIA = "no scorer of it; give criteria to g_eval"
_TURNS = "no scorer of conversations; give criteria to g_eval with scope: conversation"

METRICS = (
    NativeMetric("faithfulness", why_not=_CRITERIA),
    NativeMetric("answer_relevancy", why_not=_CRITERIA),
    NativeMetric("context_precision", why_not=_CRITERIA),
    NativeMetric("context_recall", why_not=_CRITERIA),
    NativeMetric("context_relevancy", why_not=_CRITERIA),
    NativeMetric(
        "answer_correctness",
        "model_graded_fact",
        ("input", "answer", "reference"),
        calls=1,
        prompt_chars=1022,
        shown=0.6,
    ),
    NativeMetric("hallucination", why_not=_CRITERIA),
    NativeMetric(
        "g_eval",
        "model_graded_qa",
        ("input", "answer"),
        calls=1,
        refuses=lambda params: "it has three grades, and takes no rubric" if params.rubric else "",
        prompt_chars=864,
        shown=0.4,
    ),
    NativeMetric("summarization", why_not=_CRITERIA),
    NativeMetric("toxicity", why_not=_CRITERIA),
    NativeMetric("bias", why_not=_CRITERIA),
    NativeMetric("tool_correctness", why_not="no scorer of tool calls"),
    NativeMetric("task_completion", why_not=_CRITERIA),
    NativeMetric("role_adherence", why_not=_TURNS),
    NativeMetric("knowledge_retention", why_not=_TURNS),
    NativeMetric("topic_adherence", why_not=_TURNS),
    NativeMetric("conversation_completeness", why_not=_TURNS),
    NativeMetric("turn_relevancy", why_not=_TURNS),
)
"""Every neutral name, with the scorer behind it or why there is none."""
