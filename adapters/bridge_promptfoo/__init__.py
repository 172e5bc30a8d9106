"""promptfoo for bridge-evals."""

from bridge_promptfoo.config import to_config
from bridge_promptfoo.framework import FRAMEWORK

__all__ = ["FRAMEWORK", "to_config"]
