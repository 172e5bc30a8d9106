"""How many edits lie between an answer and a reference."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bridge.model.case import Case
from bridge.model.output import Output
from bridge.model.score import Measurement
from bridge.model.values import Whole
from bridge.scorers.reference import (
    NO_REFERENCE,
    ReferenceParams,
    answer_text,
    best_of,
    bounded,
    wanted_texts,
)
from bridge.scorers.registry import Scorer, binary, skip
from bridge.scorers.sources import DETERMINISTIC, TRADITIONAL

NEEDS = ("rapidfuzz",)


class LevenshteinParams(ReferenceParams):
    """Parameters of ``levenshtein``.

    Attributes:
        value: What to compare with, a text or several of which the nearest counts; the case's
            accepted answers if left out.
        max: Most edits.
    """

    max: Whole = Field(default=5, ge=0)


def levenshtein(case: Case, output: Output, params: LevenshteinParams) -> list[Measurement]:
    """1.0 if at most ``max`` characters must be inserted, deleted or replaced, else 0.0.

    promptfoo's definition, a distance with a limit; RAGAS's, a similarity, is ``similarity``.
    promptfoo counts UTF-16 units, of which an emoji has two; here it is one character.
    """
    from rapidfuzz.distance import Levenshtein

    wanted = wanted_texts(case, params)
    if not wanted:
        return [skip(NO_REFERENCE)]
    text = bounded(answer_text(output))
    distance = min(Levenshtein.distance(text, bounded(each)) for each in wanted)
    relation = "at most" if distance <= params.max else "more than"
    details = {"distance": distance, "max": params.max}
    return [
        binary(
            distance <= params.max, f"{distance} edits, {relation} {params.max}", details=details
        )
    ]


class SimilarityParams(ReferenceParams):
    """Parameters of ``similarity``.

    Attributes:
        value: What to compare with, a text or several of which the best counts; the case's
            accepted answers if left out.
        measure: How two texts are compared.
    """

    measure: Literal["levenshtein", "hamming", "jaro", "jaro_winkler"] = "levenshtein"


def similarity(case: Case, output: Output, params: SimilarityParams) -> list[Measurement]:
    """1 minus the normalised distance of answer and reference, RAGAS's definition.

    The distance of two texts is divided by the largest that texts of their lengths can have. Not
    the similarity of meaning that promptfoo's ``similar`` takes from embeddings.
    """
    from rapidfuzz import distance

    measures = {
        "levenshtein": distance.Levenshtein,
        "hamming": distance.Hamming,
        "jaro": distance.Jaro,
        "jaro_winkler": distance.JaroWinkler,
    }
    measure = measures[params.measure].normalized_distance
    return best_of(params.measure, case, output, params, lambda a, b: 1 - measure(b, a))


LEVENSHTEIN = Scorer(
    "levenshtein",
    "1",
    levenshtein,
    LevenshteinParams,
    summary="Few edits lie between the answer and a reference.",
    source=(f"{DETERMINISTIC}#levenshtein-distance",),
    needs=NEEDS,
)
SIMILARITY = Scorer(
    "similarity",
    "1",
    similarity,
    SimilarityParams,
    threshold=0.5,
    summary="How alike the characters of answer and reference are.",
    source=(f"{TRADITIONAL}#non-llm-string-similarity", "https://rapidfuzz.github.io/RapidFuzz/"),
    needs=NEEDS,
)
