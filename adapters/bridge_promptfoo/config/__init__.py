"""promptfoo configs as a format: read, and written so that promptfoo runs them as they are."""

from bridge_promptfoo.config.format import CONFIG

__all__ = ["CONFIG"]
