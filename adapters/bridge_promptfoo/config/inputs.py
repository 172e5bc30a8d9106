"""What a test asks: its prompt and variables as a case's input, and the references among them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bridge_promptfoo.config.templates import js_text, render

ASKED = ("query", "question", "input", "user_input", "prompt", "message", "user_message")
"""Variables that hold what is asked, the likeliest first."""
REFERENCES = ("expected", "reference", "expected_answer", "expected_output", "ground_truth")
"""Variables that hold the reference answer."""
REFERRING = ("equals", "similar", "factuality", "context-recall", "answer-relevance")
"""Assertions whose value is a reference answer, where no variable holds one."""
_ROLES = frozenset({"system", "user", "assistant", "tool"})


def input_of(prompts: Sequence[str], test: Mapping[str, Any], variables: Mapping[str, Any]) -> Any:
    """A case's input: the only prompt with its variables put in, else the variable that is asked.

    Args:
        prompts: The prompts as text; empty where one of them is not known.
        test: The test's ``options`` and ``description``.
        variables: Its variables.
    """
    if len(prompts) == 1:
        options = test.get("options") or {}
        around = [options.get(key) or "" for key in ("prefix", "suffix")]
        try:
            return _rendered(f"{around[0]}{prompts[0]}{around[1]}", variables)
        except ValueError:
            pass
    asked = next((variables[name] for name in ASKED if name in variables), None)
    if asked is None and len(variables) == 1:
        asked = next(iter(variables.values()))
    text = js_text(asked)
    if text is not None:
        return text
    return dict(variables) if variables else str(test.get("description") or "")


def _rendered(prompt: str, variables: Mapping[str, Any]) -> Any:
    """A prompt as a text, or as messages where it is a JSON list of them."""
    try:
        chat = json.loads(prompt)
    except (ValueError, RecursionError):
        return render(prompt, variables)
    if not _is_chat(chat):
        return render(prompt, variables)
    return [{**message, "content": render(message["content"], variables)} for message in chat]


def _is_chat(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(
            isinstance(each, dict)
            and set(each) == {"role", "content"}
            and each["role"] in _ROLES
            and isinstance(each["content"], str)
            for each in value
        )
    )


def expected_of(variables: Mapping[str, Any], asserts: Sequence[Mapping[str, Any]]) -> Any:
    """The reference answer of a test: a variable's, else that of its only such assertion."""
    for name in REFERENCES:
        if isinstance(variables.get(name), str):
            return _bare(variables[name], variables)
    values = [each.get("value") for each in asserts if each.get("type") in REFERRING]
    return _bare(values[0], variables) if len(values) == 1 else ""


def _bare(value: Any, variables: Mapping[str, Any]) -> Any:
    """A reference with the variables in it put in; none where that takes more than names."""
    if not isinstance(value, str) or value.startswith("file://"):
        return ""
    try:
        return render(value, variables)
    except ValueError:
        return ""
