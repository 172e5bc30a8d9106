"""Syntax trees while garbage is collected."""

from __future__ import annotations

import ast
import gc

import pytest

from bridge.files.syntax import syntax_tree


def test_nothing_is_collected_while_a_source_is_parsed() -> None:
    seen: list[str] = []
    gc.callbacks.append(lambda phase, _: seen.append(phase))
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        seen.clear()
        tree = syntax_tree("[" + "f(1), " * 500 + "]", "eval")
        during = len(seen)
        ast.parse("[" + "f(1), " * 500 + "]", mode="eval")
        after = len(seen)
    finally:
        gc.set_threshold(*before)
        gc.callbacks.pop()
    assert isinstance(tree, ast.Expression)
    assert after - during > 10 * (during + 1)
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with pytest.raises(SyntaxError):
            syntax_tree("f(")
        assert not gc.isenabled()
    finally:
        gc.enable()
