"""``groundedness``: every claim of an answer held against what the system was given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from pydantic import Field

from bridge.files.digest import digest
from bridge.judge.errors import JudgeError
from bridge.judge.exchange import Reply, Request
from bridge.judge.meter import Meter
from bridge.judge.prompts.evidence import Grounds, Source, grounds_of
from bridge.judge.prompts.prompt import LONGEST_RATIONALE
from bridge.judge.prompts.sway import Sway, find_sway, flags
from bridge.judge.scorers.claims import (
    AT_A_TIME,
    EXTRACT,
    RECHECK,
    VERIFY,
    Verdict,
    claims_request,
    read_claims,
    read_verdicts,
    recheck_request,
    verdict_requests,
)
from bridge.judge.scorers.levels import level_of
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement, error_measurement
from bridge.model.values import Model, Whole
from bridge.scorers.registry import Scorer, skip

SHOWN = 3
"""Most claims in a reason."""


class GroundednessParams(Model):
    """Parameters of `groundedness`.

    Attributes:
        against: What claims are held against, as far as the case and its output have it: the
            retrieved passages (else the case's reference passages), the conversation so far, what
            tools returned. What the user said last counts as well; `input` lets it be enough, for
            an answer that sums a text up.
        scope: Whether a case with turns is scored turn by turn, each with what came before it, or
            as one conversation, in which the assistant's own words are no evidence.
        max_claims: Most claims that are checked.
        max_chars: Most characters of each text shown; the middle of a longer one is left out.
    """

    against: tuple[Source, ...] = Field(
        default=("contexts", "conversation", "tool_results"), min_length=1
    )
    scope: Literal["turn", "conversation"] = "turn"
    max_claims: Whole = Field(default=16, ge=1, le=64)
    max_chars: Whole = Field(default=20_000, ge=100)

    @property
    def most_requests(self) -> int:
        """Requests at most: one for the claims, and one for each few of them."""
        return 1 - (-self.max_claims // AT_A_TIME)


def groundedness(
    case: Case, output: Output, params: GroundednessParams, judge: str | None
) -> list[Measurement]:
    """The share of an answer's claims that the evidence supports: 1 - the share of hallucinations.

    The judge lists the claims, then says of each whether passages, conversation and tool results
    support it, contradict it, or hold nothing on it; every claim is in the details with its verdict
    and the words that decide. An answer without a claim (a refusal, a question) is skipped, as an
    abstention is in FActScore, and so is a case with nothing to hold an answer against: neither has
    a value to count, and the gate shows how many there are (`max_skipped` bounds them). A judge
    that lists no claim is asked once more whether the answer states any fact: if it says so, or if
    the answer speaks to the judge, the row is an error. The judge sees all texts as for `rubric`,
    and its failures are errors of the same kinds.
    """
    grounds = grounds_of(case, output, whole=params.scope == "conversation")
    evidence = grounds.evidence(params.against)
    if not evidence:
        return [skip(f"no {', '.join(params.against)} to hold the answer against")]
    if not grounds.answer.strip():
        return [skip("an empty answer makes no claim")]
    tag = {"case_id": case.id, "system": output.system, "epoch": output.epoch}
    sway = find_sway(grounds.answer, params.max_chars)
    meter = Meter()
    ask = partial(meter.ask, judge)
    try:
        found, cut = _check(ask, grounds, evidence, params, tag)
        if found:
            measured = _measurement(found, judge, sway, cut, params)
        else:
            measured = _without_claims(ask, grounds, judge, sway, params, tag)
    except JudgeError as error:
        return [error_measurement(str(error))]
    return [measured.model_copy(update=meter.took)]


def _check(
    ask: Callable[[Request], Reply],
    grounds: Grounds,
    evidence: Sequence[tuple[str, str]],
    params: GroundednessParams,
    tag: Mapping[str, Any],
) -> tuple[list[Verdict], tuple[str, ...]]:
    """The verdict on every claim, and the names of texts that were cut."""
    request, cut = claims_request(grounds.spoken, params.max_claims, params.max_chars)
    claims = read_claims(ask(request.numbered(0, tag)).data or {})
    found: list[Verdict] = []
    for some, asked, also_cut in verdict_requests(claims, evidence, params.max_chars):
        found += read_verdicts(some, ask(asked.numbered(0, tag)).data or {})
        cut += also_cut
    return found, tuple(dict.fromkeys(cut))


def _without_claims(
    ask: Callable[[Request], Reply],
    grounds: Grounds,
    judge: str | None,
    sway: Sway,
    params: GroundednessParams,
    tag: Mapping[str, Any],
) -> Measurement:
    """An answer in which the judge finds no claim: skipped, if that is so on a second look.

    Raises:
        JudgeError: Of kind ``schema``, if the judge contradicts itself, or the answer speaks to it.
    """
    if sway.found:
        raise JudgeError("schema", "the judge lists no claim of an answer that speaks to it")
    reply = ask(recheck_request(grounds.spoken, params.max_chars).numbered(0, tag)).data or {}
    if reply["answer"] == "yes":
        text = "the judge lists no claim, and says that the answer states a fact"
        raise JudgeError("schema", f"{text}: {reply['rationale'][:LONGEST_RATIONALE]}")
    return Measurement(
        status="skipped",
        reason="the judge finds no claim in the answer",
        details={
            "groundedness": {"digest": groundedness_digest(params)},
            "judge": judge,
            "claims": [],
            "rationale": reply["rationale"][:LONGEST_RATIONALE],
        },
    )


def _measurement(
    found: Sequence[Verdict],
    judge: str | None,
    sway: Sway,
    cut: Sequence[str],
    params: GroundednessParams,
) -> Measurement:
    counts = Counter(verdict.finding for verdict in found)
    value = counts["supported"] / len(found)
    details = {
        "groundedness": {"digest": groundedness_digest(params)},
        "judge": judge,
        "counts": dict(counts),
        "claims": [
            {"claim": each.claim, "verdict": each.finding, "rationale": each.rationale}
            for each in found
        ],
        **flags(sway, cut),
    }
    reason = f"{_reason(found, counts)}{sway.said}"
    return Measurement(value=value, label=level_of(value), reason=reason, details=details)


def _reason(found: Sequence[Verdict], counts: Counter[Any]) -> str:
    """How many claims are supported, and the first of those that are not, the worst before."""
    parts = [f"{counts['supported']} of {len(found)} claims supported"]
    for finding, words in (("contradicted", "contradicted"), ("not_found", "not found")):
        claims = [repr(each.claim) for each in found if each.finding == finding]
        if claims:
            more = f" and {len(claims) - SHOWN} more" if len(claims) > SHOWN else ""
            parts.append(f"{words}: {', '.join(claims[:SHOWN])}{more}")
    return "; ".join(parts)


def groundedness_digest(params: GroundednessParams) -> str:
    """Digest of all that the judge is told beside the texts."""
    told = params.model_dump(mode="json", exclude={"scope"})
    return digest({"groundedness": told, "instructions": [EXTRACT, RECHECK, VERIFY]})


GROUNDEDNESS = Scorer(
    "groundedness",
    "2",
    groundedness,
    GroundednessParams,
    threshold=0.5,
    per_turn=lambda params: params.scope == "turn",
    with_history=True,
    summary="The share of the answer's claims that contexts, conversation and tools support.",
    source=("https://arxiv.org/abs/2309.15217", "https://arxiv.org/abs/2305.14251"),
    judged=True,
    requests=lambda params: params.most_requests,
)
