"""Inspect AI for bridge-evals."""

from bridge_inspect.framework import FRAMEWORK, to_task

__all__ = ["FRAMEWORK", "to_task"]
