"""The second stage: a linear model of hashed n-grams, trained on any folder of labelled texts."""

from bridge.scorers.injection.model.linear import Weights, load_weights, shipped_weights
from bridge.scorers.injection.model.stage import Suspicion, strongest, suspicion

__all__ = [
    "Suspicion",
    "Weights",
    "load_weights",
    "shipped_weights",
    "strongest",
    "suspicion",
]
