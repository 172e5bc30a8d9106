"""promptfoo's templates: which texts are one, the harmless kind rendered, and data made inert.

promptfoo renders prompts, variables and the values of assertions with nunjucks, which is code. We
render only bare names (``{{question}}``), from variables, and nothing else. What needs more is
kept as text and said to be executable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MAX_RENDERED = 1024 * 1024
"""Longest text that is rendered, in characters."""
MAX_PASSES = 5
"""How often a variable may name another, as in promptfoo."""

_TAG = re.compile(r"\{[{%#]|#\}")
_BARE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_OPENS = re.compile(r"\{(?=[{%#]|\n?\Z)|(?<=\{)\{|#(?=\})")
_ESCAPED = re.compile(r'\{\{ "(\{|#|f|p|\\n)" \}\}')
_LOADED = ("file://", "package:")
"""What a variable begins with if promptfoo is to load it."""


def is_template(value: Any) -> bool:
    """Whether any text in a JSON value holds a tag, or what nunjucks stumbles over."""
    if isinstance(value, str):
        return _TAG.search(value) is not None
    if isinstance(value, Mapping):
        return any(is_template(key) or is_template(item) for key, item in value.items())
    return isinstance(value, list | tuple) and any(map(is_template, value))


def render(value: Any, variables: Mapping[str, Any]) -> Any:
    """A JSON value with the bare names in its texts replaced.

    Raises:
        ValueError: If a text is a template of another kind, or names what there is not.
    """
    if isinstance(value, str):
        return _render(value, variables)
    if isinstance(value, Mapping):
        return {key: render(item, variables) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [render(item, variables) for item in value]
    return value


def _render(text: str, variables: Mapping[str, Any]) -> str:
    for _ in range(MAX_PASSES):
        if not _TAG.search(text):
            return text
        if _TAG.search(_BARE.sub("", text)):
            raise ValueError("a template that only nunjucks renders")
        text = _BARE.sub(lambda match: _shown(match[1], variables), text)
        if len(text) > MAX_RENDERED:
            break
    raise ValueError("variables name each other without end")


def _shown(name: str, variables: Mapping[str, Any]) -> str:
    text = js_text(variables.get(name))
    if text is None:
        known = name in variables
        raise ValueError(f"{name} is no text" if known else f"there is no variable {name}")
    return text


def js_text(value: Any) -> str | None:
    """A scalar as JavaScript writes it; ``None`` for anything else, or where that is not sure."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        size = abs(value)
        if size == int(size) and size < 1e21:
            return str(int(value))
        return repr(value) if 1e-6 <= size < 1e15 else None
    return None


def escaped(text: str) -> str:
    """A text as a variable that promptfoo renders to just this text."""
    made = _OPENS.sub(r'{{ "\g<0>" }}', text)
    if made.startswith(_LOADED):
        made = f'{{{{ "{made[0]}" }}}}{made[1:]}'
    return f'{made[:-1]}{{{{ "\\n" }}}}' if made.endswith("\n") else made


def unescaped(text: str) -> str:
    """The text that :func:`escaped` was given; any other text as it is."""
    plain = _ESCAPED.sub(lambda match: match[1].replace("\\n", "\n"), text)
    return plain if escaped(plain) == text else text
