"""Reasons by what they lead to, as they are found."""

from __future__ import annotations

from dataclasses import dataclass, field

from bridge.gate.criteria.metric import MetricDecision
from bridge.model.verdict import VerdictName


@dataclass(slots=True)
class Reasons:
    """Reasons for ``error``, ``failed`` and ``inconclusive``, and what is only said."""

    errors: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> VerdictName:
        """The gravest of what was found."""
        if self.errors:
            return "error"
        if self.failures:
            return "failed"
        return "inconclusive" if self.doubts else "passed"

    @property
    def all(self) -> tuple[str, ...]:
        """Every reason once, the gravest first."""
        return tuple(dict.fromkeys((*self.errors, *self.failures, *self.doubts)))

    def add(self, name: str, decision: MetricDecision) -> None:
        """Take in what a gated metric says of itself."""
        self.errors += [f"{name}: {reason}" for reason in decision.errors]
        self.failures += [f"{name}: {reason}" for reason in decision.failures]
        self.doubts += [f"{name}: {reason}" for reason in decision.doubts]
