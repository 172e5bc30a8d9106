"""Cells of other people's tables: lists and objects written as text, in every spelling.

JSON, what Python shows of a list (``['a', "it's"]``; one column often mixes both), what numpy
shows of an array (``['a' 'b']``, :mod:`bridge.files.foreign.numpy_text`), a list of one text that
is itself a list, separators where they are named. Commas never separate: they stand in sentences.
Nothing is evaluated, and what cannot be told for sure stays the text that it is.
"""

from __future__ import annotations

import ast
import json
import math
import re
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from bridge.files.foreign.numpy_text import with_commas
from bridge.files.syntax import syntax_tree

MAX_LITERAL = 1024 * 1024
"""Longest cell read as a Python literal, in characters."""
MAX_BRACKETS = 100
"""Deepest nesting of brackets in such a cell."""

BLANK = frozenset({"", "nan", "none", "null", "na", "n/a", "<na>", "nat"})
"""What stands for no value, in any case."""

_OPENS = ("[", "{", "(", "array(")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d{1,3})?")
_LARGEST = sys.float_info.max
_ADJACENT = re.compile(r"""['"]\s*[a-zA-Z]{0,2}['"]""")
"""Where two texts may stand side by side, which Python would join."""
_NAMES = {"nan": None, "NaN": None, "null": None, "true": True, "false": False}
"""Names that stand in a literal beside Python's own."""


def is_blank(value: Any) -> bool:
    """Whether a cell is empty, or a NaN, or only says that nothing is there."""
    if isinstance(value, str):
        return value.strip().lower() in BLANK
    return value is None or (isinstance(value, float) and math.isnan(value))


def parse_cell(cell: Any) -> Any:
    """What a cell holds: a list or object where it is written as one, else the cell itself.

    Args:
        cell: The text of a cell, or a value of another file, which comes back as it is.
    """
    if not isinstance(cell, str):
        return cell
    text = cell.strip()
    if not text or not text.startswith(_OPENS) or text[-1] not in "]})":
        return cell
    try:
        return _as_json(json.loads(text))
    except (ValueError, RecursionError):
        pass
    try:
        return parse_literal(text)
    except ValueError:
        return cell


def parse_literal(text: str) -> Any:
    """A Python literal as JSON data: tuples as lists, ``nan`` as null.

    Raises:
        ValueError: If it is none, holds what JSON does not, or is too long or too deep.
    """
    if len(text) > MAX_LITERAL or _depth(text) > MAX_BRACKETS:
        raise ValueError("too long or too deep for a literal")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on escapes that Python does not know
            return _as_json(_evaluated(text))
    except (SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(str(error) or "no literal") from None


def _evaluated(text: str) -> Any:
    """A literal as Python reads it; where it cannot, or would join texts, as numpy means it."""
    if not _ADJACENT.search(text):
        try:
            return _literal(text)
        except (SyntaxError, ValueError):
            pass
    return _literal(with_commas(text))


def _literal(text: str) -> Any:
    return ast.literal_eval(_Names().visit(syntax_tree(text, "eval")))


def is_unread_list(cell: Any) -> bool:
    """Whether a cell looks like a list and cannot be read as one."""
    if not isinstance(cell, str):
        return False
    text = cell.strip()
    looks = text.startswith("[") and text.endswith("]") and len(text) > 2
    return (looks or text.startswith("array(")) and isinstance(parse_cell(cell), str)


def parse_list(cell: Any, separators: str = "") -> list[Any]:
    """A cell as a list.

    Args:
        cell: A list, or the text of a cell; a single value is a list of itself, a blank is none.
        separators: Characters that separate the items of a text that is no list in itself.
    """
    value = parse_cell(cell)
    if isinstance(value, list):
        inner = parse_cell(value[0]) if len(value) == 1 else None
        return inner if isinstance(inner, list) else value
    if is_blank(value):
        return []
    if isinstance(value, str):
        for separator in separators:
            if separator in value:
                return [item.strip() for item in value.split(separator) if item.strip()]
    return [value]


def parse_object(cell: Any) -> dict[str, Any] | None:
    """A cell as an object; ``None`` where it is none."""
    value = parse_cell(cell)
    return value if isinstance(value, dict) else None


def to_number(cell: Any) -> float | int | None:
    """A cell as a number, also with a decimal comma; ``None`` where it is none."""
    if isinstance(cell, int | float):
        usable = not isinstance(cell, bool) and -_LARGEST <= cell <= _LARGEST
        return cell if usable else None
    if not isinstance(cell, str) or not _NUMBER.fullmatch(cell.strip()):
        return None
    number = float(cell.strip().replace(",", "."))
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() else number


class _Names(ast.NodeTransformer):
    """Puts values in the place of names that stand for one."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in _NAMES:
            return ast.copy_location(ast.Constant(_NAMES[node.id]), node)
        return node


def _depth(text: str) -> int:
    """Deepest nesting of brackets, those within texts included."""
    depth = deepest = 0
    for mark in re.finditer(r"[\[{(]|[\]})]", text):
        depth += 1 if mark[0] in "[{(" else -1
        deepest = max(deepest, depth)
    return deepest


def _as_json(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _as_json(item) for key, item in value.items()}
    raise ValueError(f"{type(value).__name__} is no JSON")
