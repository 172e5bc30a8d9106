"""Our own files, and those of no framework, found by the same entry points as everyone's."""

from bridge.plugin.formats.baseline import BASELINE
from bridge.plugin.formats.every_eval_ever import EVERY_EVAL_EVER
from bridge.plugin.formats.junit import JUNIT
from bridge.plugin.formats.lines import GOLDEN_SET, OUTPUTS, SCORES
from bridge.plugin.formats.lm_eval import LM_EVAL
from bridge.plugin.formats.run import RUN
from bridge.plugin.formats.suite import SUITE

__all__ = [
    "BASELINE",
    "EVERY_EVAL_EVER",
    "GOLDEN_SET",
    "JUNIT",
    "LM_EVAL",
    "OUTPUTS",
    "RUN",
    "SCORES",
    "SUITE",
]
