"""What the judges of a panel found, as one measurement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bridge.model.message import Usage
from bridge.model.panel import Panel
from bridge.model.score import VALUED, Measurement, error_measurement


class Vote(NamedTuple):
    """What one judge found, and whether the check passes by it."""

    judge: str
    found: Measurement
    passes: bool

    @property
    def counts(self) -> bool:
        """Whether there is a value; a judge may also fail, or find nothing to score."""
        return self.found.status in VALUED and self.found.value is not None


def combine(votes: Sequence[Vote], panel: Panel, *, negate: bool) -> Measurement:
    """The votes as one measurement, each of them in its details.

    Without a quorum one judge that fails is an error, and the panel finds nothing to score where
    at least half of it does. With a quorum, that many votes are enough, and fewer are an error if
    some judge failed.

    Args:
        votes: One a judge.
        panel: How they count.
        negate: Whether the check shows 1 - value: a majority is one of what is shown.
    """
    failed = [vote for vote in votes if vote.found.status == "error"]
    counted = [vote for vote in votes if vote.counts]
    enough = panel.quorum if panel.quorum is not None else len(votes) // 2 + 1
    if failed and (panel.quorum is None or len(counted) < enough):
        return error_measurement(f"judge {failed[0].judge}: {failed[0].found.error}")
    if len(counted) < enough:
        return next(vote.found for vote in votes if not vote.counts)
    values = [vote.found.value or 0.0 for vote in counted]
    passing = sum(vote.passes for vote in counted)
    if panel.combine == "majority":
        carried = 2 * passing > len(counted)
        value = 1.0 if carried != negate else 0.0
    else:
        value = min(1.0, max(0.0, math.fsum(values) / len(values)))
    said = "; ".join(f"{vote.judge}: {_said(vote.found)}" for vote in votes)
    return Measurement(
        value=value,
        reason=f"{passing} of {len(counted)} judges pass it; {said}",
        details={"votes": [_shown(vote) for vote in votes], **_flags(votes)},
        **summed([vote.found for vote in votes]),
    )


def summed(found: Sequence[Measurement]) -> dict[str, Any]:
    """The ``usage`` and ``cost_usd`` of several measurements, as far as they are known."""
    used = [each.usage for each in found if each.usage is not None]
    costs = [each.cost_usd for each in found if each.cost_usd is not None]
    took: dict[str, Any] = {"cost_usd": math.fsum(costs)} if costs else {}
    if used:
        read = sum(each.input_tokens or 0 for each in used)
        written = sum(each.output_tokens or 0 for each in used)
        took["usage"] = Usage(input_tokens=read, output_tokens=written)
    return took


def _flags(votes: Sequence[Vote]) -> dict[str, Any]:
    """What the votes say of the texts themselves, where it is looked for."""
    found = (vote.found.details for vote in votes)
    return {name: each[name] for each in found for name in ("sway", "cut") if name in each}


def _said(found: Measurement) -> str:
    value = "" if found.value is None else f"{found.value:.2f}, "
    return f"{value}{found.reason}"


def _shown(vote: Vote) -> Mapping[str, Any]:
    """A vote in the details: its judge, what it decides, and the judge's own details."""
    found = vote.found
    shown = {
        "judge": vote.judge,
        "value": found.value,
        "passes": vote.passes,
        "reason": found.reason,
        "details": found.details,
    }
    return shown | ({"error": found.error} if found.error is not None else {})
