"""DeepEval's own metrics under neutral names.

All are higher-is-better since DeepEval 4, those of bad things included. A reason costs one call.
"""

from __future__ import annotations

from bridge.plugin.metrics import NativeMetric

METRICS = (
    NativeMetric("faithfulness", "FaithfulnessMetric", ("input", "answer", "contexts"), calls=4),
    NativeMetric("answer_relevancy", "AnswerRelevancyMetric", ("input", "answer"), calls=3),
    NativeMetric(
        "context_precision",
        "ContextualPrecisionMetric",
        ("input", "contexts", "reference"),
        calls=2,
    ),
    NativeMetric(
        "context_recall", "ContextualRecallMetric", ("input", "contexts", "reference"), calls=2
    ),
    NativeMetric(
        "context_relevancy",
        "ContextualRelevancyMetric",
        ("input", "contexts"),
        calls=1,
        more=1,
        per="context",
    ),
    NativeMetric(
        "answer_correctness", why_not="it has the steps for it in its docs, to be given to g_eval"
    ),
    NativeMetric(
        "hallucination", "HallucinationMetric", ("input", "answer", "reference_contexts"), calls=2
    ),
    NativeMetric("g_eval", "GEval", ("answer",), calls=2),
    NativeMetric("summarization", "SummarizationMetric", ("input", "answer"), calls=7),
    NativeMetric("toxicity", "ToxicityMetric", ("input", "answer"), calls=3),
    NativeMetric("bias", "BiasMetric", ("input", "answer"), calls=3),
    NativeMetric("tool_correctness", "ToolCorrectnessMetric", ("input", "expected_calls")),
    NativeMetric("task_completion", "TaskCompletionMetric", ("input", "answer"), calls=2),
    NativeMetric("role_adherence", "RoleAdherenceMetric", ("turns",), calls=2),
    NativeMetric(
        "knowledge_retention", "KnowledgeRetentionMetric", ("turns",), calls=1, more=2, per="turn"
    ),
    NativeMetric(
        "topic_adherence", "TopicAdherenceMetric", ("turns",), calls=1, more=2, per="turn"
    ),
    NativeMetric(
        "conversation_completeness",
        "ConversationCompletenessMetric",
        ("turns",),
        calls=2,
        more=1,
        per="turn",
    ),
    NativeMetric("turn_relevancy", "TurnRelevancyMetric", ("turns",), calls=1, more=1, per="turn"),
)
"""Every neutral name, with the class behind it or why there is none."""
