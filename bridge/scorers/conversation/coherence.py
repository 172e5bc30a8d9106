"""``coherence``: the turn-by-turn checks as one weighted sum."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated

from pydantic import Field, model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement, error_measurement
from bridge.model.values import Keyed, Model, Name, Number
from bridge.scorers.conversation.consistency import CONSISTENCY
from bridge.scorers.conversation.dialogue import exchanges
from bridge.scorers.conversation.repetition import REPETITION
from bridge.scorers.conversation.retention import CONTEXT_RETENTION, RetentionParams
from bridge.scorers.injection import scan, scanner_version
from bridge.scorers.registry import NoParams, Scorer, binary, skip
from bridge.scorers.text.refusal import REFUSAL, refuses
from bridge.scorers.tool_use import TOOL_USE, ToolUseParams

Component = Callable[[Case, Output], Measurement]


def _answered(case: Case, output: Output) -> Measurement:
    asked = output.turns[-1] if case.turns and output.turns else output
    if asked.prefilter is not None and asked.prefilter.blocked:
        return skip("the prefilter kept the turn from the system")
    text = exchanges(case, output)[-1].answer
    refused = not text.strip() or refuses(text)
    return binary(not refused, "declines or says nothing" if refused else "answers")


def _tool_use(case: Case, output: Output) -> Measurement:
    index = len(case.turns) - 1
    seen = (case, output) if index < 0 else (case.at_turn(index), output.at_turn(index))
    return TOOL_USE.score(*seen, ToolUseParams())[0]


def _no_injection(case: Case, output: Output) -> Measurement:
    """Whether nothing read at this turn reaches ``block``; what users say with its history."""
    *before, now = exchanges(case, output)
    results = [scan(now.user, "user", [past.user for past in before])] if now.user else []
    results += [scan(text, "context") for text in now.contexts]
    results += [scan(str(call.result), "tool") for call in now.calls if call.result is not None]
    found = [match.rule for each in results if each.action == "block" for match in each.matches]
    return binary(not found, f"reads an attack: {found[0]}" if found else "reads no attack")


COMPONENTS: Mapping[str, Component] = {
    "context_retention": lambda case, output: CONTEXT_RETENTION.score(
        case, output, RetentionParams()
    )[0],
    "consistency": lambda case, output: CONSISTENCY.score(case, output, NoParams())[0],
    "tool_use": _tool_use,
    "repetition": lambda case, output: REPETITION.score(case, output, NoParams())[0],
    "answered": _answered,
    "no_injection": _no_injection,
}
"""What a turn is scored on."""

WEIGHTS: Mapping[str, float] = {
    "context_retention": 0.3,
    "consistency": 0.3,
    "tool_use": 0.2,
    "repetition": 0.1,
    "answered": 0.1,
}
"""Of the components, where a check says nothing."""

Weight = Annotated[Number, Field(ge=0, le=1)]


class CoherenceParams(Model):
    """Parameters of ``coherence``.

    Attributes:
        weights: Of ``context_retention``, ``consistency``, ``tool_use``, ``repetition``,
            ``answered`` (1.0 unless the answer declines or is empty; not scored where the prefilter
            kept the turn from the system) and ``no_injection`` (1.0
            unless the turn's user, passages or tool results hold what the scanner would block);
            they sum to 1. By default 0.3, 0.3, 0.2, 0.1, 0.1 and 0.
    """

    weights: Keyed[Name, Weight] | None = None

    @property
    def in_force(self) -> Mapping[str, float]:
        """The weights, given or by default."""
        return WEIGHTS if self.weights is None else self.weights

    @model_validator(mode="after")
    def _weights_are_known_and_whole(self) -> CoherenceParams:
        weights = self.in_force
        unknown = sorted(set(weights) - set(COMPONENTS))
        if unknown:
            raise ValueError(f"no component {', '.join(unknown)}; use {', '.join(COMPONENTS)}")
        total = math.fsum(weights.values())
        if not math.isclose(total, 1.0, abs_tol=1e-9):
            raise ValueError(f"weights sum to {total:g}, not to 1")
        return self


def coherence(case: Case, output: Output, params: CoherenceParams) -> list[Measurement]:
    """The weighted sum of a turn's components, each in [0, 1].

    A component with nothing to score at a turn (no ``context_refs``, no expected calls, nothing
    said before) is left out, and the weights of the others are scaled to sum to 1 again. Skipped
    where nothing is left.
    """
    weighed = {name: weight for name, weight in params.in_force.items() if weight > 0}
    found = {name: COMPONENTS[name](case, output) for name in weighed}
    broken = next((name for name, each in found.items() if each.status == "error"), None)
    if broken is not None:
        return [error_measurement(f"{broken}: {found[broken].error}")]
    values = {name: each.value for name, each in found.items() if each.value is not None}
    weight = math.fsum(weighed[name] for name in values)
    if weight == 0:
        return [skip("no component has anything to score")]
    total = math.fsum(weighed[name] * value for name, value in values.items()) / weight
    lost = [f"{name}: {found[name].reason}" for name, value in values.items() if value < 1]
    details = {
        "components": {name: {"value": each.value, "weight": weighed[name], "reason": each.reason}
                       for name, each in found.items()}
    }  # fmt: skip
    reason = "; ".join(lost) or f"nothing amiss in {', '.join(values)}"
    return [Measurement(value=min(1.0, max(0.0, total)), reason=reason, details=details)]


COHERENCE = Scorer(
    "coherence",
    f"1+{CONTEXT_RETENTION.version}.{CONSISTENCY.version}.{TOOL_USE.version}."
    f"{REPETITION.version}.{REFUSAL.version}.{scanner_version()}",
    coherence,
    CoherenceParams,
    threshold=0.5,
    with_history=True,
    summary="Context, consistency, tool use, repetition and refusal of a turn, weighed.",
)
