"""RAGAS for bridge-evals."""

from bridge_ragas.framework import FRAMEWORK, to_dataset, to_metrics

__all__ = ["FRAMEWORK", "to_dataset", "to_metrics"]
