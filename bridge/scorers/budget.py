"""Checks on what an answer took: seconds and dollars."""

from __future__ import annotations

from pydantic import Field, model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Model, Number
from bridge.scorers.registry import Scorer, binary


class BudgetParams(Model):
    """Parameters of ``latency`` (seconds) and ``cost`` (US dollars).

    Attributes:
        max: Most that an answer may take; also written as the bare value.
    """

    max: Number = Field(ge=0)

    @model_validator(mode="before")
    @classmethod
    def _value_is_max(cls, data: object) -> object:
        if isinstance(data, dict) and "value" in data and "max" not in data:
            rest = {key: item for key, item in data.items() if key != "value"}
            return {"max": data["value"], **rest}
        return data


def latency(_: Case, output: Output, params: BudgetParams) -> list[Measurement]:
    """1.0 if the answer took at most ``max`` seconds, else 0.0."""
    return [_within("latency", output.latency_s, params.max, "s")]


def cost(_: Case, output: Output, params: BudgetParams) -> list[Measurement]:
    """1.0 if the answer cost at most ``max`` dollars, else 0.0."""
    return [_within("cost", output.cost_usd, params.max, "USD")]


def _within(name: str, actual: float | None, limit: float, unit: str) -> Measurement:
    if actual is None:
        raise ValueError(f"the output records no {name}")
    relation = "within" if actual <= limit else "over"
    reason = f"{name} {actual:g} {unit}, {relation} {limit:g} {unit}"
    return binary(actual <= limit, reason, details={name: actual, "max": limit})


LATENCY = Scorer(
    "latency", "1", latency, BudgetParams, per_turn=False, summary="Seconds within a limit."
)
COST = Scorer("cost", "1", cost, BudgetParams, per_turn=False, summary="Dollars within a limit.")
