"""promptfoo for bridge-evals."""

from bridge_promptfoo.framework import FRAMEWORK, to_config

__all__ = ["FRAMEWORK", "to_config"]
