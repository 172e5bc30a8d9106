"""RAGAS's own metrics under neutral names: those of ``ragas.metrics.collections``, and one older.

``g_eval`` is graded: criteria by ``SimpleCriteriaScore``, which takes its scale in words and here
is told 0 to 10, and a rubric by ``DomainSpecificRubrics`` from 1 to 5.

Its bare numbers come without a reason; what the judge said is kept as evidence.
"""

from __future__ import annotations

from typing import Any

from bridge.plugin.metrics import NativeMetric

_CONVERSATION = "it scores answers one by one"


def _no_steps(params: Any) -> str:
    if params.steps:
        return "SimpleCriteriaScore takes criteria, and no steps"
    return "g_eval is asked turn by turn here" if params.scope == "conversation" else ""


METRICS = (
    NativeMetric(
        "faithfulness",
        "Faithfulness",
        ("input", "answer", "contexts"),
        calls=2,
        prompt_chars=2376,
        shown=0.3,
    ),
    NativeMetric(
        "answer_relevancy",
        "AnswerRelevancy",
        ("input", "answer"),
        calls=3,
        embeds=2,
        prompt_chars=1714,
        shown=0.2,
    ),
    NativeMetric(
        "context_precision",
        "ContextPrecision",
        ("input", "contexts", "reference"),
        more=1,
        per="context",
        prompt_chars=3967,
        shown=0.6,
    ),
    NativeMetric(
        "context_recall",
        "ContextRecall",
        ("input", "contexts", "reference"),
        calls=1,
        prompt_chars=5628,
        shown=0.6,
    ),
    NativeMetric(
        "context_relevancy",
        "ContextRelevance",
        ("input", "contexts"),
        calls=2,
        prompt_chars=1888,
        shown=0.4,
    ),
    NativeMetric(
        "answer_correctness",
        "AnswerCorrectness",
        ("input", "answer", "reference"),
        calls=3,
        embeds=2,
        prompt_chars=2928,
        shown=0.33,
    ),
    NativeMetric("hallucination", why_not="Faithfulness is against retrieved contexts"),
    NativeMetric(
        "g_eval",
        "SimpleCriteriaScore",
        ("answer",),
        calls=1,
        refuses=_no_steps,
        prompt_chars=746,
        shown=0.4,
    ),
    NativeMetric(
        "summarization",
        "SummaryScore",
        ("answer", "reference_contexts"),
        calls=3,
        refuses=lambda params: "SummaryScore makes its own questions" if params.questions else "",
        prompt_chars=1547,
        shown=0.2,
    ),
    NativeMetric("toxicity", why_not="no metric of it; give criteria to g_eval"),
    NativeMetric("bias", why_not="no metric of it; give criteria to g_eval"),
    NativeMetric(
        "tool_correctness",
        "ToolCallF1",
        ("expected_calls",),
        refuses=lambda params: (
            "" if params.arguments and not params.ordered else "ToolCallF1 compares sets of calls"
        ),
    ),
    NativeMetric(
        "task_completion",
        "AgentGoalAccuracyWithoutReference",
        ("input", "answer"),
        calls=2,
        refuses=lambda params: "it infers the task by itself" if params.task else "",
        prompt_chars=1490,
        shown=0.2,
    ),
    NativeMetric("role_adherence", why_not=_CONVERSATION),
    NativeMetric("knowledge_retention", why_not=_CONVERSATION),
    NativeMetric(
        "topic_adherence",
        "TopicAdherence",
        ("turns",),
        calls=2,
        more=1,
        per="turn",
        prompt_chars=1680,
        shown=0.22,
    ),
    NativeMetric("conversation_completeness", why_not=_CONVERSATION),
    NativeMetric("turn_relevancy", why_not=_CONVERSATION),
)
"""Every neutral name, with the class behind it or why there is none."""
