"""The columns of RAGAS's files and a row's own fields, with the attributes of RAGAS's samples.

Column names changed twice (0.0, 0.1, 0.2); the newest one counts where a file has several.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

import msgspec

from bridge.files.foreign.cells import parse_cell
from bridge.plugin.carry import KEY


class ToolCall(msgspec.Struct):
    """A tool call, made or expected."""

    name: str
    args: dict[str, Any] = {}


class Message(msgspec.Struct):
    """A message of a conversation."""

    content: str | None
    type: Literal["human", "ai", "tool"]
    metadata: dict[str, Any] | None = None
    tool_calls: list[ToolCall] | None = None

    def __post_init__(self) -> None:
        self.content = self.content or ""


class Sample(msgspec.Struct, dict=True):
    """A sample of either kind; what it carries stands in ``__dict__``, as in RAGAS's own."""

    user_input: str | list[Message] | None = None
    retrieved_contexts: list[str] | None = None
    reference_contexts: list[str] | None = None
    retrieved_context_ids: list[str | int] | None = None
    reference_context_ids: list[str | int] | None = None
    response: str | None = None
    multi_responses: list[str] | None = None
    reference: str | list[str] | None = None
    rubrics: dict[str, str] | None = None
    persona_name: str | None = None
    query_style: str | None = None
    query_length: str | None = None
    reference_tool_calls: list[ToolCall] | None = None
    reference_topics: list[str] | None = None


FIELDS = Sample.__struct_fields__
TEXTS = frozenset({"response", "persona_name", "query_style", "query_length"})
"""Fields that are text, whatever they look like."""

ALIASES = {
    "user_input": ("question",),
    "response": ("answer",),
    "retrieved_contexts": ("contexts",),
    "reference": ("ground_truth", "ground_truths"),
    "reference_contexts": ("ground_truth_context",),
    "rubrics": ("rubric",),
}
"""Older names of a field, newest first."""

LONG_METRIC = ("metric", "metric_name", "metrics")
LONG_VALUE = ("score", "value", "metric_score", "metric_value")

INDEX = frozenset({"", "index", "Unnamed: 0"})
"""Columns that number the rows."""
ID = "id"
"""The column by which people name their rows."""

KNOWN = frozenset((
    "agent_goal_accuracy", "answer_accuracy", "answer_correctness", "answer_relevancy",
    "answer_similarity", "bleu_score", "chrf_score", "coherence", "conciseness",
    "context_entity_recall", "context_precision", "context_recall", "context_relevance",
    "context_relevancy", "context_utilization", "correctness", "data_compare_score",
    "domain_specific_rubrics", "exact_match", "factual_correctness", "faithful_rate",
    "faithfulness", "faithfulness_with_hhem", "harmfulness", "id_based_context_precision",
    "id_based_context_recall", "instance_rubrics", "instance_specific_rubrics",
    "llm_context_precision_with_reference", "llm_context_precision_without_reference",
    "llm_sql_equivalence_with_reference", "maliciousness", "noise_sensitivity",
    "non_llm_context_recall", "non_llm_context_precision_with_reference",
    "non_llm_string_similarity", "nv_accuracy", "nv_context_relevance", "nv_response_groundedness",
    "quoted_spans_alignment", "relevance_rate", "response_groundedness", "response_relevancy",
    "rouge_score", "semantic_similarity", "sql_semantic_equivalence", "string_present",
    "summary_score", "tool_call_accuracy", "tool_call_f1", "topic_adherence",
))  # fmt: skip
"""Metrics of RAGAS, which are metrics also where every cell is blank."""


def column_of(metric: str) -> str:
    """The column of a metric of ours; one that is named like another column gets a longer name."""
    taken = metric in FIELDS or metric in INDEX or metric in (KEY, ID)
    return f"{metric} (metric)" if taken else metric


def long_columns(names: Collection[str]) -> tuple[str, str] | None:
    """The columns of metric and value, in a table with a row for each case and metric."""
    metric = next((name for name in LONG_METRIC if name in names), None)
    value = next((name for name in LONG_VALUE if name in names), None)
    return (metric, value) if metric is not None and value is not None else None


def is_known(column: str) -> bool:
    """Whether a column is named like a metric of RAGAS, perhaps with its mode."""
    return column.partition("(")[0] in KNOWN


def likeness(names: set[str]) -> float:
    """How much column names look like RAGAS's."""
    fields = columns_of(list(names))
    if "user_input" not in fields:
        return 0.0
    scored = any(is_known(name) for name in names)
    if fields["user_input"] == "user_input":
        alone = len(fields) == 1 and not scored
        return 0.97 if KEY in names else 0.3 if alone else 0.8
    if long_columns(names) is not None:
        return 0.6
    old = {"response", "retrieved_contexts"} & set(fields)  # question, and answer or contexts
    return 0.6 if len(old) == 2 or (old and scored) else 0.0


def columns_of(names: list[str]) -> dict[str, str]:
    """The column of each field of a sample that a table has."""
    found = {}
    for field in FIELDS:
        known = (field, *ALIASES.get(field, ()))
        column = next((each for each in known if each in names), None)
        if column is not None:
            found[field] = column
    return found


def to_sample(
    cells: Mapping[str, Any], columns: Mapping[str, str], *, text: bool, single: bool = False
) -> Sample:
    """A row as a sample.

    Args:
        cells: The row.
        columns: Column by field.
        text: Whether lists and objects are written as text, as in a CSV file.
        single: Whether it is known to be a single-turn sample, whatever its input looks like.

    Raises:
        ValueError: If a cell is nothing that its field can hold.
    """
    fields = {}
    for field, column in columns.items():
        value = cells.get(column)
        if text and isinstance(value, str):
            as_it_is = field in TEXTS or (single and field == "user_input")
            value = value or None if as_it_is else read_cell(field, column, value)
        if value is not None:
            fields[field] = value
    return msgspec.convert(fields, Sample)


def read_cell(field: str, column: str, cell: str) -> Any:
    """The value of a CSV cell: JSON, or what Python shows of a list; blank is ``None``."""
    if cell == "":
        return None
    value = parse_cell(cell)
    if field == "user_input":
        return value if _is_conversation(value) else cell
    if field == "reference":  # a list of answers in older files only
        return value if column != field and _is_texts(value) else cell
    return [value] if isinstance(value, str) and field != "rubrics" else value


def _is_conversation(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) and "type" in each and "content" in each for each in value
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
