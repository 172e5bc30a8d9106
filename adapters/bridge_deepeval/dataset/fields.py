"""The fields of goldens and test cases, by every name that people's files have for them."""

from __future__ import annotations

from bridge.plugin.cases.columns import SYNONYMS

SINGLE = {
    "id": ("id",),
    "name": ("name", "test_name", "case_id", "test_id"),
    "input": SYNONYMS["input"],
    "actual_output": SYNONYMS["output"],
    "expected_output": SYNONYMS["expected"],
    "context": SYNONYMS["reference_contexts"],
    "retrieval_context": SYNONYMS["retrieved_contexts"],
    "tools_called": SYNONYMS["tool_calls"],
    "expected_tools": SYNONYMS["expected_calls"],
    "tags": ("tags",),
    "additional_metadata": ("additional_metadata", "metadata", "meta"),
    "token_cost": ("token_cost",),
    "input_token_count": ("input_token_count",),
    "output_token_count": ("output_token_count",),
    "completion_time": ("completion_time",),
}
"""Fields of a golden or test case, each with its names; DeepEval's own come first."""

CONVERSATION = {
    "id": SINGLE["id"],
    "name": SINGLE["name"],
    "scenario": ("scenario", "input", "description"),
    "turns": ("turns", "messages", "conversation", "dialogue", "dialog"),
    "expected_outcome": ("expected_outcome", *SYNONYMS["expected"]),
    "persona": ("persona", "user_description"),
    "context": SINGLE["context"],
    "tags": SINGLE["tags"],
    "additional_metadata": SINGLE["additional_metadata"],
}
"""Fields of a conversational golden or test case."""

USER = ("user", "human", "input", "question", "query", "customer")
"""Keys of the user's half in a home-made turn."""
ASSISTANT = ("assistant", "ai", "bot", "agent", "actual_output", "output", "response", "answer")
"""Keys of the answer in a home-made turn."""
EXPECTED = ("expected", "expect", "expected_output", "expected_response")
"""Keys of the expected answer in a home-made turn."""

SEPARATOR = "|"
"""What DeepEval joins contexts with, in CSV and JSON Lines."""
TOOLS = "write [{name, inputParameters}] or [name]"
"""How tools are written."""
TOOL_SEPARATOR = ";"
"""What DeepEval splits a cell of tool names by."""
