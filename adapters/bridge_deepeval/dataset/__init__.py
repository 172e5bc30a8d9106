"""DeepEval datasets as a format: read, and written so that DeepEval loads and runs them."""

from bridge_deepeval.dataset.format import DATASET

__all__ = ["DATASET"]
