"""Inspect AI for bridge-evals."""

from bridge_inspect.framework import FRAMEWORK

__all__ = ["FRAMEWORK"]
