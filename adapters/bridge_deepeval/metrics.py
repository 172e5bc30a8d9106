"""DeepEval's own metrics under neutral names.

All are higher-is-better since DeepEval 4, those of bad things included. A reason costs one call.
"""

from __future__ import annotations

from bridge.plugin.metrics import NativeMetric

METRICS = (
    NativeMetric(
        "faithfulness",
        "FaithfulnessMetric",
        ("input", "answer", "contexts"),
        calls=4,
        prompt_chars=1195,
        shown=0.1,
    ),
    NativeMetric(
        "answer_relevancy",
        "AnswerRelevancyMetric",
        ("input", "answer"),
        calls=3,
        prompt_chars=1156,
        shown=0.2,
    ),
    NativeMetric(
        "context_precision",
        "ContextualPrecisionMetric",
        ("input", "contexts", "reference"),
        calls=2,
        prompt_chars=1547,
        shown=0.4,
    ),
    NativeMetric(
        "context_recall",
        "ContextualRecallMetric",
        ("input", "contexts", "reference"),
        calls=2,
        prompt_chars=1323,
        shown=0.3,
    ),
    NativeMetric(
        "context_relevancy",
        "ContextualRelevancyMetric",
        ("input", "contexts"),
        calls=1,
        more=1,
        per="context",
        prompt_chars=1238,
        shown=0.3,
    ),
    NativeMetric(
        "answer_correctness", why_not="it has the steps for it in its docs, to be given to g_eval"
    ),
    NativeMetric(
        "hallucination",
        "HallucinationMetric",
        ("input", "answer", "reference_contexts"),
        calls=2,
        prompt_chars=1394,
        shown=0.2,
    ),
    NativeMetric("g_eval", "GEval", ("answer",), calls=2, prompt_chars=706, shown=0.2),
    NativeMetric(
        "summarization",
        "SummarizationMetric",
        ("input", "answer"),
        calls=7,
        prompt_chars=1358,
        shown=0.14,
    ),
    NativeMetric(
        "toxicity", "ToxicityMetric", ("input", "answer"), calls=3, prompt_chars=1691, shown=0.07
    ),
    NativeMetric("bias", "BiasMetric", ("input", "answer"), calls=3, prompt_chars=1245, shown=0.07),
    NativeMetric("tool_correctness", "ToolCorrectnessMetric", ("input", "expected_calls")),
    NativeMetric(
        "task_completion",
        "TaskCompletionMetric",
        ("input", "answer"),
        calls=2,
        prompt_chars=1853,
        shown=0.2,
    ),
    NativeMetric(
        "role_adherence", "RoleAdherenceMetric", ("turns",), calls=2, prompt_chars=1858, shown=0.25
    ),
    NativeMetric(
        "knowledge_retention",
        "KnowledgeRetentionMetric",
        ("turns",),
        calls=1,
        more=2,
        per="turn",
        prompt_chars=1386,
        shown=0.08,
    ),
    NativeMetric(
        "topic_adherence",
        "TopicAdherenceMetric",
        ("turns",),
        calls=1,
        more=2,
        per="turn",
        prompt_chars=1929,
        shown=0.11,
    ),
    NativeMetric(
        "conversation_completeness",
        "ConversationCompletenessMetric",
        ("turns",),
        calls=2,
        more=1,
        per="turn",
        prompt_chars=1364,
        shown=0.22,
    ),
    NativeMetric(
        "turn_relevancy",
        "TurnRelevancyMetric",
        ("turns",),
        calls=1,
        more=1,
        per="turn",
        prompt_chars=1492,
        shown=0.17,
    ),
)
"""Every neutral name, with the class behind it or why there is none."""
