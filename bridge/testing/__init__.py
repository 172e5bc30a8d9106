"""For tests, with pytest: contracts for adapters, and golden sets in ordinary Python tests."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    "bridge.testing.accounted", "bridge.testing.format", "bridge.testing.framework"
)

from bridge.testing.accounted import assert_accounted  # noqa: E402  # after the line above
from bridge.testing.cases import write_contract_suite  # noqa: E402
from bridge.testing.format import FormatContract  # noqa: E402
from bridge.testing.framework import ArtefactContract, FrameworkContract  # noqa: E402
from bridge.testing.golden import CheckError, assert_case, golden_set  # noqa: E402
from bridge.testing.scored import Scored, score, shuffled_suite  # noqa: E402

__all__ = [
    "ArtefactContract",
    "CheckError",
    "FormatContract",
    "FrameworkContract",
    "Scored",
    "assert_accounted",
    "assert_case",
    "golden_set",
    "score",
    "shuffled_suite",
    "write_contract_suite",
]
