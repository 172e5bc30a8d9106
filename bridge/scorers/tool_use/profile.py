"""Profiles: whose rules say that a call is the expected one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from bridge.model.case import ExpectedCall
from bridge.model.message import Tool
from bridge.scorers.matching.differences import Difference, differences
from bridge.scorers.tool_use.bfcl import Bfcl
from bridge.scorers.tool_use.comparison import Made, Pair
from bridge.scorers.tool_use.pairing import fits, pair_calls, pair_first_fit

ProfileName = Literal["json", "bfcl"]


@dataclass(frozen=True, slots=True)
class Profile:
    """The rules for one comparison.

    Attributes:
        fits: Whether a call is the expected one.
        differences: In what the arguments of two calls of one tool differ.
        pair: The assignment of expected to actual calls, where no order asks for another.
        contracts: Whether calls are also held to the JSON Schemas of their tools.
    """

    fits: Callable[[ExpectedCall, Made], bool]
    differences: Callable[[ExpectedCall, Made], Sequence[Difference]]
    pair: Callable[[Sequence[ExpectedCall], Sequence[Made]], list[Pair]]
    contracts: bool = True


def _differences(expected: ExpectedCall, made: Made) -> Sequence[Difference]:
    if isinstance(made.arguments, str):
        return ()  # reported as malformed
    return differences(expected.pattern, made.arguments, extra=expected.extra == "allow")


JSON = Profile(fits, _differences, pair_calls)
"""JSON equality, matchers and an optimal assignment."""


def profile_for(name: ProfileName, tools: Sequence[Tool]) -> Profile:
    """The profile of that name for the tools on offer."""
    if name == "json":
        return JSON
    rules = Bfcl(tools)

    def pair(expected: Sequence[ExpectedCall], made: Sequence[Made]) -> list[Pair]:
        return pair_first_fit(expected, made, rules.fits, rules.agreement)

    return Profile(rules.fits, rules.differences, pair, contracts=False)
