"""From one format to another, over the bundle in between, and the proof that nothing changed."""

from bridge.conversion.convert import convert
from bridge.conversion.sides import Given
from bridge.conversion.target import target_format
from bridge.conversion.verify import verify

__all__ = ["Given", "convert", "target_format", "verify"]
