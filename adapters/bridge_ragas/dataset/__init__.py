"""RAGAS datasets as a format: read, and written so that RAGAS loads and runs them."""

from bridge_ragas.dataset.format import DATASET

__all__ = ["DATASET"]
