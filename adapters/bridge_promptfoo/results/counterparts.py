"""promptfoo's assertion types as metrics of its own, from the one map of them."""

from __future__ import annotations

from bridge.plugin.results.counterparts import Counterpart
from bridge_promptfoo.config.kinds import KINDS

COUNTERPARTS = tuple(
    Counterpart(kind.type, (kind.type,), kind.scorer or None, kind.judge, kind.why)
    for kind in KINDS.values()
)
