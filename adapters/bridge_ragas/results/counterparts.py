"""RAGAS's metrics, and what says the same here.

Which of them agree is held against RAGAS itself by ``tests/test_agreement_ragas.py``. Source:
https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/.
"""

from __future__ import annotations

from bridge.model.check import Check
from bridge.plugin.results.counterparts import JUDGED, Counterpart, by_recorded_name, check_of

_CALLS = "compares calls by position and arguments as text: `tool_arguments` is the nearest"
COUNTERPARTS = (
    Counterpart("ExactMatch", ("exact_match",), {"equals": {"strip": False}}),
    Counterpart("StringPresence", ("string_present",), "contains"),
    Counterpart(
        "NonLLMStringSimilarity", ("non_llm_string_similarity",), "similarity",
        note="its distance is not in a result: Levenshtein's, the default, is meant",
    ),
    Counterpart(
        "RougeScore", ("rouge_score",), "rouge",
        note="its type is not in a result: rougeL, the default, is meant",
    ),
    Counterpart(
        "BleuScore", ("bleu_score",), "sacrebleu",
        note="of several sentences all are scored, there the first alone",
    ),
    Counterpart("ChrfScore", ("chrf_score",), "chrf"),
    Counterpart(
        "NonLLMContextRecall", ("non_llm_context_recall",), "passage_recall",
        note="nothing retrieved is 0, there an exception",
    ),
    Counterpart(
        "NonLLMContextPrecisionWithReference", ("non_llm_context_precision_with_reference",),
        "passage_precision",
    ),
    Counterpart(
        "IDBasedContextRecall", ("id_based_context_recall",), {"passage_recall": {"by": "id"}}
    ),
    Counterpart(
        "IDBasedContextPrecision", ("id_based_context_precision",),
        {"passage_precision": {"by": "id"}}, note="nothing retrieved is 0, there NaN",
    ),
    Counterpart(
        "ToolCallF1", ("tool_call_f1",), "tool_f1", digits=4,
        note="a call made twice counts twice, and \"1\" is not 1",
    ),
    Counterpart("ToolCallAccuracy", ("tool_call_accuracy",), note=_CALLS),
    Counterpart("DataCompyScore", ("data_compare_score",), note="compares tables in CSV"),
    *(
        Counterpart(name, recorded, judged=judged, note=JUDGED)
        for name, recorded, judged in (
            ("Faithfulness", ("faithfulness",), "faithfulness"),
            ("ResponseRelevancy", ("answer_relevancy",), "answer_relevancy"),
            ("LLMContextRecall", ("context_recall",), "context_recall"),
            (
                "LLMContextPrecisionWithReference",
                ("context_precision", "llm_context_precision_with_reference"),
                "context_precision",
            ),
            (
                "LLMContextPrecisionWithoutReference",
                ("llm_context_precision_without_reference", "context_utilization"),
                "",
            ),
            ("ContextRelevance", ("nv_context_relevance",), "context_relevancy"),
            ("AnswerCorrectness", ("answer_correctness",), "answer_correctness"),
            ("FactualCorrectness", ("factual_correctness",), ""),
            ("AnswerAccuracy", ("nv_accuracy",), ""),
            ("ResponseGroundedness", ("nv_response_groundedness",), ""),
            ("SemanticSimilarity", ("semantic_similarity", "answer_similarity"), ""),
            ("ContextEntityRecall", ("context_entity_recall",), ""),
            ("NoiseSensitivity", ("noise_sensitivity",), ""),
            ("SummarizationScore", ("summary_score",), "summarization"),
            ("RubricsScore", ("domain_specific_rubrics",), "rubric"),
            ("InstanceRubrics", ("instance_rubrics", "instance_specific_rubrics"), "rubric"),
            ("LLMSQLEquivalence", ("llm_sql_equivalence_with_reference",), ""),
            ("AgentGoalAccuracyWithReference", ("agent_goal_accuracy",), "task_completion"),
            ("TopicAdherenceScore", ("topic_adherence",), "topic_adherence"),
        )
    ),
)  # fmt: skip
_KNOWN = by_recorded_name(COUNTERPARTS)
_ROUGE_MODES = ("fmeasure", "precision", "recall")


def find_check(column: str) -> Check | None:
    """The check that says the same as a column; its options stand behind its name.

    Example:
        >>> find_check("rouge_score(mode=recall)").params
        {'mode': 'recall'}
    """
    name, _, options = column.partition("(")
    found = check_of(_KNOWN.get(name))
    mode = options.removesuffix(")").removeprefix("mode=")
    if found is not None and name == "rouge_score" and mode in _ROUGE_MODES:
        return found.model_copy(update={"params": {"mode": mode}})
    return None if options else found
