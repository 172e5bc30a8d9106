"""Our own files as formats, found by the same entry points as everyone else's."""

from bridge.plugin.formats.baseline import BASELINE
from bridge.plugin.formats.lines import GOLDEN_SET, OUTPUTS, SCORES
from bridge.plugin.formats.run import RUN
from bridge.plugin.formats.suite import SUITE

__all__ = ["BASELINE", "GOLDEN_SET", "OUTPUTS", "RUN", "SCORES", "SUITE"]
