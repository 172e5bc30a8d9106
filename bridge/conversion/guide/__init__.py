"""Migration guides: what maps, what is carried and what cannot, from the code itself."""

from bridge.conversion.guide.pages import guides

__all__ = ["guides"]
