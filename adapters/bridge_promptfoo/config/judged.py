"""What a model-graded assertion says as the parameters of a judged check, and back.

Readers and writers as in :mod:`bridge_promptfoo.config.params`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge_promptfoo.config.params import Params, Parts, Reader

CRITERION = "criterion"
"""Name of the one criterion of a rubric that was an assertion."""


def _words(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("its value is no text")
    return value


def criterion(*shown: str) -> Reader:
    """A rubric of one criterion; what promptfoo shows its grader beside the answer."""
    return lambda value, _: {"criteria": {CRITERION: _words(value)}, "show": list(shown)}


def write_criterion(params: Params) -> Parts | None:
    """``llm-rubric``, for one criterion that is held against the answer alone."""
    criteria = params.get("criteria")
    if set(params) != {"criteria", "show"} or params["show"] or not isinstance(criteria, Mapping):
        return None
    words = list(criteria.values())
    if len(words) != 1 or not isinstance(words[0], str):
        return None
    return {"type": "llm-rubric", "value": words[0]}


def criteria(value: Any, _: float | None) -> Params:
    """``g-eval`` of one text; of several it is the mean of as many."""
    return {"criteria": _words(value)}


def write_criteria(params: Params) -> Parts | None:
    """``g-eval``, which makes up its steps itself."""
    words = params.get("criteria")
    if set(params) != {"criteria"} or not isinstance(words, str):
        return None
    return {"type": "g-eval", "value": words}
