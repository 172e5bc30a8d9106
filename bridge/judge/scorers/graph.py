"""``decision_graph``: yes-no questions to a judge; the score follows from the answers alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from bridge.files.digest import digest
from bridge.judge.errors import JudgeError
from bridge.judge.meter import Meter
from bridge.judge.prompts.prompt import LONGEST_RATIONALE, QUESTION, question_request
from bridge.judge.prompts.shown import Part, answer_of, parts_of
from bridge.judge.prompts.sway import find_sway, flags
from bridge.judge.scorers.levels import level_of
from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement, error_measurement
from bridge.model.values import Keyed, Model, Name, Number, Text, Whole
from bridge.scorers.registry import Scorer

MOST_QUESTIONS = 64

Value = Annotated[Number, Field(ge=0, le=1)]
Branch = Value | Text
"""A value, which ends the walk, or the name of the next question."""


class Question(Model):
    """One question.

    Attributes:
        ask: The question, to be answered by yes or no.
        yes: A value, or the next question, where the answer is yes.
        no: The same where it is no.
    """

    ask: Text = Field(min_length=1)
    yes: Branch
    no: Branch

    @property
    def following(self) -> tuple[str, ...]:
        """The questions that may come next."""
        return tuple(each for each in (self.yes, self.no) if isinstance(each, str))


class GraphParams(Model):
    """Parameters of `decision_graph`.

    Attributes:
        questions: By name each `{ask, yes, no}`, where `yes` and `no` are a value from 0 to 1 or
            the name of the next question. The one that no other leads to is asked first; no way
            leads back.
        version: The graph's own version; its digest goes into every score as well.
        show: What the judge sees beside the answer, where the case has it.
        scope: Whether a case with turns is scored turn by turn, or as one conversation.
        max_chars: Most characters of each text shown; the middle of a longer one is left out.
    """

    questions: Keyed[Name, Question] = Field(min_length=1, max_length=MOST_QUESTIONS)
    version: Text = "1"
    show: tuple[Part, ...] = ("input", "conversation", "contexts", "reference")
    scope: Literal["turn", "conversation"] = "turn"
    max_chars: Whole = Field(default=20_000, ge=100)

    @model_validator(mode="after")
    def _ends_everywhere(self) -> GraphParams:
        known = self.questions.keys()
        for name, question in self.questions.items():
            for following in question.following:
                if following not in known:
                    raise ValueError(f"question {name} leads to {following}, which is none")
        _depths(self.questions)
        if len(self.first) != 1:
            raise ValueError(
                f"no question leads to {' and to '.join(self.first)}; one is the first"
            )
        return self

    @property
    def first(self) -> tuple[str, ...]:
        """The questions that no other leads to: the first one."""
        led_to = {each for question in self.questions.values() for each in question.following}
        return tuple(name for name in self.questions if name not in led_to)


def _depths(questions: Mapping[str, Question]) -> dict[str, int]:
    """The most questions asked from each one on.

    Raises:
        ValueError: If a way leads back.
    """
    depths: dict[str, int] = {}
    while len(depths) < len(questions):
        ready = {
            name: 1 + max((depths[each] for each in question.following), default=0)
            for name, question in questions.items()
            if name not in depths and all(each in depths for each in question.following)
        }
        if not ready:
            stuck = next(name for name in questions if name not in depths)
            raise ValueError(f"from question {stuck} a way leads back")
        depths.update(ready)
    return depths


def decision_graph(
    case: Case, output: Output, params: GraphParams, judge: str | None
) -> list[Measurement]:
    """The value at the end of a walk through yes-no questions, each answered by a judge.

    Given the answers the score is certain; every answer is in the details, with its rationale. The
    judge sees the answer as for `rubric`, and its failures are errors of the same kinds.
    """
    sway = find_sway(answer_of(output), params.max_chars)
    meter = Meter()
    try:
        value, answers, cut = _walk(meter, judge, case, output, params)
    except JudgeError as error:
        return [error_measurement(str(error))]
    details = {
        "graph": {"version": params.version, "digest": graph_digest(params)},
        "judge": judge,
        "answers": answers,
        **flags(sway, cut),
    }
    way = ", ".join(f"{each['question']}: {each['answer']}" for each in answers)
    reason = f"{way}{sway.said}"
    return [
        Measurement(
            value=value, label=level_of(value), reason=reason, details=details, **meter.took
        )
    ]


def _walk(
    meter: Meter, judge: str | None, case: Case, output: Output, params: GraphParams
) -> tuple[float, list[Mapping[str, Any]], tuple[str, ...]]:
    """The value at the end, the answers on the way, and names of texts that were cut."""
    parts = parts_of(case, output, params.show)
    tag = {"case_id": case.id, "system": output.system, "epoch": output.epoch}
    answers: list[Mapping[str, Any]] = []
    cut: tuple[str, ...] = ()
    place: float | str = params.first[0]
    while isinstance(place, str):
        question = params.questions[place]
        request, cut = question_request(question.ask, parts, params.max_chars)
        said = meter.ask(judge, request.numbered(0, tag)).data or {}
        rationale = str(said["rationale"])[:LONGEST_RATIONALE]
        answers.append({"question": place, "answer": said["answer"], "rationale": rationale})
        place = question.yes if said["answer"] == "yes" else question.no
    return float(place), answers, cut


def graph_digest(params: GraphParams) -> str:
    """Digest of all that the judge is told of a graph, and of where its answers lead."""
    told = params.model_dump(mode="json", exclude={"scope"})
    return digest({"graph": told, "instructions": QUESTION})


DECISION_GRAPH = Scorer(
    "decision_graph",
    "2",
    decision_graph,
    GraphParams,
    threshold=0.5,
    per_turn=lambda params: params.scope == "turn",
    summary="Yes-no questions to a judge, from which the score follows.",
    source=("https://deepeval.com/docs/metrics-dag",),
    judged=True,
    requests=lambda params: _depths(params.questions)[params.first[0]],
)
