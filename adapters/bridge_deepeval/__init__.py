"""DeepEval for bridge-evals."""

from bridge_deepeval.framework import FRAMEWORK

__all__ = ["FRAMEWORK"]
