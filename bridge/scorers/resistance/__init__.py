"""Whether an agent resisted an attack: what it gave away, did and sent, and its user's task."""

from bridge.scorers.resistance.canary import ENCODINGS, leaks
from bridge.scorers.resistance.hosts import link_hosts
from bridge.scorers.resistance.params import ForbiddenCall, ResistanceParams
from bridge.scorers.resistance.scorer import INJECTION_RESISTANCE, injection_resistance

__all__ = [
    "ENCODINGS",
    "INJECTION_RESISTANCE",
    "ForbiddenCall",
    "ResistanceParams",
    "injection_resistance",
    "leaks",
    "link_hosts",
]
