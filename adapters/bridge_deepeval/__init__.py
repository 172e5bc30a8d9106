"""DeepEval for bridge-evals."""

from bridge_deepeval.framework import FRAMEWORK, to_test_cases

__all__ = ["FRAMEWORK", "to_test_cases"]
