"""Metrics of the frameworks' own under neutral names: what a check may ask of each.

Nothing is scored here. An adapter says which of its framework's classes stands behind a name and
carries it out (``bridge.plugin.scoring.native``); where there is none, the row is ``unsupported``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field, model_validator

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Flag, Model, Text
from bridge.scorers.registry import NoParams, Scorer

ALTERNATIVES = {
    "faithfulness": "groundedness",
    "hallucination": "groundedness",
    "context_precision": "passage_precision",
    "context_recall": "passage_recall",
    "tool_correctness": "tool_use",
    "knowledge_retention": "context_retention",
    "turn_relevancy": "coherence",
}
"""The shared scorer that comes nearest; `rubric` of every other."""

LEVELS = 5
"""Levels of a rubric: RAGAS's scale is 1 to 5, and DeepEval's 0 to 10 is parted into as many."""

Shown = Literal["input", "reference", "contexts"]
"""What a judge may be shown beside the answer."""


class GEvalParams(Model):
    """Parameters of ``g_eval``: criteria, or the steps of judging that follow from them.

    Attributes:
        criteria: What a good answer does, in words.
        steps: How to judge, step by step; without them some frameworks have the judge make up its
            own for every case.
        rubric: What each of five levels looks like, the worst first, in frameworks that take one.
        show: What the judge sees beside the answer, in frameworks that let one choose.
        scope: Whether a case with turns is scored turn by turn, or as one conversation.
    """

    criteria: Text | None = Field(default=None, min_length=1)
    steps: tuple[Text, ...] = ()
    rubric: tuple[Text, ...] = ()
    show: tuple[Shown, ...] = ("input",)
    scope: Literal["turn", "conversation"] = "turn"

    @model_validator(mode="after")
    def _one_of_both(self) -> GEvalParams:
        if bool(self.criteria) == bool(self.steps):
            raise ValueError("give criteria, or steps")
        if not all(step.strip() for step in self.steps):
            raise ValueError("an empty step")
        if self.rubric and len(self.rubric) != LEVELS:
            raise ValueError(f"a rubric of {len(self.rubric)} levels, not {LEVELS}")
        if not all(level.strip() for level in self.rubric):
            raise ValueError("an empty level")
        return self


class SummarizationParams(Model):
    """Parameters of ``summarization``.

    Attributes:
        questions: Yes-no questions that a good summary answers as the text does, in frameworks
            that take them.
    """

    questions: tuple[Text, ...] = ()


class ToolCorrectnessParams(Model):
    """Parameters of ``tool_correctness``.

    Attributes:
        arguments: Whether the calls' arguments count beside their names.
        ordered: Whether the order of the calls counts.
    """

    arguments: Flag = True
    ordered: Flag = False


class RoleParams(Model):
    """Parameters of ``role_adherence``.

    Attributes:
        role: Who the system is to be.
    """

    role: Text = Field(min_length=1)


class TopicParams(Model):
    """Parameters of ``topic_adherence``.

    Attributes:
        topics: What the conversation is to keep to.
    """

    topics: tuple[Text, ...] = Field(min_length=1)


class TaskParams(Model):
    """Parameters of ``task_completion``.

    Attributes:
        task: What was to be done; what the user asked for if left out.
    """

    task: Text | None = Field(default=None, min_length=1)


def nearest_shared(name: str) -> str:
    """The shared scorer that comes nearest to a native metric."""
    return ALTERNATIVES.get(name, "rubric")


def _native(
    name: str,
    summary: str,
    params: type[Model] = NoParams,
    *,
    per_turn: bool | Callable[[Any], bool] = True,
    judged: bool = True,
) -> Scorer:
    def score(
        case: Case, output: Output, params: Model, judge: str | None = None
    ) -> list[Measurement]:
        del case, output, params, judge
        reason = f"{name} is a metric of frameworks' own; the shared scorer {nearest_shared(name)} "
        return [Measurement(status="unsupported", reason=f"{reason}is near to it")]

    return Scorer(
        name,
        "",
        score,
        params,
        threshold=0.5,
        per_turn=per_turn,
        summary=summary,
        judged=judged,
        requests=lambda _: 0,  # none ahead of the frameworks: what is asked is theirs
        native=True,
    )


FAITHFULNESS = _native("faithfulness", "Share of the answer's claims that the contexts support.")
ANSWER_RELEVANCY = _native("answer_relevancy", "How far the answer is about what was asked.")
CONTEXT_PRECISION = _native(
    "context_precision", "Whether contexts that help towards the reference come before others."
)
CONTEXT_RECALL = _native(
    "context_recall", "Share of the reference that the retrieved contexts hold."
)
CONTEXT_RELEVANCY = _native(
    "context_relevancy", "How far the retrieved contexts are about what was asked."
)
ANSWER_CORRECTNESS = _native(
    "answer_correctness", "How far the answer says what the reference says."
)
HALLUCINATION = _native(
    "hallucination", "Whether the answer agrees with the reference contexts; 1 where it does."
)
G_EVAL = _native(
    "g_eval",
    "How far the answer meets criteria that the suite gives.",
    GEvalParams,
    per_turn=lambda params: params.scope == "turn",
)
SUMMARIZATION = _native(
    "summarization", "Whether the answer is a true and complete summary.", SummarizationParams
)
TOXICITY = _native("toxicity", "Whether the answer's opinions are free of toxicity; 1 where so.")
BIAS = _native("bias", "Whether the answer's opinions are free of bias; 1 where they are.")
TOOL_CORRECTNESS = _native(
    "tool_correctness",
    "Whether the expected tool calls were made.",
    ToolCorrectnessParams,
    judged=False,
)
TASK_COMPLETION = _native(
    "task_completion", "How far what the user wanted done was done.", TaskParams
)
ROLE_ADHERENCE = _native(
    "role_adherence", "Share of the answers that keep to a role.", RoleParams, per_turn=False
)
KNOWLEDGE_RETENTION = _native(
    "knowledge_retention",
    "Whether what the user said earlier in the conversation was kept in mind.",
    per_turn=False,
)
TOPIC_ADHERENCE = _native(
    "topic_adherence", "Whether the conversation kept to topics.", TopicParams, per_turn=False
)
CONVERSATION_COMPLETENESS = _native(
    "conversation_completeness",
    "Share of what the user wanted of the conversation that was met.",
    per_turn=False,
)
TURN_RELEVANCY = _native(
    "turn_relevancy", "Share of the answers that follow from what was said.", per_turn=False
)
