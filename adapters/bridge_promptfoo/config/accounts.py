"""What becomes of every neutral field in a config."""

from __future__ import annotations

from typing import Any

from bridge.model.bundle import Bundle
from bridge.plugin.accounts.accounting import NATIVE, Claim, Claims, carried, dropped
from bridge_promptfoo.config.to_assertions import is_touched
from bridge_promptfoo.rows import NAME

_REPLAYED = ("system", "case_id", "epoch", "text", "latency_s", "usage", "cost_usd", "error")
_HIDDEN: Claim = carried("promptfoo would render or resolve it: kept in the metadata")


def claims_of(bundle: Bundle, *, back: bool) -> Claims:
    """What becomes of every neutral field.

    Args:
        bundle: What is written.
        back: Whether it goes back into the config it came from.
    """
    why = "promptfoo has no field for it: kept in the metadata, where our checks read it"
    claims = Claims(
        {
            "cases[].*": carried(why),
            "cases[].id": NATIVE,
            "cases[].input": NATIVE,
            "cases[].vars": NATIVE,
            "cases[].metadata": NATIVE,
            "cases[].checks": NATIVE,
            "cases[].extras.*": carried("kept in the metadata"),
            f"cases[].extras.{NAME}": NATIVE,
            "suite.*": carried("no part of a promptfoo config: kept in its metadata"),
            "suite.judges.*": carried(
                "the graders of judged assertions; kept whole in its metadata"
            ),
            "suite.name": NATIVE,
            "suite.checks": NATIVE,
            f"suite.extras.{NAME}": NATIVE,
            "outputs[].*": carried("kept in the metadata"),
            **{f"outputs[].{field}": NATIVE for field in _REPLAYED},
            "scores[].*": dropped("a config holds no scores: write results"),
        }
    )
    for index, case in enumerate(bundle.cases):
        for key, value in case.vars.items():
            if value is None or (not back and is_touched({key: _shape(value)})):
                claims.put(_HIDDEN, "cases", index, "vars", key)
        for key, value in case.metadata.items():
            if not back and is_touched({key: value}):
                claims.put(_HIDDEN, "cases", index, "metadata", key)
    return claims


def _shape(value: Any) -> Any:
    """A variable as far as it can be touched: texts are escaped."""
    return "" if isinstance(value, str) else value
