"""What readers of other people's cases have in common: cells, messages, and faults with a line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from bridge.files.foreign.cells import is_blank, parse_cell, parse_list, parse_object
from bridge.model.errors import InputError
from bridge.model.explain import explain
from bridge.model.values import Model

M = TypeVar("M", bound=Model)

ROLES = {"human": "user", "ai": "assistant", "function": "tool", "developer": "system"}
"""Roles by other names."""
SEPARATORS = "|;,"
"""What separates labels in one cell."""


def made(kind: type[M], fields: Mapping[str, Any], path: Path, line: int | None) -> M:
    """A model value.

    Raises:
        InputError: If the fields make none; with the line.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise InputError(explain(error), where=path, line=line, fix="mend the row") from None


def messages(value: Any) -> list[dict[str, Any]] | None:
    """A list of chat messages, also LangChain's; ``None`` where it is none."""
    if not isinstance(value, list) or not value:
        return None
    found = [_message(each) for each in value]
    return None if None in found else [each for each in found if each is not None]


def _message(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, Mapping):
        return None
    body = value.get("data") if isinstance(value.get("data"), Mapping) else value
    role = value.get("role") or value.get("type")
    if not isinstance(role, str) or not isinstance(body, Mapping) or "content" not in body:
        return None
    role = ROLES.get(role, role)
    if role not in ("system", "user", "assistant", "tool"):
        return None
    content = body["content"]
    fits = isinstance(content, str | None) or (
        isinstance(content, list) and all(isinstance(part, Mapping) for part in content)
    )
    return {"role": role, "content": content} if fits else None


def asked(value: Any) -> Any:
    """A value as a case's input: a text, messages or an object; any other as its text."""
    value = parse_cell(value)
    chat = messages(value)
    if chat is not None:
        return chat
    return value if isinstance(value, str | Mapping) else _shown(value)


def _shown(value: Any) -> str:
    return "" if value is None else str(value)


def reference(value: Any) -> Any:
    """A value as a reference answer; a list of texts is a list of accepted answers."""
    if is_blank(value):
        return ""
    parsed = parse_cell(value)
    is_texts = isinstance(parsed, list) and all(isinstance(each, str) for each in parsed)
    return parsed if is_texts or not isinstance(value, str) else value


def passages(value: Any) -> list[Any]:
    """A cell as context passages."""
    return [each if isinstance(each, str | Mapping) else str(each) for each in parse_list(value)]


def labels(value: Any) -> list[str]:
    """A cell as labels."""
    return [str(each) for each in parse_list(value, SEPARATORS) if not is_blank(each)]


def object_of(value: Any) -> dict[str, Any] | None:
    """A cell as an object; an empty one where it is blank, ``None`` where it is none."""
    return {} if is_blank(value) else parse_object(value)
