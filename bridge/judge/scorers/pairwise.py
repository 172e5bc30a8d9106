"""Two answers to one case held against each other by a judge, in both orders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.judge.exchange import Judge
from bridge.judge.prompts.prompt import LONGEST_RATIONALE, preference_request
from bridge.judge.prompts.shown import ANSWER, answer_of, conversation_of, parts_of
from bridge.judge.prompts.sway import find_sway
from bridge.model.case import Case
from bridge.model.comparison import Choice
from bridge.model.output import Output

QUESTION = (
    "Prefer the one that is right by the reference and the context, then the one that answers more "
    "of the question."
)
"""What is asked unless something else is."""

SIDES: tuple[Choice, Choice] = ("first", "second")

MAX_CHARS = 20_000
"""Most characters of each text shown; the middle of a longer one is left out."""


@dataclass(frozen=True, slots=True)
class Preference:
    """What a judge prefers.

    Attributes:
        choice: The side that it prefers in both orders, else a tie.
        seen: What it said with the first side's answer shown first, and shown second.
        rationales: Why, in these orders; empty where the answers are equal and nobody was asked.
        sway: Sides whose answer speaks to its judge.
    """

    choice: Choice
    seen: tuple[Choice, Choice]
    rationales: tuple[str, ...] = ()
    sway: tuple[Choice, ...] = ()

    @property
    def flipped(self) -> bool:
        """Whether the order decides: one side in one order, the other side in the other."""
        return {"first", "second"} == set(self.seen)

    @property
    def for_the_one_shown_first(self) -> bool:
        """Whether it flipped towards the answer that stood first."""
        return self.seen == ("first", "second")


def prefer(
    judge: Judge, case: Case, first: Output, second: Output, question: str = QUESTION
) -> Preference:
    """Ask for the better of two answers, once in each order.

    A side wins only where both orders say so, which takes the judge's liking for a place out of the
    result (Zheng et al. 2023, arXiv 2306.05685, 3.4). Equal answers are a tie without a question.

    Args:
        judge: Who is asked.
        case: What was asked of the systems; its reference and its passages are shown.
        first: The one answer.
        second: The other.
        question: By what they are compared.

    Raises:
        JudgeError: If there is no usable reply in one of the orders.
    """
    texts = (_answer(case, first), _answer(case, second))
    if texts[0] == texts[1]:
        return Preference("tie", ("tie", "tie"))
    shown = parts_of(case, Output(case_id=case.id), ("input", "contexts", "reference"))[:-1]
    tag = {"case_id": case.id, "epoch": first.epoch, "purpose": "preference"}
    seen: list[Choice] = []
    rationales = []
    for order in ((0, 1), (1, 0)):
        answers = [(f"{ANSWER} {place}", texts[side]) for place, side in enumerate(order, 1)]
        request, _ = preference_request(question, [*shown, *answers], MAX_CHARS)
        said: Mapping[str, Any] = judge.ask(request.numbered(0, tag)).data or {}
        seen.append(_side(said["better"], order))
        rationales.append(str(said["rationale"])[:LONGEST_RATIONALE])
    choice = seen[0] if seen[0] == seen[1] else "tie"
    sway: list[Choice] = [
        side for side, text in zip(SIDES, texts, strict=True) if find_sway(text).found
    ]
    return Preference(choice, (seen[0], seen[1]), tuple(rationales), tuple(sway))


def _answer(case: Case, output: Output) -> str:
    """What is compared: the answer, or the whole of a conversation, whose user is the same."""
    return conversation_of(case, output) if output.turns else answer_of(output)


def _side(better: str, order: tuple[int, int]) -> Choice:
    if better == "tie":
        return "tie"
    return SIDES[order[int(better) - 1]]
