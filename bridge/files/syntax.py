"""Python's syntax trees, by a parser that a garbage collection cannot disturb."""

from __future__ import annotations

import ast
import gc
from typing import Any


def syntax_tree(source: str | bytes, mode: str = "exec") -> Any:
    """The syntax tree of a source, as :func:`ast.parse` gives it; nothing is run.

    Before Python 3.11.8 a collection in the middle that parses too, in another thread say, fails
    with a SystemError (https://github.com/python/cpython/issues/106905), so it waits.

    Raises:
        SyntaxError: If it is no Python.
        RecursionError: If it is nested too deeply; ``MemoryError`` if far too deeply.
        ValueError: If it holds a zero byte.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source, mode=mode)
    finally:
        if collecting:
            gc.enable()
