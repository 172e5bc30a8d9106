"""``rubric``: an answer held against weighted criteria by a judge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from bridge.files.digest import digest
from bridge.judge.errors import JudgeError
from bridge.judge.meter import Meter
from bridge.judge.prompts.prompt import INSTRUCTIONS, LONGEST_RATIONALE, criteria_request
from bridge.judge.prompts.shown import Part, answer_of, parts_of
from bridge.judge.prompts.sway import Sway, find_sway, flags
from bridge.judge.scorers.levels import level_of
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement, error_measurement
from bridge.model.values import Keyed, Model, Name, Number, Text, Whole
from bridge.scorers.registry import Scorer

VERSION = "2"


class Criterion(Model):
    """One thing that an answer is held against.

    Attributes:
        ask: What a good answer does, in words for the judge.
        weight: Share in the value; the weights of a rubric sum to 1. Equal shares if no criterion
            has one.
        threshold: Value from which it is met. Below it the whole check is 0, as for any must-have.
        judge: A judge of the suite for this criterion alone; the check's if left out.
    """

    ask: Text = Field(min_length=1)
    weight: Number | None = Field(default=None, ge=0, le=1)
    threshold: Number | None = Field(default=None, ge=0, le=1)
    judge: Name | None = None


def _in_words(value: Any) -> Any:
    return {"ask": value} if isinstance(value, str) else value


Key = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,39}$")]


class RubricParams(Model):
    """Parameters of ``rubric``.

    Attributes:
        criteria: By name (letters, digits and `_`) each `{ask, weight, threshold, judge}`, or the
            words for the judge alone. Criteria with a judge of their own are asked apart.
        version: The rubric's own version; its digest goes into every score as well.
        scale: The judge gives whole numbers from 0 to this.
        show: What the judge sees beside the answer, where the case has it.
        scope: Whether a case with turns is scored turn by turn, or as one conversation.
        calls: `together` asks for all criteria at once, `each` for every one by itself, for
            criteria that pull apart.
        samples: Times the judge is asked; more need a temperature above 0.
        reduce: How the scores of several samples become one.
        max_chars: Most characters of each text shown; the middle of a longer one is left out.
    """

    criteria: Keyed[Key, Annotated[Criterion, BeforeValidator(_in_words)]] = Field(min_length=1)
    version: Text = "1"
    scale: Whole = Field(default=10, ge=1, le=100)
    show: tuple[Part, ...] = ("input", "conversation", "contexts", "reference")
    scope: Literal["turn", "conversation"] = "turn"
    calls: Literal["together", "each"] = "together"
    samples: Whole = Field(default=1, ge=1, le=25)
    reduce: Literal["mean", "median"] = "median"
    max_chars: Whole = Field(default=20_000, ge=100)

    @model_validator(mode="after")
    def _weights_sum_to_one(self) -> RubricParams:
        given = [each.weight for each in self.criteria.values() if each.weight is not None]
        if given and len(given) != len(self.criteria):
            raise ValueError("either every criterion has a weight, or none")
        if given and not math.isclose(math.fsum(given), 1.0, abs_tol=1e-9):
            raise ValueError(f"the weights of the criteria sum to {math.fsum(given):g}, not to 1")
        return self

    def weight_of(self, name: str) -> float:
        """The share of a criterion."""
        given = self.criteria[name].weight
        return 1.0 / len(self.criteria) if given is None else given

    def least_of(self, name: str) -> float:
        """The value from which a criterion is met; 0 where it has no threshold of its own."""
        return self.criteria[name].threshold or 0.0

    @property
    def batches(self) -> list[tuple[str | None, dict[str, str]]]:
        """A judge (``None``: the check's) and criteria in words by name, one batch a request."""
        batches: dict[tuple[str | None, str], dict[str, str]] = {}
        for name, each in self.criteria.items():
            apart = name if self.calls == "each" else ""
            batches.setdefault((each.judge, apart), {})[name] = each.ask
        return [(judge, asked) for (judge, _), asked in batches.items()]

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges of single criteria."""
        return tuple(each.judge for each in self.criteria.values() if each.judge is not None)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a judge found: one mapping of criteria a sample; the names of texts that were cut."""

    samples: Sequence[Mapping[str, Any]]
    cut: tuple[str, ...]

    def value_of(self, name: str, params: RubricParams) -> float:
        """A criterion's value in [0, 1] over all samples."""
        values = [sample[name]["score"] / params.scale for sample in self.samples]
        return float(median(values) if params.reduce == "median" else fmean(values))

    def rationale_of(self, name: str) -> str:
        """Why, in the first sample's words."""
        return str(self.samples[0][name]["rationale"])[:LONGEST_RATIONALE]


def rubric(
    case: Case, output: Output, params: RubricParams, judge: str | None
) -> list[Measurement]:
    """Weighted mean of what a judge gives for each criterion, 0 if one is below its own threshold.

    The judge writes its rationale before the score, in a reply held to a schema. It sees the answer
    as data: between marks that no text can hold, bounded in length, searched for words to the
    judge. A score given on a text that holds such words is flagged in the details (`sway`). Every
    failure of the judge is an error with its kind.
    """
    sway = find_sway(answer_of(output), params.max_chars)
    meter = Meter()
    try:
        found = _ask(meter, judge, case, output, params)
    except JudgeError as error:
        return [error_measurement(str(error))]
    values = {name: found.value_of(name, params) for name in params.criteria}
    weighted = math.fsum(params.weight_of(name) * value for name, value in values.items())
    weighted = min(1.0, max(0.0, weighted))
    missed = [name for name, value in values.items() if value < params.least_of(name)]
    value = 0.0 if missed else weighted
    details = {
        "rubric": {"version": params.version, "digest": rubric_digest(params)},
        "judge": judge,
        "criteria": {name: _shown(name, value, found, params) for name, value in values.items()},
        "weighted": weighted,
        **flags(sway, found.cut),
    }
    reason = _reason(values, missed, sway)
    return [
        Measurement(
            value=value, label=level_of(value), reason=reason, details=details, **meter.took
        )
    ]


def _ask(
    meter: Meter, judge: str | None, case: Case, output: Output, params: RubricParams
) -> _Found:
    parts = parts_of(case, output, params.show)
    tag = {"case_id": case.id, "system": output.system, "epoch": output.epoch}
    samples: list[Mapping[str, Any]] = []
    cut: tuple[str, ...] = ()
    for sample in range(params.samples):
        found: dict[str, Any] = {}
        for own, asked in params.batches:
            request, cut = criteria_request(asked, parts, params.scale, params.max_chars)
            reply = meter.ask(own or judge, request.numbered(sample, tag))
            found.update(reply.data or {})
        samples.append(found)
    return _Found(samples, cut)


def _shown(name: str, value: float, found: _Found, params: RubricParams) -> Mapping[str, Any]:
    own = params.criteria[name].judge
    by = {} if own is None else {"judge": own}
    return {
        **by,
        "value": value,
        "level": level_of(value),
        "weight": params.weight_of(name),
        "threshold": params.criteria[name].threshold,
        "rationale": found.rationale_of(name),
    }


def _reason(scores: Mapping[str, float], missed: Sequence[str], sway: Sway) -> str:
    shown = ", ".join(f"{name} {value:.2f}" for name, value in scores.items())
    below = f"; below its threshold: {', '.join(missed)}" if missed else ""
    return f"{shown}{below}{sway.said}"


def rubric_digest(params: RubricParams) -> str:
    """Digest of all that the judge is told of a rubric."""
    told = params.model_dump(mode="json", exclude={"scope", "samples", "reduce"})
    return digest({"rubric": told, "instructions": INSTRUCTIONS})


RUBRIC = Scorer(
    "rubric",
    VERSION,
    rubric,
    RubricParams,
    threshold=0.5,
    per_turn=lambda params: params.scope == "turn",
    summary="A judge holds the answer against weighted criteria.",
    source=("https://arxiv.org/abs/2303.16634", "https://arxiv.org/abs/2306.05685"),
    judged=True,
    requests=lambda params: params.samples * len(params.batches),
    judges=lambda params: params.judges,
)
