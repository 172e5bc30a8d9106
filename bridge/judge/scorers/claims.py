"""The claims of an answer, and what evidence says of each: two small questions to a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from bridge.judge.exchange import Request
from bridge.judge.prompts.prompt import (
    FENCED,
    LONGEST_RATIONALE,
    RATIONALE,
    fenced_request,
    object_of,
)
from bridge.judge.prompts.shown import ANSWER

Finding = Literal["supported", "contradicted", "not_found"]

LONGEST_CLAIM = 200
"""Most characters of a claim."""
AT_A_TIME = 8
"""Most claims of one request: their verdicts fit into 1024 tokens."""

EXTRACT = f"""\
You split the answer of another system into the claims it makes. You add nothing and judge nothing.
{FENCED}
A claim is one fact in one short sentence that stands by itself: names in place of pronouns. Leave
out greetings, questions, offers, opinions, and what it says it does not know. If there is no claim,
the list is empty."""

RECHECK = f"""\
You say whether the answer of another system states any fact, be it true or false. You judge nothing
else.
{FENCED}
Greetings, questions, offers, opinions, refusals, and what it says it does not know are no facts.
First write a rationale of one sentence that quotes the first fact, if there is one, then yes or
no."""

VERIFY = f"""\
You hold claims against evidence. The evidence alone counts, not what you know. You are strict.
{FENCED}
For each claim first write a rationale of one sentence that quotes the decisive words of the
evidence. Then the verdict: supported if the evidence says so or it follows from it, contradicted if
the evidence says otherwise, not_found if it does neither."""


class Verdict(NamedTuple):
    """What the evidence says of one claim."""

    claim: str
    finding: Finding
    rationale: str


def claims_request(
    parts: Sequence[tuple[str, str]], most: int, max_chars: int
) -> tuple[Request, tuple[str, ...]]:
    """The request for the claims of an answer.

    Args:
        parts: (name, text) of what is shown, the answer last.
        most: Most claims.
        max_chars: Most characters of each text.

    Returns:
        The request, and the names of the texts of which a part was left out.
    """
    each = {"type": "string", "maxLength": LONGEST_CLAIM}
    schema = object_of({"claims": {"type": "array", "items": each, "maxItems": most}})
    asked_for = f"List the claims that the {ANSWER} above makes, at most {most}."
    return fenced_request(EXTRACT, parts, asked_for, schema, max_chars)


def read_claims(data: Mapping[str, Any]) -> list[str]:
    """The claims of a reply, each on one line and once."""
    lines = (" ".join(claim.split())[:LONGEST_CLAIM] for claim in data["claims"])
    return list({line.casefold(): line for line in lines if line}.values())


def recheck_request(parts: Sequence[tuple[str, str]], max_chars: int) -> Request:
    """The question whether an answer without a claim states any fact after all.

    Args:
        parts: (name, text) of what is shown, the answer last.
        max_chars: Most characters of each text.
    """
    schema = object_of(
        {"rationale": RATIONALE, "answer": {"type": "string", "enum": ["yes", "no"]}}
    )
    asked_for = f"Does the {ANSWER} above state any fact?"
    return fenced_request(RECHECK, parts, asked_for, schema, max_chars)[0]


def verdict_requests(
    claims: Sequence[str], evidence: Sequence[tuple[str, str]], max_chars: int
) -> Iterator[tuple[tuple[str, ...], Request, tuple[str, ...]]]:
    """The requests for a verdict on each claim.

    A reply has one key a claim, all of them required: a verdict too few or too many is no reply.

    Yields:
        The claims asked about, the request, and the names of texts of which a part was left out.
    """
    findings = {"type": "string", "enum": list(get_args(Finding))}
    each = object_of({"rationale": RATIONALE, "verdict": findings})
    for start in range(0, len(claims), AT_A_TIME):
        some = tuple(claims[start : start + AT_A_TIME])
        listed = "\n".join(f"{key}: {claim}" for key, claim in zip(_keys(some), some, strict=True))
        parts = [*evidence, ("CLAIMS", listed)]
        schema = object_of(dict.fromkeys(_keys(some), each))
        asked_for = "Give a verdict on each of the CLAIMS above by the other texts."
        request, cut = fenced_request(VERIFY, parts, asked_for, schema, max_chars)
        yield some, request, cut


def read_verdicts(claims: Sequence[str], data: Mapping[str, Any]) -> list[Verdict]:
    """The verdicts of a reply, in the claims' order."""
    said = [data[key] for key in _keys(claims)]
    return [
        Verdict(claim, each["verdict"], each["rationale"][:LONGEST_RATIONALE])
        for claim, each in zip(claims, said, strict=True)
    ]


def _keys(claims: Sequence[str]) -> list[str]:
    return [f"c{number}" for number in range(1, len(claims) + 1)]
