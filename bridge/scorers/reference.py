"""What an answer is compared with: the check's own texts, or the case's accepted answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Model, Text, clean_text
from bridge.scorers.registry import skip

NO_REFERENCE = "no reference answer that is text"

LONGEST = 200_000
"""Most characters of an answer or reference that are compared pairwise; a longer one is an
error, not a run that never ends."""


class ReferenceParams(Model):
    """Parameters of a check that compares with references.

    Attributes:
        value: What to compare with, a text or several of which the best counts; the case's
            accepted answers if left out.
    """

    value: Text | tuple[Text, ...] | None = None


def reference_texts(case: Case) -> tuple[str, ...]:
    """The accepted answers that are texts or numbers, numbers as JSON writes them."""
    return tuple(text for item in case.references if (text := _reference_text(item)))


def _reference_text(item: Any) -> str:
    if isinstance(item, str):
        return item if item.strip() else ""
    is_number = isinstance(item, int | float) and not isinstance(item, bool)
    return json.dumps(item) if is_number else ""


def wanted_texts(case: Case, params: ReferenceParams) -> tuple[str, ...]:
    """The check's own references, else the case's."""
    if params.value is None:
        return reference_texts(case)
    return (params.value,) if isinstance(params.value, str) else params.value


def answer_text(output: Output) -> str:
    """The answer as text; an answer that is JSON as its compact JSON text."""
    text = output.text
    if not isinstance(text, str):
        text = json.dumps(text, ensure_ascii=False, separators=(",", ":"))
    return clean_text(text)


def best_of(
    name: str, case: Case, output: Output, params: ReferenceParams, compare: Callable[..., float]
) -> list[Measurement]:
    """The best value in [0, 1] that ``compare(answer, reference)`` gives over the references.

    Raises:
        ValueError: If a text is longer than :data:`LONGEST`.
    """
    wanted = wanted_texts(case, params)
    if not wanted:
        return [skip(NO_REFERENCE)]
    text = bounded(answer_text(output))
    value = max(compare(text, bounded(reference)) for reference in wanted)
    return [Measurement(value=value, reason=f"{name} {value:.4g}")]


def bounded(text: str) -> str:
    """The text itself.

    Raises:
        ValueError: If it is longer than :data:`LONGEST`.
    """
    if len(text) > LONGEST:
        raise ValueError(f"a text of {len(text)} characters; at most {LONGEST} are compared")
    return text
