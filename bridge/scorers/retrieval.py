"""What a system retrieved against the passages that hold the answer, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from bridge.model.case import Case
from bridge.model.message import Passage, passage_text
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Model, Number
from bridge.scorers.reference import bounded
from bridge.scorers.registry import Scorer, skip

RECALL = "https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/context_recall/"
PRECISION = "https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/context_precision/"

Passages = Sequence[str | Passage]


class PassageParams(Model):
    """Parameters of ``passage_recall`` and ``passage_precision``.

    Attributes:
        by: Compare texts, or the ``id`` of passages.
        similarity: Least similarity (1 minus the normalised Levenshtein distance) of two texts
            that are the same passage.
    """

    by: Literal["text", "id"] = "text"
    similarity: Number = Field(default=0.5, ge=0, le=1)


def passage_recall(case: Case, output: Output, params: PassageParams) -> list[Measurement]:
    """Share of the reference passages that were retrieved.

    RAGAS's ``NonLLMContextRecall`` (a similarity above the least), or ``IDBasedContextRecall``.
    Where nothing was retrieved it is 0; RAGAS fails.
    """
    wanted, found = case.reference_contexts, output.retrieved_contexts
    if not wanted:
        return [skip("no reference passage")]
    if params.by == "id":
        due, there = _ids(wanted), _ids(found)
        return [_share("reference passages retrieved", len(due & there), len(due))]
    best = _best(wanted, found)
    return [_share("reference passages retrieved", _above(best, params.similarity), len(best))]


def _above(similarities: Sequence[float], least: float) -> int:
    return sum(similarity > least for similarity in similarities)


def passage_precision(case: Case, output: Output, params: PassageParams) -> list[Measurement]:
    """How far the retrieved passages are reference passages.

    By text the average precision, which wants them first: RAGAS's
    ``NonLLMContextPrecisionWithReference`` (whose best value is 0.9999999999, here 1). By id their
    share: ``IDBasedContextPrecision``. Where nothing was retrieved it is 0.
    """
    wanted, passages = case.reference_contexts, output.retrieved_contexts
    if not wanted:
        return [skip("no reference passage")]
    if params.by == "id":
        due, there = _ids(wanted), _ids(passages)
        return [_share("retrieved passages wanted", len(due & there), len(there))]
    hits = [similarity >= params.similarity for similarity in _best(passages, wanted)]
    ranks = [rank for rank, hit in enumerate(hits, 1) if hit]
    precisions = [found / rank for found, rank in enumerate(ranks, 1)]
    value = sum(precisions) / len(precisions) if precisions else 0.0
    reason = f"average precision {value:.4g}, {len(precisions)} of {len(hits)} wanted"
    return [Measurement(value=value, reason=reason)]


def _best(passages: Passages, others: Passages) -> list[float]:
    """The similarity of each passage to the nearest of the others."""
    from rapidfuzz.distance import Levenshtein

    texts, theirs = [passage_text(each) for each in passages], [passage_text(o) for o in others]
    bounded("".join(texts))
    bounded("".join(theirs))
    return [
        max((1 - Levenshtein.normalized_distance(text, other) for other in theirs), default=0.0)
        for text in texts
    ]


def _ids(passages: Passages) -> set[str]:
    ids = {each.id for each in passages if isinstance(each, Passage) and each.id is not None}
    if passages and not ids:
        raise ValueError("the passages have no id")
    return ids


def _share(what: str, part: int, whole: int) -> Measurement:
    return Measurement(value=part / whole if whole else 0.0, reason=f"{part} of {whole} {what}")


PASSAGE_RECALL = Scorer(
    "passage_recall",
    "1",
    passage_recall,
    PassageParams,
    threshold=0.5,
    summary="Reference passages that were retrieved.",
    source=(RECALL,),
    needs=("rapidfuzz",),
)
PASSAGE_PRECISION = Scorer(
    "passage_precision",
    "1",
    passage_precision,
    PassageParams,
    threshold=0.5,
    summary="Retrieved passages that are reference passages.",
    source=(PRECISION,),
    needs=("rapidfuzz",),
)
