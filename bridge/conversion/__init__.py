"""From one format to another, over the bundle in between."""

from bridge.conversion.convert import convert
from bridge.conversion.target import target_format

__all__ = ["convert", "target_format"]
