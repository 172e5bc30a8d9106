"""Inspect datasets as a format: read, and written so that Inspect loads and runs them."""

from bridge_inspect.dataset.format import DATASET

__all__ = ["DATASET"]
