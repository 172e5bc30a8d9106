"""Checks on what an answer took, seconds, dollars and tokens, and on how it ended."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Model, Name, Number
from bridge.scorers.registry import Scorer, binary
from bridge.scorers.sources import DETERMINISTIC


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


class TokensParams(BudgetParams):
    """Parameters of ``tokens``.

    Attributes:
        max: Most tokens; also written as the bare value.
        of: Tokens that the model read, that it wrote, or both.
    """

    of: Literal["input", "output", "total"] = "total"


def tokens(_: Case, output: Output, params: TokensParams) -> list[Measurement]:
    """1.0 if the answer took at most ``max`` tokens, else 0.0."""
    usage = output.usage
    read, written = (usage.input_tokens, usage.output_tokens) if usage else (None, None)
    counted = {"input": (read,), "output": (written,), "total": (read, written)}[params.of]
    known = [count for count in counted if count is not None]
    total = float(sum(known)) if len(known) == len(counted) else None
    return [_within("tokens", total, params.max, f"{params.of} tokens")]


class FinishReasonParams(Model):
    """Parameters of ``finish_reason``.

    Attributes:
        value: Why the model should have stopped, as its provider says it: ``stop``, ``length``,
            ``tool_calls``, ``content_filter``, ...; case does not count.
    """

    value: Name


def finish_reason(_: Case, output: Output, params: FinishReasonParams) -> list[Measurement]:
    """1.0 if the model stopped for the reason wanted, else 0.0; unknown is an error."""
    actual = output.stop_reason
    if not actual:
        raise ValueError("the output records no stop reason")
    passed = actual.lower() == params.value.lower()
    reason = f"stopped for {actual}" + ("" if passed else f", not {params.value}")
    return [binary(passed, reason, details={"finish_reason": actual})]


LATENCY = Scorer(
    "latency",
    "1",
    latency,
    BudgetParams,
    per_turn=False,
    summary="Seconds within a limit.",
    source=(f"{DETERMINISTIC}#latency",),
)
COST = Scorer(
    "cost",
    "1",
    cost,
    BudgetParams,
    per_turn=False,
    summary="Dollars within a limit.",
    source=(f"{DETERMINISTIC}#cost",),
)
TOKENS = Scorer(
    "tokens", "1", tokens, TokensParams, per_turn=False, summary="Tokens within a limit."
)
FINISH_REASON = Scorer(
    "finish_reason",
    "1",
    finish_reason,
    FinishReasonParams,
    per_turn=False,
    summary="Why the model stopped.",
    source=(f"{DETERMINISTIC}#finish-reason",),
)
