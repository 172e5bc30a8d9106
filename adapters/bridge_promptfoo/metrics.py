"""promptfoo's own model-graded assertions under neutral names."""

from __future__ import annotations

from typing import Any

from bridge.plugin.metrics import NativeMetric

_CRITERIA = "no assertion of it; give criteria to g_eval"


def _no_steps(params: Any) -> str:
    if params.steps:
        return "g-eval takes criteria, and has the judge make up the steps"
    if params.rubric:
        return "g-eval takes criteria, and no rubric of levels"
    return "g-eval is asked turn by turn" if params.scope == "conversation" else ""


METRICS = (
    NativeMetric(
        "faithfulness",
        "context-faithfulness",
        ("input", "answer", "contexts"),
        calls=2,
        prompt_chars=1522,
        shown=0.3,
    ),
    NativeMetric(
        "answer_relevancy",
        "answer-relevance",
        ("input", "answer"),
        calls=3,
        embeds=4,
        prompt_chars=351,
        shown=0.2,
    ),
    NativeMetric("context_precision", why_not="no assertion of the order of contexts"),
    NativeMetric(
        "context_recall",
        "context-recall",
        ("input", "contexts", "reference"),
        calls=1,
        prompt_chars=2304,
        shown=0.4,
    ),
    NativeMetric(
        "context_relevancy",
        "context-relevance",
        ("input", "contexts"),
        calls=1,
        prompt_chars=374,
        shown=0.4,
    ),
    NativeMetric(
        "answer_correctness",
        "factuality",
        ("input", "answer", "reference"),
        calls=1,
        prompt_chars=1184,
        shown=0.6,
    ),
    NativeMetric("hallucination", why_not="context-faithfulness is against retrieved contexts"),
    NativeMetric(
        "g_eval",
        "g-eval",
        ("input", "answer"),
        calls=2,
        refuses=_no_steps,
        prompt_chars=1087,
        shown=0.2,
    ),
    NativeMetric("summarization", why_not=_CRITERIA),
    NativeMetric("toxicity", why_not="moderation is a service of OpenAI; give criteria to g_eval"),
    NativeMetric("bias", why_not=_CRITERIA),
    NativeMetric("tool_correctness", why_not="tool-call-f1 compares names alone"),
    NativeMetric("task_completion", why_not="trajectory:goal-success reads traces, which none is"),
    NativeMetric("role_adherence", why_not=_CRITERIA),
    NativeMetric("knowledge_retention", why_not="no assertion of it"),
    NativeMetric("topic_adherence", why_not=_CRITERIA),
    NativeMetric("conversation_completeness", why_not="no assertion of it"),
    NativeMetric(
        "turn_relevancy",
        "conversation-relevance",
        ("turns",),
        calls=1,
        more=1,
        per="turn",
        prompt_chars=1611,
        shown=0.33,
    ),
)
"""Every neutral name, with the assertion behind it or why there is none."""
