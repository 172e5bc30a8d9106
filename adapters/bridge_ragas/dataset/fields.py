"""The columns of RAGAS's datasets and testsets, by their names from 0.0 to 0.4."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bridge.plugin.cases.columns import SYNONYMS, folded

FIELDS = {
    "id": ("id", "case_id", "sample_id"),
    "user_input": ("user_input", "question", *SYNONYMS["input"]),
    "response": ("response", "answer", *SYNONYMS["output"]),
    "retrieved_contexts": ("retrieved_contexts", "contexts", *SYNONYMS["retrieved_contexts"]),
    "reference": ("reference", "ground_truth", "ground_truths", *SYNONYMS["expected"]),
    "reference_contexts": (
        "reference_contexts",
        "ground_truth_context",
        *SYNONYMS["reference_contexts"],
    ),
    "retrieved_context_ids": ("retrieved_context_ids",),
    "reference_context_ids": ("reference_context_ids",),
    "persona_name": ("persona_name",),
    "reference_tool_calls": ("reference_tool_calls",),
}
"""Fields of a sample, each with its names; the newest come first."""
TESTSET_01 = {
    **{name: names for name, names in FIELDS.items() if name != "retrieved_contexts"},
    "reference_contexts": ("reference_contexts", "ground_truth_context", "contexts"),
}
"""The same in a testset before 0.2, whose contexts are those that hold the answer."""

_OF_TESTSETS = frozenset(map(folded, ("evolution_type", "question_type", "episode_done")))


def fields_of(columns: Iterable[str]) -> dict[str, Collection[str]]:
    """The fields of a file with these columns."""
    older = any(folded(name) in _OF_TESTSETS for name in columns)
    return {**(TESTSET_01 if older else FIELDS)}
