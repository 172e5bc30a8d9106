"""Which column is what: names that people give to the fields of a case, and the ids of rows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from bridge.plugin.numbering import Numbered

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "case_id", "test_id", "sample_id", "example_id", "question_id", "qid", "uuid"),
    "input": (
        "input", "user_input", "question", "query", "prompt", "user_query", "user_question",
        "user_message", "instruction", "problem", "text", "inputs", "frage", "pregunta", "domanda",
        "pergunta", "vraag", "вопрос", "问题", "問題", "質問", "질문",
    ),
    "expected": (
        "expected", "expected_output", "expected_answer", "reference", "reference_answer", "target",
        "ground_truth", "ground_truths", "ground_truth_answer", "gold", "gold_answer",
        "golden_answer", "ideal", "ideal_answer", "correct_answer", "label", "expected_response",
        "expect",
        "solution", "antwort", "respuesta", "risposta", "resposta", "réponse", "ответ", "答案",
        "回答", "정답",
    ),
    "output": (
        "output", "actual_output", "response", "answer", "generated_answer", "model_output",
        "model_answer", "prediction", "completion", "generation", "model_response", "actual",
    ),
    "retrieved_contexts": (
        "retrieved_contexts", "retrieval_context", "contexts", "retrieved_context",
        "retrieved_documents", "retrieved_docs", "retrieved", "documents", "passages",
    ),
    "reference_contexts": (
        "reference_contexts", "context", "reference_context", "ground_truth_context",
        "ground_truth_contexts", "gold_contexts", "source_documents", "kontext",
    ),
    "choices": ("choices", "options", "answers"),
    "tools": ("tools", "available_tools", "functions"),
    "expected_calls": (
        "expected_calls", "expected_tools", "expected_tool_calls", "reference_tool_calls",
    ),
    "tool_calls": ("tool_calls", "tools_called", "actual_tools", "called_tools"),
    "tags": ("tags", "labels", "categories", "category"),
    "metadata": ("metadata", "meta", "additional_metadata"),
}  # fmt: skip
"""By neutral field: names of a column, the most telling first."""

INDEX = frozenset({"", "index", "Unnamed: 0", "Unnamed: 0.1", "level_0", "__index_level_0__"})
"""Columns that number the rows."""


def folded(name: str) -> str:
    """A name without case, blanks and punctuation: ``expectedOutput`` as ``Expected output``."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name)).casefold()


def match_columns(
    names: Iterable[str], synonyms: Mapping[str, Collection[str]] = SYNONYMS
) -> dict[str, str]:
    """The column of each field that a table has.

    Args:
        names: Columns of the table, in order.
        synonyms: Names of each field, the most telling first.

    Returns:
        Column by field; each column once, where several are named for a field the most telling.
    """
    there: dict[str, str] = {}
    for name in names:
        there.setdefault(folded(name), name)
    found: dict[str, str] = {}
    for field, known in synonyms.items():
        column = next((there[key] for key in map(folded, known) if key in there), None)
        if column is not None and column not in found.values():
            found[field] = column
    return found


class Ids:
    """Ids of the rows of a table, each of its own.

    Attributes:
        made: How many were made for rows without one.
        changed: Ids that stood twice, as they stood.
    """

    def __init__(self, prefix: str = "row") -> None:
        self._prefix = prefix
        self._names = Numbered("{}#{}")
        self.made = 0
        self.changed: list[str] = []

    def of(self, given: Any, number: int) -> str:
        """The id of a row.

        Args:
            given: What the row says: a text or whole number; blank where it says nothing.
            number: Which row it is, 1-based.
        """
        name = _name(given)
        if name is None:
            self.made += 1
            name = f"{self._prefix}-{number}"
        elif name in self._names:
            self.changed.append(name)
        return self._names.of(name)

    def notes(self) -> list[str]:
        """What a reader should know."""
        notes = []
        if self.made:
            notes.append(f"{self.made} rows have no id: named {self._prefix}-1, ... by their place")
        if self.changed:
            shown = ", ".join(repr(name) for name in self.changed[:3])
            notes.append(f"{len(self.changed)} ids stand twice ({shown}): numbered with #2, ...")
        return notes


def _name(given: Any) -> str | None:
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return None
    if isinstance(given, float):
        given = int(given) if given.is_integer() else given
    return str(given) if str(given).strip() else None
