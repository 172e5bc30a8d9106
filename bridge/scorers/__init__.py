"""Shared scorers: pure, deterministic, one file a family."""

from bridge.scorers.evaluate import checks_with_turns, evaluate, expected_rows
from bridge.scorers.registry import NoParams, Scorer, get_scorer, skip, validate_check

__all__ = [
    "NoParams",
    "Scorer",
    "checks_with_turns",
    "evaluate",
    "expected_rows",
    "get_scorer",
    "skip",
    "validate_check",
]
